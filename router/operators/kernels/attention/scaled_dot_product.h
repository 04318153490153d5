// The operators that scaled_dot_product_attention takes for flash,
// memory-efficient and cuDNN's attention. The choice (kernels/attention.h)
// takes the first only; programs call all of them.
#pragma once

namespace torch_cuda::operators::attention {

/// Serves _scaled_dot_product_*_attention and their derivatives on
/// devices that run no CUDA code of PyTorch's, without dropout: its mask is
/// made of random numbers that only their kernels have.
void route_scaled_dot_product();

} // namespace torch_cuda::operators::attention
