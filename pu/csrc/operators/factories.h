// Operators of pu with kernels of their own.
#pragma once

#include <torch/library.h>

namespace torch_pu {

/// Registers allocations and views, at the key of pu's tensors.
void register_own(torch::Library& aten);

/// Registers what lets a Parameter change to pu and back, at a key of pu's
/// tensors.
void register_set_data(torch::Library& aten);

} // namespace torch_pu
