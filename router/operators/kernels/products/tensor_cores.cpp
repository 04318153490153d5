// By products of types that CUDA and the CPU have.
#include "router/operators/kernels/products/tensor_cores.h"

#include <ATen/ops/mm.h>

namespace torch_cuda::operators::tensor_cores {
namespace {

using at::Tensor;
using c10::ScalarType;

} // namespace

// CUDA has no products of matrices of integers; numbers of 64 bits are exact,
// too.
Tensor product(const Tensor& left, const Tensor& right) {
  const bool is_integral = left.scalar_type() == c10::kChar;
  const auto type = is_integral ? c10::kDouble : c10::kFloat;
  const auto result = at::mm(left.to(type), right.to(type));
  return is_integral ? result.to(c10::kInt) : result;
}

Tensor rounded(const Tensor& result, ScalarType type) {
  if (type == c10::kChar) {
    return (result.is_floating_point() ? result.round() : result)
        .clamp(-128, 127)
        .to(type);
  }
  return result.to(type);
}

} // namespace torch_cuda::operators::tensor_cores
