// What the handles of graphs and nodes stand for, and back.
#pragma once

#include <driver_types.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "runtime/core/graphs/graph.h"
#include "runtime/core/graphs/instances/graph_exec.h"
#include "runtime/core/machine/machine.h"

namespace accelerator::runtime::operations {

inline std::shared_ptr<Graph> resolve_graph(cudaGraph_t handle) {
  return machine().graphs().get(handle, cudaErrorInvalidValue);
}

inline std::shared_ptr<GraphExec> resolve_exec(cudaGraphExec_t handle) {
  return machine().graph_execs().get(handle, cudaErrorInvalidValue);
}

/// The work of a node that has to be of one kind.
/// @throws Failure: cudaErrorInvalidValue when it is of another.
template <typename Parts>
Parts& parts(Node& node) {
  auto* found = std::get_if<Parts>(&node.work());
  require(found != nullptr);
  return *found;
}

inline cudaGraphNode_t handle_of(const Node* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node));
}

/// What the edges to a node not yet captured say; no data at all says nothing.
/// @throws Failure: cudaErrorNotSupported for kernels that may overlap.
inline void require_ordinary(const cudaGraphEdgeData* data, std::size_t count) {
  require(
      data == nullptr || std::all_of(data, data + count, is_ordinary),
      cudaErrorNotSupported);
}

inline std::vector<Node*> nodes_of(
    const cudaGraphNode_t* handles,
    std::size_t count) {
  require(handles != nullptr || count == 0);
  std::vector<Node*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(&resolve_node(handles[i]));
  }
  return nodes;
}

} // namespace accelerator::runtime::operations
