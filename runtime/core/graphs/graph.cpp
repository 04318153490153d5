#include "runtime/core/graphs/graph.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "runtime/core/machine/machine.h"

namespace accelerator::runtime {
namespace {

struct NodeRegistry {
  std::mutex mutex;
  std::unordered_set<const Node*> nodes;
};

NodeRegistry& registry() {
  static auto* nodes = new NodeRegistry; // outlives static destructors
  return *nodes;
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
      "conditional",
  };
  static_assert(std::size(kNames) == std::variant_size_v<Work>);
  return kNames[work.index()];
}

std::uint64_t next_node_id() {
  static std::atomic<std::uint64_t> ids{1};
  return ids++;
}

} // namespace

Node::Node(Graph& graph, Device& device, Work work)
    : graph_(graph),
      device_(device),
      work_(std::move(work)),
      id_(next_node_id()) {}

std::uint32_t Graph::next_id() {
  static std::atomic<std::uint32_t> ids{1};
  return ids++;
}

Graph::Graph() : id_(next_id()) {}

void** Node::parameter_pointers() {
  auto& work = std::get<KernelWork>(work_);
  const KernelInfo& info = work.function->on(device_).info;
  parameter_pointers_.clear();
  for (const auto& parameter : info.parameters) {
    parameter_pointers_.push_back(work.parameters.data() + parameter.offset);
  }
  return parameter_pointers_.data();
}

Graph::~Graph() {
  for (const auto& node : nodes_) {
    end_handles(node->work_);
  }
  {
    const std::lock_guard lock(registry().mutex);
    for (const auto& node : nodes_) {
      registry().nodes.erase(node.get());
    }
  }
  for (const auto& [object, count] : objects_) {
    if (count > 0) {
      object->release(count);
    }
  }
}

bool is_ordinary(const cudaGraphEdgeData& data) {
  const cudaGraphEdgeData ordinary{};
  return std::memcmp(&data, &ordinary, sizeof(ordinary)) == 0;
}

void require_edge(
    const cudaGraphEdgeData& data,
    const Work& from,
    const Work& to) {
  if (is_ordinary(data)) {
    return;
  }
  // A later kernel may start when all blocks of the one before have said so, or
  // have begun.
  cudaGraphEdgeData rest = data;
  rest.from_port = 0;
  rest.type = 0;
  require(
      is_ordinary(rest) && data.type == cudaGraphDependencyTypeProgrammatic &&
      (data.from_port == cudaGraphKernelNodePortProgrammatic ||
       data.from_port == cudaGraphKernelNodePortLaunchCompletion) &&
      std::holds_alternative<KernelWork>(from) &&
      std::holds_alternative<KernelWork>(to));
}

Node& Graph::add(Work work, Device& device, std::vector<Node*> dependencies) {
  for (const Node* dependency : dependencies) {
    require(owns(dependency));
  }
  if (const auto* conditional = std::get_if<ConditionalWork>(&work)) {
    // Its condition is this graph's, or that of one which this is below.
    const Graph* owner = this;
    while (owner != nullptr && owner->id_ != conditional->condition->graph_id) {
      owner = owner->above_;
    }
    require(owner != nullptr);
    for (const auto& below : conditional->bodies->graphs) {
      below->above_ = this;
    }
  }
  if (const auto* child = std::get_if<ChildGraphWork>(&work)) {
    require(!child->graph->holds(*this)); // a moved one could
  }
  auto node = std::make_unique<Node>(*this, device, std::move(work));
  node->dependencies_ = std::move(dependencies);
  node->local_id_ = added_++;
  const std::lock_guard lock(registry().mutex);
  registry().nodes.insert(node.get());
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

bool Graph::holds(const Graph& other) const {
  if (this == &other) {
    return true;
  }
  for (const auto& node : nodes_) {
    for (const auto& below : graphs_below(node->work_)) {
      if (below->holds(other)) {
        return true;
      }
    }
  }
  return false;
}

bool Graph::has_memory_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    return std::holds_alternative<AllocationWork>(node->work_) ||
        std::holds_alternative<FreeWork>(node->work_);
  });
}

void Graph::require_no_memory_nodes(const char* attempt) const {
  if (has_memory_nodes()) {
    throw Failure(
        cudaErrorNotSupported,
        std::string("a graph that allocates or frees memory ") + attempt);
  }
}

void Graph::require_no_conditional_nodes() const {
  for (const auto& node : nodes_) {
    if (std::holds_alternative<ConditionalWork>(node->work_)) {
      throw Failure(
          cudaErrorNotSupported,
          "a graph with conditional nodes can neither be cloned nor be a child "
          "graph");
    }
    if (const auto* child = std::get_if<ChildGraphWork>(&node->work_)) {
      child->graph->require_no_conditional_nodes();
    }
  }
}

