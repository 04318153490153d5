// What the runtime's parameters of nodes mean, where the driver has others.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/core/graphs/work.h"

namespace accelerator::cudart {

/// @throws Failure: what a launch with these parameters would answer.
runtime::KernelWork kernel_work(
    runtime::Device& device,
    const cudaKernelNodeParams* parameters);
runtime::CopyWork copy_work(const cudaMemcpy3DParms* parameters);

/// The parameters of a kernel node, and of a node that copies.
/// @throws Failure: cudaErrorInvalidValue for a node of another kind.
cudaKernelNodeParams kernel_parameters(cudaGraphNode_t node);
cudaMemcpy3DParms copy_of(cudaGraphNode_t node);

} // namespace accelerator::cudart
