// Numbers of 64 bits without a sign, above those with one: no boxed call
// carries them.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace torch_cuda::operators {

/// Whether an operator takes such a number: it fills with it, or compares.
bool takes_unsigned_number(const c10::OperatorName& name);

/// The kernel for such an operator.
/// @param target the CPU's side of the key that it is called for.
c10::KernelFunction unsigned_number_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey target);

} // namespace torch_cuda::operators
