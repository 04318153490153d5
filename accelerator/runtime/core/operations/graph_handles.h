// What the handles of graphs and nodes stand for, and back.
#pragma once

#include <driver_types.h>

#include <memory>
#include <vector>

#include "accelerator/runtime/core/graphs/graph.h"
#include "accelerator/runtime/core/graphs/instances/graph_exec.h"
#include "accelerator/runtime/core/machine/machine.h"

namespace accelerator::runtime::operations {

inline std::shared_ptr<Graph> resolve_graph(cudaGraph_t handle) {
  return machine().graphs().get(handle, cudaErrorInvalidValue);
}

inline std::shared_ptr<GraphExec> resolve_exec(cudaGraphExec_t handle) {
  return machine().graph_execs().get(handle, cudaErrorInvalidValue);
}

inline cudaGraphNode_t handle_of(const Node* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node));
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
