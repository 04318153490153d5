// What the handles of graphs and nodes stand for, and back.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "accelerator/runtime/core/graphs/graph.h"
#include "accelerator/runtime/core/graphs/instances/graph_exec.h"
#include "accelerator/runtime/core/machine/machine.h"

namespace accelerator::cudart {

inline std::shared_ptr<runtime::Graph> resolve_graph(cudaGraph_t handle) {
  return runtime::machine().graphs().get(handle, cudaErrorInvalidValue);
}

inline std::shared_ptr<runtime::GraphExec> resolve_exec(
    cudaGraphExec_t handle) {
  return runtime::machine().graph_execs().get(handle, cudaErrorInvalidValue);
}

inline cudaGraphNode_t handle_of(const runtime::Node* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<runtime::Node*>(node));
}

inline std::vector<runtime::Node*> nodes_of(
    const cudaGraphNode_t* handles,
    std::size_t count) {
  runtime::require(handles != nullptr || count == 0);
  std::vector<runtime::Node*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(&runtime::resolve_node(handles[i]));
  }
  return nodes;
}

} // namespace accelerator::cudart
