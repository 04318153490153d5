// Types that CUDA's kernels have and the CPU's lack, half precision apart
// (calls/half_precision.h).
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace torch_cuda::operators {

/// Whether an operator is served for such types, too.
bool has_more_types(const c10::OperatorName& name);

/// The operator's kernel: of such types an exact definition or, where numbers
/// are only moved, the CPU's kernel for integers of their size; the CPU's for
/// all others.
c10::KernelFunction more_types_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey target);

} // namespace torch_cuda::operators
