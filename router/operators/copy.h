// copy_ between tensors of CUDA devices and of the host.
#pragma once

#include "router/operators/calls/boxed_call.h"

namespace torch_cuda::operators {

/// Leaves to upstream what it does with the runtime's copies alone, host to
/// device and back, between devices, and nodes of graphs; the rest is the CPU's
/// copy_ on the same memory.
class CopyKernel final : public c10::OperatorKernel {
 public:
  /// `target` is the CPU's side of the key that it serves.
  CopyKernel(const c10::OperatorHandle& op, c10::DispatchKey target)
      : call_(op, target) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack);

 private:
  HostCall call_;
};

/// Has copies served likewise that are handed to PyTorch's composite without
/// its dispatcher, where no kernel can be registered.
void route_copies_past_the_router();

} // namespace torch_cuda::operators
