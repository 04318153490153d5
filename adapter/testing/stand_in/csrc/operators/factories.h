// Operators with kernels of their own: allocations, copies.
#pragma once

#include <torch/library.h>

namespace torch_stand_in {

/// Registers them. @param aten for the key PrivateUse1.
void register_own(torch::Library& aten);

} // namespace torch_stand_in
