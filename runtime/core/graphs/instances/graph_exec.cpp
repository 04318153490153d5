#include "runtime/core/graphs/instances/graph_exec.h"

#include <algorithm>
#include <utility>

#include "runtime/core/graphs/condition.h"
#include "runtime/core/graphs/instances/run.h"
#include "runtime/core/machine/device.h"
#include "runtime/core/streams/stream.h"

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
  return !is_plane<CopyWork>(work) && !is_plane<FillWork>(work) &&
      !std::holds_alternative<ConditionalWork>(work);
}

// The conditions of conditional nodes, those below others among them.
void collect(
    const std::vector<Step>& steps,
    std::vector<std::shared_ptr<Condition>>& conditions) {
  for (const Step& step : steps) {
    if (const auto* work = std::get_if<ConditionalWork>(&step.work)) {
      conditions.push_back(work->condition);
    }
    for (const auto& below : step.below) {
      collect(below, conditions);
    }
  }
}

// A graph whose nodes do what the steps do.
std::shared_ptr<Graph> make_graph(const std::vector<Step>& steps) {
  auto graph = std::make_shared<Graph>();
  std::vector<Node*> nodes;
  for (const Step& step : steps) {
    Work work = step.enabled ? step.work : EmptyWork{};
    if (std::holds_alternative<ChildGraphWork>(work)) {
      work = ChildGraphWork{make_graph(step.below.front())};
    } else if (std::holds_alternative<ConditionalWork>(work)) {
      throw Failure(
          cudaErrorNotSupported,
          "a graph with conditional nodes cannot be launched into a stream "
          "that is being captured: it cannot be a child graph");
    } else if (
        std::holds_alternative<AllocationWork>(work) ||
        std::holds_alternative<FreeWork>(work)) {
      throw Failure(
          cudaErrorNotSupported,
          "a graph that allocates or frees memory cannot be launched into a "
          "stream that is being captured: it cannot be a child graph");
    }
    std::vector<Node*> dependencies;
    for (const std::size_t dependency : step.dependencies) {
      dependencies.push_back(nodes[dependency]);
    }
    nodes.push_back(
        &graph->add(std::move(work), *step.device, std::move(dependencies)));
  }
  return graph;
}

// Nothing may run in the place of a kernel without code, and nothing behind it.
void require_code(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const auto* kernel = std::get_if<KernelWork>(&step.work);
    if (step.enabled && kernel != nullptr) {
      kernel->function->to_launch(*step.device);
    }
    for (const auto& below : step.below) {
      require_code(below);
    }
  }
}

// Of steps that run; only such can be disabled as have none.
void collect(const std::vector<Step>& steps, std::vector<MemoryStep>& memory) {
  for (const Step& step : steps) {
    if (const auto* work = std::get_if<AllocationWork>(&step.work)) {
      memory.push_back({work->memory.get(), nullptr});
    } else if (const auto* work = std::get_if<FreeWork>(&step.work)) {
      memory.push_back({nullptr, work->memory});
    }
    for (const auto& below : step.below) {
      collect(below, memory);
    }
  }
}

} // namespace

GraphExec::GraphExec(const Graph& graph, unsigned long long flags)
    : id_(Graph::next_id()),
      flags_(flags),
      steps_(make_plan(graph)),
      claim_(std::make_shared<char>()) {
  std::vector<std::shared_ptr<Condition>> conditions;
  collect(*steps_, conditions);
  for (const auto& condition : conditions) {
    if (!condition->instance.expired()) {
      throw Failure(
          cudaErrorInvalidValue,
          "a graph with conditional nodes can have one instance at a time: "
          "destroy the other first");
    }
  }
  graph.claim_memory(claim_);
  for (const auto& condition : conditions) {
    condition->instance = claim_;
  }
}

void GraphExec::launch(Stream& stream) {
  const std::lock_guard lock(mutex_);
  require_code(*steps_);
  std::vector<MemoryStep> memory;
  collect(*steps_, memory);
  if (!memory.empty()) {
    note_launch(
        memory, (flags_ & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0);
  }
  if (last_run_ != nullptr) {
    last_run_->make_wait(stream);
  }
  put_initial(stream, *steps_);
  put_steps(stream, *steps_, tracing::origin_of_work(stream.id()), steps_);
  // What the graph owns lives until the run has ended.
  stream.enqueue([steps = steps_] { return cudaSuccess; }, true);
  // An event of this stream's device, which the next launch may not be on.
  last_run_ = std::make_shared<Event>(
      stream.device(), stream.device().slot(), cudaEventDisableTiming);
  last_run_->record(stream);
}

std::shared_ptr<Graph> GraphExec::to_graph() {
  const std::lock_guard lock(mutex_);
  auto graph = make_graph(*steps_);
  graph->keep(steps_);
  return graph;
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
  if (std::holds_alternative<ChildGraphWork>(step.work)) {
    take_apart(step);
    require(
        take_over(step.below.front(), before.below.front()).result ==
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
