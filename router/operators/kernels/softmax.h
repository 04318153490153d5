// Softmax of half precision in single precision, which CUDA's kernels do in one
// step and the CPU's refuse.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace torch_cuda::operators {

/// Whether an operator is softmax, its logarithm, or the derivative of one.
bool is_softmax(const c10::OperatorName& name);

/// The kernel for such an operator.
/// @param target the CPU's side of the key that it is called for.
c10::KernelFunction softmax_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey target);

} // namespace torch_cuda::operators
