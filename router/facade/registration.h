// Which operators of PrivateUse1's tensors another device's kernels serve.
//
// What has a kernel of the far device's, of the CPU's (devices that run no CUDA
// code have it served by the CPU, once CUDA is in use) or an explicit composite
// goes to the far device as a whole. Composites whose autograd formula is
// implicit run on PrivateUse1's tensors, and what they are made of goes there.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>

namespace torch_cuda::facade {

/// The device whose kernels serve.
struct Far {
  c10::BackendComponent device;

  /// A call of an operator by the kernel of one of the far device's keys.
  std::function<
      c10::KernelFunction(const c10::OperatorHandle&, c10::DispatchKey)>
      call;

  /// Explicit composites that run on PrivateUse1's tensors all the same.
  std::function<bool(const c10::OperatorHandle&)> is_seen_through;
};

/// Registers them, and what looks at sizes and strides only, and that
/// Tensor.set_data takes tensors of other devices, so that Module.to keeps
/// Parameters. Operators that have a kernel at a key of PrivateUse1's keep it;
/// those that come later, with a library of their own, go to the far device.
/// Once a process.
/// @param origin who is named where the dispatcher names kernels.
/// @returns how many operators go to the far device.
int register_operators(const Far& far, const char* origin);

} // namespace torch_cuda::facade
