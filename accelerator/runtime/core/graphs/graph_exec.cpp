#include "accelerator/runtime/core/graphs/graph_exec.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "accelerator/runtime/core/machine/device.h"
#include "accelerator/runtime/core/machine/machine.h"
#include "accelerator/runtime/core/streams/stream.h"

namespace accelerator::runtime {
namespace {

std::vector<GraphExec::Step> make_steps(const Graph& graph) {
  std::vector<GraphExec::Step> steps;
  for (const Node* node : graph.in_order()) {
    GraphExec::Step step;
    step.work = node->work();
    step.device = &node->device();
    step.node = node;
    step.node_id = node->id();
    step.graph_id = graph.id();
    if (const auto* child = std::get_if<ChildGraphWork>(&step.work)) {
      step.children = make_steps(*child->graph);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

// The steps of a graph and what they need, which live as long as one another.
std::shared_ptr<std::vector<GraphExec::Step>> make_plan(const Graph& graph) {
  struct Plan {
    std::vector<HeldObject> objects;
    std::vector<GraphExec::Step> steps;
  };
  const auto plan =
      std::make_shared<Plan>(Plan{graph.hold_objects(), make_steps(graph)});
  return {plan, &plan->steps};
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

// A node on another device than the stream's runs there, in its turn.
void put_elsewhere(
    Stream& stream,
    const GraphExec::Step& step,
    const tracing::Origin& origin) {
  const auto other = step.device->create_stream(cudaStreamNonBlocking, 0);
  const auto mark = [](Stream& where) {
    auto event = std::make_shared<Event>(
        where.device(), where.device().slot(), cudaEventDisableTiming);
    event->record(where);
    return event;
  };
  mark(stream)->make_wait(*other);
  put(*other, step.work, origin);
  mark(*other)->make_wait(stream);
  machine().streams().remove(other.get());
  step.device->remove_stream(*other);
}

void put_steps(
    Stream& stream,
    const std::vector<GraphExec::Step>& steps,
    tracing::Origin origin) {
  for (const GraphExec::Step& step : steps) {
    if (!step.enabled) {
      continue;
    }
    origin.graph = step.graph_id;
    origin.node = step.node_id;
    if (std::holds_alternative<ChildGraphWork>(step.work)) {
      put_steps(stream, step.children, origin);
    } else if (step.device == &stream.device()) {
      put(stream, step.work, origin);
    } else {
      put_elsewhere(stream, step, origin);
    }
  }
}

} // namespace

GraphExec::GraphExec(const Graph& graph, unsigned long long flags)
    : flags_(flags), steps_(make_plan(graph)), shape_(make_shape(graph)) {}

void GraphExec::launch(Stream& stream) {
  const std::lock_guard lock(mutex_);
  if (last_run_ != nullptr) {
    last_run_->make_wait(stream);
  }
  put_steps(stream, *steps_, tracing::origin_of_work(stream.id()));
  // What the graph owns lives until the run has ended.
  stream.enqueue([steps = steps_] { return cudaSuccess; }, true);
  // An event of this stream's device, which the next launch may not be on.
  last_run_ = std::make_shared<Event>(
      stream.device(), stream.device().slot(), cudaEventDisableTiming);
  last_run_->record(stream);
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
  for (Step& step : *steps_) {
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
  for (Step& step : *steps_) {
    if (step.node == &node) {
      step.enabled = enabled;
    }
  }
}

cudaGraphExecUpdateResult GraphExec::update(
    const Graph& graph,
    const Node** differing) {
  *differing = nullptr;
  auto plan = make_plan(graph);
  auto& steps = *plan;
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
    steps[i].node_id = (*steps_)[i].node_id;
    steps[i].graph_id = (*steps_)[i].graph_id;
    steps[i].enabled = (*steps_)[i].enabled;
  }
  *differing = nullptr;
  steps_ = std::move(plan);
  return cudaGraphExecUpdateSuccess;
}

} // namespace accelerator::runtime
