// Which operators of CUDA tensors the CPU's kernels serve.
#pragma once

#include <c10/core/Device.h>

namespace torch_cuda::operators {

/// True for a device that runs the CUDA kernels of this build itself.
bool serves_itself(c10::DeviceIndex device);

/// Registers the CPU's kernels for CUDA tensors, once a process; without effect
/// where all devices serve themselves. Returns how many operators were routed.
int route();

} // namespace torch_cuda::operators

/// route() for Python, which loads this library and calls it.
extern "C" int torch_cuda_route_operators();
