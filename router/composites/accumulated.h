// What CUDA's kernels compute with.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

namespace torch_cuda::composites {

/// Numbers of half precision in single precision: half precision is what is
/// read and written, not what is computed with. All others, and no tensor, are
/// what they are.
inline at::Tensor accumulated(const at::Tensor& tensor) {
  return tensor.defined() && c10::isReducedFloatingType(tensor.scalar_type())
      ? tensor.to(c10::kFloat)
      : tensor;
}

} // namespace torch_cuda::composites
