// Dropout with the CPU's numbers.
#pragma once

namespace torch_cuda::operators {

/// Serves `native_dropout`, which dropout of CUDA's tensors is made of, and its
/// backward pass: they drop what the CPU's `dropout` drops after the same seed,
/// and round as it does. Upstream's derivatives stand above them.
void route_dropout();

} // namespace torch_cuda::operators
