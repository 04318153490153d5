// The work of graph nodes, between CUDA's parameter structures and device/.
#pragma once

#include <cuda_runtime_api.h>

#include <variant>

#include "cudasim/device/graphs/graph.h"
#include "cudasim/device/graphs/work.h"

namespace cudasim::runtime {

/// The work of a node that has to be of one kind.
/// @throws device::Failure: cudaErrorInvalidValue when it is of another.
template <typename Parts>
Parts& parts(device::Node& node) {
  auto* found = std::get_if<Parts>(&node.work());
  device::require(found != nullptr);
  return *found;
}

/// @throws device::Failure: what a launch with these parameters would answer.
device::KernelWork kernel_work(const cudaKernelNodeParams* parameters);
device::CopyWork copy_work(const cudaMemcpy3DParms* parameters);
device::CopyWork copy_work(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind);
device::FillWork fill_work(const cudaMemsetParams* parameters);
device::HostWork host_work(const cudaHostNodeParams* parameters);

} // namespace cudasim::runtime
