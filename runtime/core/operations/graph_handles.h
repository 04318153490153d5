// What the handles of graphs and nodes stand for, and back.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstring>
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

/// Edge data is for kernels that overlap, and there are none here. Zeros, and
/// no data at all, are the ordinary dependency.
/// @throws Failure: cudaErrorNotSupported for other data.
inline void require_ordinary(const cudaGraphEdgeData* data, std::size_t count) {
  const cudaGraphEdgeData ordinary{};
  for (std::size_t i = 0; data != nullptr && i < count; ++i) {
    require(
        std::memcmp(&data[i], &ordinary, sizeof(ordinary)) == 0,
        cudaErrorNotSupported);
  }
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
