// The work of graph nodes, between CUDA's parameter structures and device/.
#pragma once

#include <cuda_runtime_api.h>

#include <variant>

#include "accelerator/runtime/core/graphs/graph.h"
#include "accelerator/runtime/core/graphs/work.h"

namespace accelerator::cudart {

/// The work of a node that has to be of one kind.
/// @throws runtime::Failure: cudaErrorInvalidValue when it is of another.
template <typename Parts>
Parts& parts(runtime::Node& node) {
  auto* found = std::get_if<Parts>(&node.work());
  runtime::require(found != nullptr);
  return *found;
}

/// @param cooperative the node's attribute, which is no parameter.
/// @throws runtime::Failure: what a launch with these parameters would answer.
runtime::KernelWork kernel_work(
    const cudaKernelNodeParams* parameters,
    bool cooperative = false);
runtime::CopyWork copy_work(const cudaMemcpy3DParms* parameters);
runtime::CopyWork copy_work(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind);
runtime::FillWork fill_work(const cudaMemsetParams* parameters);
runtime::HostWork host_work(const cudaHostNodeParams* parameters);

} // namespace accelerator::cudart