void Graph::claim_memory(const std::shared_ptr<const void>& instance) const {
  if (has_memory_nodes()) {
    if (const auto other = memory_instance_.lock();
        other != nullptr && other != instance) {
      throw Failure(
          cudaErrorNotSupported,
          "a graph that allocates or frees memory can have one instance at a "
          "time: destroy the other first");
    }
    memory_instance_ = instance;
  }
  for (const auto& node : nodes_) {
    for (const auto& below : graphs_below(node->work_)) {
      below->claim_memory(instance);
    }
  }
}

void Graph::remove(Node& node) {
  require_no_memory_nodes("keeps its nodes");
  end_handles(node.work_);
  for (const auto& other : nodes_) {
    auto& before = other->dependencies_;
    before.erase(
        std::remove(before.begin(), before.end(), &node), before.end());
    other->edges_.erase(&node);
  }
  {
    const std::lock_guard lock(registry().mutex);
    registry().nodes.erase(&node);
  }
  // Without the lock, which a child graph takes when it goes with the node.
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
  require_no_memory_nodes("keeps its dependencies");
  before.erase(found);
  to.edges_.erase(&from);
}

void Graph::describe_dependency(
    const Node& from,
    Node& to,
    const cudaGraphEdgeData& data) {
  require_edge(data, from.work_, to.work_);
  if (is_ordinary(data)) {
    to.edges_.erase(&from);
  } else {
    to.edges_[&from] = data;
  }
}

cudaGraphEdgeData Node::edge_from(const Node& dependency) const {
  const auto found = edges_.find(&dependency);
  return found != edges_.end() ? found->second : cudaGraphEdgeData{};
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
  require_no_conditional_nodes();
  require_no_memory_nodes(
      "can neither be cloned nor be a child graph that is not moved");
  auto copy = std::make_shared<Graph>();
  std::unordered_map<const Node*, Node*> copies;
  // In the order in which they were added, which the copy has then, too.
  for (const auto& node : nodes_) {
    Work work = node->work_;
    if (auto* child = std::get_if<ChildGraphWork>(&work)) {
      child->graph = child->graph->clone();
    }
    Node& added = copy->add(std::move(work), node->device_, {});
    added.cloned_from_ = node->id_;
    copies[node.get()] = &added;
  }
  for (const auto& node : nodes_) {
    for (const Node* dependency : node->dependencies_) {
      copies.at(node.get())->dependencies_.push_back(copies.at(dependency));
    }
    for (const auto& [dependency, data] : node->edges_) {
      copies.at(node.get())->edges_[copies.at(dependency)] = data;
    }
  }
  for (const auto& [object, count] : objects_) {
    if (count > 0) {
      copy->retain(object, count);
    }
  }
  copy->kept_ = kept_;
  return copy;
}

Node* Graph::find_clone(const Node& original) const {
  for (const auto& node : nodes_) {
    if (node->cloned_from_ == original.id_) {
      return node.get();
    }
  }
  return nullptr;
}

Node* Graph::find(std::uint64_t id) const {
  for (const auto& node : nodes_) {
    if (node->id_ == id) {
      return node.get();
    }
    for (const auto& below : graphs_below(node->work_)) {
      if (Node* found = below->find(id)) {
        return found;
      }
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

std::vector<HeldObject> Graph::hold_objects() const {
  std::vector<HeldObject> held;
  for (const auto& [object, count] : objects_) {
    if (count > 0) {
      held.emplace_back(object);
    }
  }
  for (const auto& node : nodes_) {
    for (const auto& below : graphs_below(node->work_)) {
      for (auto& object : below->hold_objects()) {
        held.push_back(std::move(object));
      }
    }
  }
  return held;
}

void Graph::keep(std::shared_ptr<const void> needed) {
  kept_.push_back(std::move(needed));
}

void Graph::keep(std::shared_ptr<Condition> condition) {
  conditions_.push_back(std::move(condition));
}

void Graph::require_conditions_used() const {
  for (const auto& condition : conditions_) {
    if (condition->bodies.expired()) {
      throw Failure(
          cudaErrorInvalidValue,
          "a conditional handle of the graph has no conditional node");
    }
  }
}

std::string Graph::dot() const {
  std::ostringstream out;
  std::unordered_map<const Node*, std::size_t> numbers;
  out << "digraph cuda {\n";
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

std::vector<std::shared_ptr<Graph>> graphs_below(const Work& work) {
  if (const auto* child = std::get_if<ChildGraphWork>(&work)) {
    return {child->graph};
  }
  if (const auto* conditional = std::get_if<ConditionalWork>(&work)) {
    return conditional->bodies->graphs;
  }
  return {};
}

void end_handles(const Work& work) {
  for (const auto& graph : graphs_below(work)) {
    if (machine_exists() && machine().graphs().contains(graph.get())) {
      machine().graphs().remove(graph.get());
    }
  }
}

Node& resolve_node(cudaGraphNode_t handle) {
  auto* node = reinterpret_cast<Node*>(handle);
  const std::lock_guard lock(registry().mutex);
  require(registry().nodes.count(node) != 0);
  return *node;
}

} // namespace accelerator::runtime
