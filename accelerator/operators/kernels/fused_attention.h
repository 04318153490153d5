// Attention by the operators that are named after fused kernels: flash,
// memory-efficient and cuDNN's. PyTorch itself takes none of them here
// (attention.h); programs call them, and jagged tensors do.
#pragma once

namespace torch_cuda::operators {

/// Serves them and their derivatives on devices that run no CUDA code of
/// PyTorch's, without dropout: its mask is made of random numbers that only
/// their kernels have.
void route_fused_attention();

} // namespace torch_cuda::operators
