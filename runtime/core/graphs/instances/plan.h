// A graph as it is run: its nodes one by one, apart from the graph.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/core/graphs/graph.h"
#include "runtime/core/graphs/work.h"

namespace accelerator::runtime {

/// One node as it is run.
struct Step {
  /// Where memory of the host, or that nobody knows, is.
  static constexpr int kHost = -1;

  Work work;
  Device* device = nullptr;
  /// Those of the node that it was made of. No other node ever has the number,
  /// while another one may get its address.
  std::uint64_t node_id = 0;
  std::uint32_t graph_id = 0;
  bool enabled = true;
  /// Positions of steps, in the order of the node's edges.
  std::vector<std::size_t> dependencies;
  /// The devices that a copy's or a fill's memory was on when this was made.
  int to_device = kHost;
  int from_device = kHost;
  /// Of a child graph, or of each graph of a conditional node.
  std::vector<std::vector<Step>> below;
};

/// The nodes of a graph, each behind those it depends on.
/// @throws Failure: cudaErrorInvalidValue for a circle, and for what a
/// conditional node cannot have below it.
std::vector<Step> make_steps(const Graph& graph);

/// Whether a graph could be one that kernels launch.
/// Source: CUDA C++ programming guide, "Device Graph Requirements".
/// @returns what stands against it, or cudaGraphInstantiateSuccess.
cudaGraphInstantiateResult check_device_launch(const Graph& graph);

/// Takes apart the graphs below a step's node.
void take_apart(Step& step);

/// Finds out on which devices the memory of a step's work is.
void locate_memory(Step& step);

} // namespace accelerator::runtime
