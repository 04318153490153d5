// Which implementation of attention serves CUDA's tensors.
#pragma once

namespace torch_cuda::operators {

/// Has `scaled_dot_product_attention` choose upstream's own composite of other
/// operators on devices that run no CUDA code, whose derivatives of any order
/// are upstream's. Fused kernels are CUDA code, and the CPU's has no second
/// derivative.
void route_attention();

} // namespace torch_cuda::operators
