// The operators that are the fused kernels themselves, which jagged tensors
// call.
#pragma once

namespace torch_cuda::operators::attention {

/// Serves _flash_attention_* and _efficient_attention_* on
/// devices that run no CUDA code of PyTorch's, without dropout: its mask is
/// made of random numbers that only their kernels have.
void route_own();

} // namespace torch_cuda::operators::attention
