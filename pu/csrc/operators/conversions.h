// Tensor.to between pu and cuda.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace torch_pu {

/// Registers the overloads of Tensor.to that change the device, at a key of
/// tensors of pu or of CUDA. Between the two nothing is copied, unless a copy,
/// another type or another layout is asked for.
void register_conversions(torch::Library& aten);

/// The same memory as a tensor of CUDA for one of pu, and the other way round,
/// of any layout. Autograd does not see it.
at::Tensor to_other_name(const at::Tensor& tensor);

} // namespace torch_pu
