// What tensor cores make of a product of matrices: its sums, and their
// rounding.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

namespace torch_cuda::operators::tensor_cores {

/// A product of matrices of the same type, not rounded: of int32 for int8, in
/// single precision for all others.
at::Tensor product(const at::Tensor& left, const at::Tensor& right);

/// A result in another type. What is too large for int8 is limited.
at::Tensor rounded(const at::Tensor& result, c10::ScalarType type);

} // namespace torch_cuda::operators::tensor_cores
