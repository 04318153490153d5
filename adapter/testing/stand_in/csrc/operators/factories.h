// Operators with kernels of their own: allocations, views, copies.
#pragma once

#include <torch/library.h>

namespace torch_stand_in {

/// Registers them. @param aten for the key PrivateUse1.
void register_own(torch::Library& aten);

/// Registers that Tensor.set_data takes tensors of the CPU for those of the
/// stand-in and the other way round, so that Module.to keeps Parameters.
void register_set_data(torch::Library& aten);

} // namespace torch_stand_in
