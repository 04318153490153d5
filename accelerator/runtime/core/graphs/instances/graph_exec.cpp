#include "accelerator/runtime/core/graphs/instances/graph_exec.h"

#include <algorithm>
#include <utility>

#include "accelerator/runtime/core/machine/device.h"
#include "accelerator/runtime/core/machine/machine.h"
#include "accelerator/runtime/core/streams/stream.h"

namespace accelerator::runtime {
namespace {

// The steps of a graph and what they need, which live as long as one another.
std::shared_ptr<std::vector<Step>> make_plan(const Graph& graph) {
  struct Plan {
    std::vector<HeldObject> objects;
    std::vector<Step> steps;
  };
  const auto plan =
      std::make_shared<Plan>(Plan{graph.hold_objects(), make_steps(graph)});
  return {plan, &plan->steps};
}

// Work of one of these kinds can be changed by itself in one dimension alone.
template <typename Parts>
bool is_plane(const Work& work) {
  const auto* parts = std::get_if<Parts>(&work);
  return parts != nullptr && !parts->is_linear();
}

bool can_be_set(const Work& work) {
  return !is_plane<CopyWork>(work) && !is_plane<FillWork>(work);
}

// A node on another device than the stream's runs there, in its turn.
void put_elsewhere(
    Stream& stream,
    const Step& step,
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
    const std::vector<Step>& steps,
    tracing::Origin origin) {
  for (const Step& step : steps) {
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

// Nothing may run in the place of a kernel without code, and nothing behind it.
void require_code(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const auto* kernel = std::get_if<KernelWork>(&step.work);
    if (step.enabled && kernel != nullptr) {
      kernel->function->to_launch(*step.device);
    }
    require_code(step.children);
  }
}

} // namespace

GraphExec::GraphExec(const Graph& graph, unsigned long long flags)
    : flags_(flags), steps_(make_plan(graph)) {}

void GraphExec::launch(Stream& stream) {
  const std::lock_guard lock(mutex_);
  require_code(*steps_);
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

Step& GraphExec::find(const Node& node) const {
  const auto found =
      std::find_if(steps_->begin(), steps_->end(), [&](const Step& candidate) {
        return candidate.node_id == node.id();
      });
  require(found != steps_->end());
  return *found;
}

void GraphExec::set_work(const Node& node, Work work) {
  const std::lock_guard lock(mutex_);
  Step& before = find(node);
  require(can_be_set(before.work) && can_be_set(work));
  Step step = before;
  step.work = std::move(work);
  locate_memory(step);
  require(compare(step, before) == cudaGraphExecUpdateSuccess);
  if (const auto* child = std::get_if<ChildGraphWork>(&step.work)) {
    step.children = make_steps(*child->graph);
    require(
        take_over(step.children, before.children).result ==
        cudaGraphExecUpdateSuccess);
  }
  before = std::move(step);
}

const Work& GraphExec::work(const Node& node) const {
  return find(node).work;
}

bool GraphExec::enabled(const Node& node) const {
  return find(node).enabled;
}

void GraphExec::set_enabled(const Node& node, bool enabled) {
  const std::lock_guard lock(mutex_);
  Step& step = find(node);
  const cudaGraphNodeType type = type_of(step.work);
  require(
      type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
      type == cudaGraphNodeTypeMemset);
  step.enabled = enabled;
}

UpdateProblem GraphExec::update(const Graph& graph) {
  auto plan = make_plan(graph);
  const std::lock_guard lock(mutex_);
  const UpdateProblem problem = take_over(*plan, *steps_);
  if (problem.result == cudaGraphExecUpdateSuccess) {
    steps_ = std::move(plan);
  }
  return problem;
}

} // namespace accelerator::runtime
