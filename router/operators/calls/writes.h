// What the CPU's kernels write to.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace torch_cuda::operators {

/// Whether an operator writes each element of what it writes to.
bool writes_all(const c10::OperatorHandle& op);

} // namespace torch_cuda::operators
