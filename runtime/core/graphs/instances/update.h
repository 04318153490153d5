// What an instantiated graph may become without being instantiated again.
// Source: CUDA runtime API, cudaGraphExecUpdate; CUDA C++ programming guide,
// "Updating Instantiated Graphs".
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <vector>

#include "runtime/core/graphs/instances/plan.h"

namespace accelerator::runtime {

/// What stands against an update.
struct UpdateProblem {
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  /// The number of the node of the new graph, and of one that it depends on
  /// where that is the reason; 0: none.
  std::uint64_t node_id = 0;
  std::uint64_t from_node_id = 0;
};

/// Pairs the steps of a new graph with those that are to be replaced, child
/// graphs' too, and gives them their names and whether they are enabled. The
/// last nodes are paired in the order in which they were added, all others by
/// the order of the edges that lead to them.
/// @param steps cannot be used when there is a problem.
UpdateProblem take_over(
    std::vector<Step>& steps,
    const std::vector<Step>& before);

/// Whether work may take the place of other work of the same type. Child graphs
/// are not looked at.
cudaGraphExecUpdateResult compare(const Step& step, const Step& before);

} // namespace accelerator::runtime
