// Operators of pu with kernels of their own.
#pragma once

#include <torch/library.h>

namespace torch_pu {

/// Registers allocations, at the key of pu's tensors.
void register_own(torch::Library& aten);

} // namespace torch_pu
