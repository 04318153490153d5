// Products of matrices whose result is of another type than the matrices.
#pragma once

namespace torch_cuda::operators {

/// Serves mm, bmm, addmm and baddbmm with `out_dtype` on devices that run no
/// CUDA code of PyTorch's.
void route_products();

} // namespace torch_cuda::operators
