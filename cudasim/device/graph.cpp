#include "cudasim/device/graph.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "cudasim/device/device.h"
#include "cudasim/device/stream.h"

namespace cudasim::device {
namespace {

struct NodeRegistry {
  std::mutex mutex;
  std::unordered_set<const Node*> nodes;
};

NodeRegistry& registry() {
  static auto* nodes = new NodeRegistry; // outlives static destructors
  return *nodes;
}

std::vector<GraphExec::Step> make_steps(const Graph& graph) {
  std::vector<GraphExec::Step> steps;
  for (const Node* node : graph.in_order()) {
    GraphExec::Step step;
    step.work = node->work();
    step.device = &node->device();
    step.node = node;
    if (const auto* child = std::get_if<ChildGraphWork>(&step.work)) {
      step.children = make_steps(*child->graph);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<std::vector<std::size_t>> make_shape(const Graph& graph) {
  std::unordered_map<const Node*, std::size_t> positions;
  std::vector<std::vector<std::size_t>> shape;
  for (const Node* node : graph.in_order()) {
    std::vector<std::size_t> before;
    for (const Node* dependency : node->dependencies()) {
      before.push_back(positions.at(dependency));
    }
    std::sort(before.begin(), before.end());
    positions[node] = shape.size();
    shape.push_back(std::move(before));
  }
  return shape;
}

// Whether one graph can take the place of the other in an instance.
bool same_shape(const Graph& one, const Graph& other) {
  const auto first = one.in_order();
  const auto second = other.in_order();
  return make_shape(one) == make_shape(other) &&
      std::equal(
             first.begin(),
             first.end(),
             second.begin(),
             [](const Node* a, const Node* b) {
               return type_of(a->work()) == type_of(b->work());
             });
}

Status run_steps(const std::vector<GraphExec::Step>& steps) {
  for (const GraphExec::Step& step : steps) {
    if (!step.enabled) {
      continue;
    }
    const Status status = std::holds_alternative<ChildGraphWork>(step.work)
        ? run_steps(step.children)
        : perform(*step.device, step.work);
    if (status != cudaSuccess) {
      return status;
    }
  }
  return cudaSuccess;
}

const char* type_name(const Work& work) {
  constexpr const char* kNames[] = {
      "empty",
      "kernel",
      "memcpy",
      "memset",
      "host",
      "event record",
      "event wait",
      "graph",
      "mem alloc",
      "mem free",
  };
  static_assert(std::size(kNames) == std::variant_size_v<Work>);
  return kNames[work.index()];
}

} // namespace

void** Node::parameter_pointers() {
  auto& work = std::get<KernelWork>(work_);
  const engine::KernelInfo& info = *work.function->on(device_).info;
  parameter_pointers_.clear();
  for (const auto& parameter : info.parameters) {
    parameter_pointers_.push_back(work.parameters.data() + parameter.offset);
  }
  return parameter_pointers_.data();
}

void UserObject::retain(unsigned count) {
  const std::lock_guard lock(mutex_);
  references_ += count;
}

bool UserObject::release(unsigned count) {
  {
    const std::lock_guard lock(mutex_);
    require(count <= references_);
    references_ -= count;
    if (references_ > 0) {
      return false;
    }
  }
  destroy_(object_);
  return true;
}

Graph::~Graph() {
  {
    const std::lock_guard lock(registry().mutex);
    for (const auto& node : nodes_) {
      registry().nodes.erase(node.get());
    }
  }
  for (const auto& [object, count] : objects_) {
    object->release(count);
  }
}

Node& Graph::add(Work work, Device& device, std::vector<Node*> dependencies) {
  for (const Node* dependency : dependencies) {
    require(owns(dependency));
  }
  auto node = std::make_unique<Node>(*this, device, std::move(work));
  node->dependencies_ = std::move(dependencies);
  const std::lock_guard lock(registry().mutex);
  registry().nodes.insert(node.get());
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

void Graph::remove(Node& node) {
  for (const auto& other : nodes_) {
    auto& before = other->dependencies_;
    before.erase(
        std::remove(before.begin(), before.end(), &node), before.end());
  }
  const std::lock_guard lock(registry().mutex);
  registry().nodes.erase(&node);
  nodes_.erase(
      std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& candidate) {
        return candidate.get() == &node;
      }));
}

void Graph::add_dependency(Node& from, Node& to) {
  require(owns(&from) && owns(&to) && &from != &to);
  auto& before = to.dependencies_;
  require(std::find(before.begin(), before.end(), &from) == before.end());
  before.push_back(&from);
}

void Graph::remove_dependency(Node& from, Node& to) {
  auto& before = to.dependencies_;
  const auto found = std::find(before.begin(), before.end(), &from);
  require(found != before.end());
  before.erase(found);
}

bool Graph::owns(const Node* node) const {
  const std::lock_guard lock(registry().mutex);
  return registry().nodes.count(node) != 0 && &node->graph() == this;
}

std::vector<Node*> Graph::roots() const {
  std::vector<Node*> roots;
  for (const auto& node : nodes_) {
    if (node->dependencies_.empty()) {
      roots.push_back(node.get());
    }
  }
  return roots;
}

std::vector<std::pair<Node*, Node*>> Graph::edges() const {
  std::vector<std::pair<Node*, Node*>> edges;
  for (const auto& node : nodes_) {
    for (Node* dependency : node->dependencies_) {
      edges.emplace_back(dependency, node.get());
    }
  }
  return edges;
}

std::vector<Node*> Graph::dependents(const Node& node) const {
  std::vector<Node*> after;
  for (const auto& other : nodes_) {
    const auto& before = other->dependencies_;
    if (std::find(before.begin(), before.end(), &node) != before.end()) {
      after.push_back(other.get());
    }
  }
  return after;
}

std::vector<Node*> Graph::in_order() const {
  std::vector<Node*> order;
  std::unordered_set<const Node*> placed;
  const auto ready = [&](const Node& node) {
    return std::all_of(
        node.dependencies_.begin(),
        node.dependencies_.end(),
        [&](const Node* before) { return placed.count(before) != 0; });
  };
  // Nodes that were captured are in order already: one round does.
  while (order.size() < nodes_.size()) {
    const std::size_t before = order.size();
    for (const auto& node : nodes_) {
      if (placed.count(node.get()) == 0 && ready(*node)) {
        placed.insert(node.get());
        order.push_back(node.get());
      }
    }
    require(order.size() > before);
  }
  return order;
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  std::unordered_map<const Node*, Node*> copies;
  for (const Node* node : in_order()) {
    std::vector<Node*> dependencies;
    for (const Node* dependency : node->dependencies_) {
      dependencies.push_back(copies.at(dependency));
    }
    Work work = node->work_;
    if (auto* child = std::get_if<ChildGraphWork>(&work)) {
      child->graph = child->graph->clone();
    }
    Node& added =
        copy->add(std::move(work), node->device_, std::move(dependencies));
    added.cloned_from_ = node;
    copies[node] = &added;
  }
  for (const auto& [object, count] : objects_) {
    copy->retain(object, count);
  }
  return copy;
}

Node* Graph::find_clone(const Node& original) const {
  for (const auto& node : nodes_) {
    if (node->cloned_from_ == &original) {
      return node.get();
    }
  }
  return nullptr;
}

void Graph::retain(std::shared_ptr<UserObject> object, unsigned count) {
  object->retain(count);
  objects_.emplace_back(std::move(object), count);
}

void Graph::release(const UserObject& object, unsigned count) {
  for (auto& [held, times] : objects_) {
    if (held.get() == &object && times >= count) {
      times -= count;
      held->release(count);
      return;
    }
  }
  throw Failure(cudaErrorInvalidValue);
}

std::string Graph::dot() const {
  std::ostringstream out;
  std::unordered_map<const Node*, std::size_t> numbers;
  out << "digraph cudasim {\n";
  for (const auto& node : nodes_) {
    const std::size_t number = numbers.size();
    numbers[node.get()] = number;
    out << "  node_" << number << " [label=\"" << number << ' '
        << type_name(node->work_);
    if (const auto* kernel = std::get_if<KernelWork>(&node->work_)) {
      out << "\\n"
          << kernel->function->name() << "\\n<<<(" << kernel->grid.x << ", "
          << kernel->grid.y << ", " << kernel->grid.z << "), ("
          << kernel->block.x << ", " << kernel->block.y << ", "
          << kernel->block.z << "), " << kernel->shared_bytes << ">>>";
    }
    out << "\"];\n";
  }
  for (const auto& [from, to] : edges()) {
    out << "  node_" << numbers.at(from) << " -> node_" << numbers.at(to)
        << ";\n";
  }
  out << "}\n";
  return out.str();
}

Node& resolve_node(cudaGraphNode_t handle) {
  auto* node = reinterpret_cast<Node*>(handle);
  const std::lock_guard lock(registry().mutex);
  require(registry().nodes.count(node) != 0);
  return *node;
}

GraphExec::GraphExec(const Graph& graph, unsigned long long flags)
    : flags_(flags),
      steps_(std::make_shared<std::vector<Step>>(make_steps(graph))),
      shape_(make_shape(graph)) {}

void GraphExec::launch(Stream& stream) {
  auto run = std::make_shared<Point>();
  std::shared_ptr<Point> before;
  std::shared_ptr<const std::vector<Step>> steps;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(last_run_, run);
    steps = steps_;
  }
  // The second task runs also after a fault: the next launch waits for it.
  stream.enqueue([before = std::move(before), steps = std::move(steps)] {
    if (before != nullptr) {
      before->wait();
    }
    return run_steps(*steps);
  });
  stream.enqueue(
      [run = std::move(run)] {
        run->reach();
        return cudaSuccess;
      },
      true);
}

std::vector<GraphExec::Step>& GraphExec::own_steps() {
  // A launch that waits in a stream keeps what it was launched with.
  if (steps_.use_count() > 1) {
    steps_ = std::make_shared<std::vector<Step>>(*steps_);
  }
  return *steps_;
}

const GraphExec::Step& GraphExec::find(const Node& node) const {
  const auto found =
      std::find_if(steps_->begin(), steps_->end(), [&](const Step& candidate) {
        return candidate.node == &node;
      });
  require(found != steps_->end());
  return *found;
}

void GraphExec::set_work(const Node& node, Work work) {
  const std::lock_guard lock(mutex_);
  const Work& before = find(node).work;
  require(before.index() == work.index());
  if (const auto* child = std::get_if<ChildGraphWork>(&work)) {
    require(same_shape(*std::get<ChildGraphWork>(before).graph, *child->graph));
  }
  for (Step& step : own_steps()) {
    if (step.node == &node) {
      if (const auto* child = std::get_if<ChildGraphWork>(&work)) {
        step.children = make_steps(*child->graph);
      }
      step.work = std::move(work);
      return;
    }
  }
}

const Work& GraphExec::work(const Node& node) const {
  return find(node).work;
}

bool GraphExec::enabled(const Node& node) const {
  return find(node).enabled;
}

void GraphExec::set_enabled(const Node& node, bool enabled) {
  const std::lock_guard lock(mutex_);
  const cudaGraphNodeType type = type_of(find(node).work);
  require(
      type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
      type == cudaGraphNodeTypeMemset);
  for (Step& step : own_steps()) {
    if (step.node == &node) {
      step.enabled = enabled;
    }
  }
}

cudaGraphExecUpdateResult GraphExec::update(
    const Graph& graph,
    const Node** differing) {
  *differing = nullptr;
  auto steps = make_steps(graph);
  const std::lock_guard lock(mutex_);
  if (steps.size() != steps_->size() || make_shape(graph) != shape_) {
    return cudaGraphExecUpdateErrorTopologyChanged;
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Work& before = (*steps_)[i].work;
    const Work& after = steps[i].work;
    *differing = steps[i].node;
    if (before.index() != after.index()) {
      return cudaGraphExecUpdateErrorNodeTypeChanged;
    }
    if (before.index() == Work(AllocationWork{}).index()) {
      return cudaGraphExecUpdateErrorNotSupported;
    }
    // Handles of nodes stay those of the graph it was made of.
    steps[i].node = (*steps_)[i].node;
    steps[i].enabled = (*steps_)[i].enabled;
  }
  *differing = nullptr;
  steps_ = std::make_shared<std::vector<Step>>(std::move(steps));
  return cudaGraphExecUpdateSuccess;
}

} // namespace cudasim::device
