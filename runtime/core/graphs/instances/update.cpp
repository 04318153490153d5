#include "runtime/core/graphs/instances/update.h"

#include <algorithm>
#include <limits>

namespace accelerator::runtime {
namespace {

constexpr auto kNone = std::numeric_limits<std::size_t>::max();

// Positions of the steps that no other depends on, in the order in which their
// nodes were added.
std::vector<std::size_t> last_of(const std::vector<Step>& steps) {
  std::vector<bool> has_next(steps.size());
  for (const Step& step : steps) {
    for (const std::size_t dependency : step.dependencies) {
      has_next[dependency] = true;
    }
  }
  std::vector<std::size_t> last;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!has_next[i]) {
      last.push_back(i);
    }
  }
  std::sort(last.begin(), last.end(), [&](std::size_t a, std::size_t b) {
    return steps[a].node_id < steps[b].node_id;
  });
  return last;
}

/// Which steps stand for one another.
class Pairs {
 public:
  Pairs(const std::vector<Step>& steps, const std::vector<Step>& before)
      : steps_(steps),
        before_(before),
        partner_(steps.size(), kNone),
        taken_(before.size()) {}

  UpdateProblem find() {
    if (steps_.size() != before_.size()) {
      return {cudaGraphExecUpdateErrorTopologyChanged};
    }
    const auto last = last_of(steps_);
    const auto last_before = last_of(before_);
    if (last.size() != last_before.size()) {
      const bool more = last.size() > last_before.size();
      return {
          cudaGraphExecUpdateErrorTopologyChanged,
          more ? steps_[last[last_before.size()]].node_id : 0};
    }
    for (std::size_t i = 0; i < last.size(); ++i) {
      join(last[i], last_before[i]);
    }
    while (!open_.empty()) {
      const std::size_t i = open_.back();
      open_.pop_back();
      const UpdateProblem problem = pair_dependencies(i);
      if (problem.result != cudaGraphExecUpdateSuccess) {
        return problem;
      }
    }
    return {};
  }

  const Step& partner_of(std::size_t i) const {
    return before_[partner_[i]];
  }

 private:
  void join(std::size_t i, std::size_t before) {
    partner_[i] = before;
    taken_[before] = true;
    open_.push_back(i);
  }

  UpdateProblem pair_dependencies(std::size_t i) {
    const auto& now = steps_[i].dependencies;
    const auto& then = partner_of(i).dependencies;
    const std::uint64_t node_id = steps_[i].node_id;
    if (now.size() != then.size()) {
      return {cudaGraphExecUpdateErrorTopologyChanged, node_id};
    }
    for (std::size_t edge = 0; edge < now.size(); ++edge) {
      if (partner_[now[edge]] == kNone && !taken_[then[edge]]) {
        join(now[edge], then[edge]);
      } else if (partner_[now[edge]] != then[edge]) {
        return {
            cudaGraphExecUpdateErrorTopologyChanged,
            node_id,
            steps_[now[edge]].node_id};
      }
    }
    return {};
  }

  const std::vector<Step>& steps_;
  const std::vector<Step>& before_;
  std::vector<std::size_t> partner_; // of a step, among those before
  std::vector<bool> taken_; // of those before
  std::vector<std::size_t> open_; // whose dependencies are still to be paired
};

// Of a fill in more than one dimension only the address and the value may
// change.
bool has_shape_of(const FillWork& work, const FillWork& before) {
  return (work.is_linear() && before.is_linear()) ||
      (work.width == before.width && work.height == before.height &&
       work.depth == before.depth && work.pitch == before.pitch &&
       work.slice == before.slice && work.element_size == before.element_size);
}

} // namespace

cudaGraphExecUpdateResult compare(const Step& step, const Step& before) {
  if (step.work.index() != before.work.index()) {
    return cudaGraphExecUpdateErrorNodeTypeChanged;
  }
  if (std::holds_alternative<AllocationWork>(step.work)) {
    return cudaGraphExecUpdateErrorNotSupported;
  }
  if (const auto* conditional = std::get_if<ConditionalWork>(&step.work)) {
    if (conditional->type != std::get<ConditionalWork>(before.work).type ||
        step.below.size() != before.below.size()) {
      return cudaGraphExecUpdateErrorParametersChanged;
    }
  }
  if (const auto* kernel = std::get_if<KernelWork>(&step.work)) {
    if (step.device != before.device) {
      return cudaGraphExecUpdateErrorUnsupportedFunctionChange;
    }
    return kernel->cooperative == std::get<KernelWork>(before.work).cooperative
        ? cudaGraphExecUpdateSuccess
        : cudaGraphExecUpdateErrorAttributesChanged;
  }
  const auto* fill = std::get_if<FillWork>(&step.work);
  if (step.to_device != before.to_device ||
      step.from_device != before.from_device ||
      (fill != nullptr &&
       !has_shape_of(*fill, std::get<FillWork>(before.work)))) {
    return cudaGraphExecUpdateErrorParametersChanged;
  }
  return cudaGraphExecUpdateSuccess;
}

UpdateProblem take_over(
    std::vector<Step>& steps,
    const std::vector<Step>& before) {
  Pairs pairs(steps, before);
  UpdateProblem problem = pairs.find();
  for (std::size_t i = 0;
       i < steps.size() && problem.result == cudaGraphExecUpdateSuccess;
       ++i) {
    const Step& partner = pairs.partner_of(i);
    problem = {compare(steps[i], partner), steps[i].node_id};
    for (std::size_t below = 0; below < steps[i].below.size() &&
         problem.result == cudaGraphExecUpdateSuccess;
         ++below) {
      problem = take_over(steps[i].below[below], partner.below[below]);
    }
  }
  if (problem.result != cudaGraphExecUpdateSuccess) {
    return problem;
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& partner = pairs.partner_of(i);
    steps[i].node_id = partner.node_id;
    steps[i].graph_id = partner.graph_id;
    steps[i].enabled = partner.enabled;
  }
  return {};
}

} // namespace accelerator::runtime
