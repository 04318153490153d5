// Operators of PyTorch, by their names.
#pragma once

#include <ATen/core/operator_name.h>

namespace torch_cuda::operators {

/// Operators whose CUDA kernels launch code of PyTorch's.
bool is_pytorchs_code(const c10::OperatorName& name);

/// Collectives, which are the process group's business.
bool is_collective(const c10::OperatorName& name);

} // namespace torch_cuda::operators
