// What the driver's parameters of nodes mean, where the runtime has others, and
// back.
#pragma once

#include <cuda.h>

#include "runtime/api/driver/call.h"
#include "runtime/core/graphs/work.h"

namespace accelerator::driver {

/// Where a node runs that names a context: there, or in the current one.
/// @throws runtime::Failure: CUDA_ERROR_INVALID_CONTEXT.
inline runtime::Device& device_for(CUcontext context) {
  return context != nullptr ? resolve_context(context) : current_context();
}

/// @throws runtime::Failure: what a launch with these parameters would answer.
runtime::KernelWork kernel_work(
    runtime::Device& device,
    const CUDA_KERNEL_NODE_PARAMS_v2* parameters);
/// @throws runtime::Failure: what the copy itself would answer.
runtime::CopyWork copy_work(const CUDA_MEMCPY3D* parameters);
runtime::FillWork fill_work(const CUDA_MEMSET_NODE_PARAMS* parameters);

/// The parameters of a kernel node, and of a node that copies.
/// @throws runtime::Failure: CUDA_ERROR_INVALID_VALUE for a node of another
/// kind.
CUDA_KERNEL_NODE_PARAMS_v2 kernel_parameters(CUgraphNode node);
CUDA_MEMCPY3D copy_parameters(CUgraphNode node);

} // namespace accelerator::driver
