#include "accelerator/runtime/core/graphs/instances/plan.h"

#include <unordered_map>
#include <utility>

#include "accelerator/runtime/core/machine/machine.h"

namespace accelerator::runtime {
namespace {

int device_of(const void* memory) {
  const auto piece =
      machine().addresses().find(reinterpret_cast<std::uint64_t>(memory));
  return !piece || piece->on_host() ? Step::kHost : piece->device;
}

} // namespace

std::vector<Step> make_steps(const Graph& graph) {
  std::unordered_map<const Node*, std::size_t> positions;
  std::vector<Step> steps;
  for (const Node* node : graph.in_order()) {
    Step step;
    step.work = node->work();
    step.device = &node->device();
    step.node_id = node->id();
    step.graph_id = graph.id();
    for (const Node* dependency : node->dependencies()) {
      step.dependencies.push_back(positions.at(dependency));
    }
    locate_memory(step);
    if (const auto* child = std::get_if<ChildGraphWork>(&step.work)) {
      step.children = make_steps(*child->graph);
    }
    positions[node] = steps.size();
    steps.push_back(std::move(step));
  }
  return steps;
}

void locate_memory(Step& step) {
  if (const auto* copy = std::get_if<CopyWork>(&step.work)) {
    step.to_device = device_of(copy->to);
    step.from_device = device_of(copy->from);
  } else if (const auto* fill = std::get_if<FillWork>(&step.work)) {
    step.to_device = device_of(fill->to);
  }
}

} // namespace accelerator::runtime
