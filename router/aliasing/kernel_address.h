// Where the code of a kernel lies.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace torch_cuda::aliasing {

/// An address in the library that an operator's kernel was compiled into.
/// @returns null where nothing compiled is known: the key has no kernel, or one
/// that is called with a stack only, as Python's are.
const void* kernel_address(const c10::OperatorHandle& op, c10::DispatchKey key);

} // namespace torch_cuda::aliasing
