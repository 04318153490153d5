// One operator of tensors of the stand-in, served by the CPU's kernel.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "adapter/testing/stand_in/csrc/graphs/recording.h"
#include "router/aliasing/crossing.h"

namespace torch_stand_in {

/// What there is to know about an operator before it is called, and the call.
class Call final : public c10::OperatorKernel {
 public:
  /// `target` is the CPU's side of the key that the operator is called for.
  Call(const c10::OperatorHandle& op, c10::DispatchKey target);

  /// Takes the arguments from the stack and puts the results on it.
  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack);

 private:
  void run(const c10::OperatorHandle& op, torch::jit::Stack* stack) const;
  void run_recorded(
      Recording& recording,
      const c10::OperatorHandle& op,
      torch::jit::Stack* stack) const;

  c10::DispatchKeySet target_;
  torch_cuda::aliasing::Crossing crossing_;
  bool one_by_one_;
  bool waits_; // the host reads a number
};

} // namespace torch_stand_in
