// What a program can call in the place of an operator that is refused.
#pragma once

#include <ATen/core/operator_name.h>

namespace torch_cuda::operators {

/// What to use instead, as the end of a sentence; null where there is nothing.
const char* instead_of(const c10::OperatorName& name);

} // namespace torch_cuda::operators
