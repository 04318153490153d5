#include "runtime/core/graphs/instances/plan.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/core/machine/machine.h"

namespace accelerator::runtime {
namespace {

int device_of(const void* memory) {
  const auto piece =
      machine().addresses().find(reinterpret_cast<std::uint64_t>(memory));
  return !piece || piece->on_host() ? Step::kHost : piece->device;
}

// What runs under a condition is for the device alone.
void require_conditional(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    const cudaGraphNodeType type = type_of(node->work());
    if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemcpy &&
        type != cudaGraphNodeTypeMemset && type != cudaGraphNodeTypeEmpty &&
        type != cudaGraphNodeTypeGraph &&
        type != cudaGraphNodeTypeConditional) {
      throw Failure(
          cudaErrorInvalidValue,
          "a graph below a conditional node has a node of type " +
              std::to_string(type) +
              ": only kernels, copies, fills, empty nodes, child graphs and "
              "conditional nodes can be there");
    }
    for (const auto& below : graphs_below(node->work())) {
      require_conditional(*below);
    }
  }
}

// Adds the devices of a graph's nodes; false where a node can not be there.
bool is_for_kernels(
    const Graph& graph,
    std::unordered_set<const Device*>& devices) {
  for (const auto& node : graph.nodes()) {
    const cudaGraphNodeType type = type_of(node->work());
    if (type == cudaGraphNodeTypeGraph) {
      for (const auto& below : graphs_below(node->work())) {
        if (!is_for_kernels(*below, devices)) {
          return false;
        }
      }
    } else if (
        type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
        type == cudaGraphNodeTypeMemset) {
      devices.insert(&node->device());
    } else {
      return false;
    }
  }
  return true;
}

} // namespace

cudaGraphInstantiateResult check_device_launch(const Graph& graph) {
  std::unordered_set<const Device*> devices;
  if (!is_for_kernels(graph, devices)) {
    return cudaGraphInstantiateNodeOperationNotSupported;
  }
  return devices.size() > 1 ? cudaGraphInstantiateMultipleDevicesNotSupported
                            : cudaGraphInstantiateSuccess;
}

std::vector<Step> make_steps(const Graph& graph) {
  graph.require_conditions_used();
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
    take_apart(step);
    positions[node] = steps.size();
    steps.push_back(std::move(step));
  }
  return steps;
}

void take_apart(Step& step) {
  step.below.clear();
  for (const auto& graph : graphs_below(step.work)) {
    if (std::holds_alternative<ConditionalWork>(step.work)) {
      require_conditional(*graph);
    }
    step.below.push_back(make_steps(*graph));
  }
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
