// The kernel that another one is registered over.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace torch_cuda::aliasing {

/// The kernel that the dispatcher calls for a key of an operator, which has one
/// (hasComputedKernelForDispatchKey).
const c10::KernelFunction& computed_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey key);

/// What serves a key of an operator at the time of construction: its own
/// kernel, or the composite that the dispatcher takes for it. In a process with
/// devices of both kinds it goes on serving those that run CUDA code.
class PreviousKernel {
 public:
  PreviousKernel(const c10::OperatorHandle& op, c10::DispatchKey key);

  /// Takes the arguments from the stack and puts the results on it. Throws
  /// PyTorch's NotImplementedError where the key had no kernel.
  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) const;

 private:
  c10::DispatchKey key_;
  c10::KernelFunction kernel_;
};

} // namespace torch_cuda::aliasing
