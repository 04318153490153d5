// What the CPU's kernels write to.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string_view>

namespace torch_cuda::operators {

/// Whether an operator writes each element of what it writes to.
bool writes_all(const c10::OperatorHandle& op);

/// Whether an operator writes to an argument although its schema does not say
/// so. tests/accelerator/watched_writes_test.py watches what kernels do.
/// @param op name with overload, such as "aten::native_batch_norm".
bool writes_in_silence(std::string_view op, std::string_view argument);

} // namespace torch_cuda::operators
