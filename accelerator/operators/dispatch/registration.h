// Kernels of this library in PyTorch's dispatcher.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <utility>

namespace torch_cuda::operators {

/// Registers a kernel for the tensors of all devices, over what is there, for
/// as long as the process lasts.
void register_for_all(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel);

/// Registers a kernel for the devices that run no CUDA code. Where there are
/// others too, what was there before goes on serving them.
void register_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel);

/// The kernel that a functor is, which is called with operator, keys and stack.
template <class Functor>
c10::KernelFunction boxed(std::unique_ptr<Functor> functor) {
  return c10::KernelFunction::makeFromBoxedFunctor(std::move(functor));
}

} // namespace torch_cuda::operators
