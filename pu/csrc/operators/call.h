// One operator of tensors of pu, served by CUDA's kernel on the same memory.
#pragma once

#include "router/aliasing/crossing.h"

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace torch_pu {

/// What there is to know about an operator before it is called, and the call.
class Call final : public c10::OperatorKernel {
 public:
  /// `target` is CUDA's side of the key that the operator is called for.
  Call(const c10::OperatorHandle& op, c10::DispatchKey target);

  /// Takes the arguments from the stack and puts the results on it.
  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack);

 private:
  void check(const c10::OperatorHandle& op, const torch::jit::Stack& stack)
      const;

  c10::DispatchKeySet target_;
  torch_cuda::aliasing::Crossing crossing_;
};

} // namespace torch_pu
