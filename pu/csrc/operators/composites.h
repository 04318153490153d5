// Composites that CUDA serves as a whole.
#pragma once

#include <torch/library.h>

namespace torch_pu {

/// Registers composites that a process with devices that run no CUDA code
/// serves as a whole, at the autograd key of pu's tensors and, as far as their
/// parts cannot be had, at that of tensors that wrap them (wrappers.h). Where
/// CUDA has no kernel of them, they stay composites.
void register_composites(torch::Library& pu, torch::Library& wrappers);

} // namespace torch_pu
