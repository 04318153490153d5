// Takes the place of native/cuda/RowwiseScaledMM.cu in builds whose op profile
// leaves it out. Blas.cpp, which every profile with a matrix product has,
// refers to its one function from _scaled_mm alone; such a profile does not
// register _scaled_mm, so nothing reaches this but code that calls it directly.

#include <ATen/core/Tensor.h>
#include <ATen/native/cuda/RowwiseScaledMM.h>
#include <c10/util/Exception.h>

namespace at::cuda::detail {

void f8f8bf16_rowwise(
    at::Tensor /*XQ*/,
    at::Tensor /*WQ*/,
    at::Tensor /*x_scale*/,
    at::Tensor /*w_scale*/,
    std::optional<at::Tensor> /*bias*/,
    bool /*use_fast_accum*/,
    at::Tensor& /*out*/) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      "f8f8bf16_rowwise: this build's op profile leaves out "
      "native/cuda/RowwiseScaledMM.cu; build with --//config:ops=full or a "
      "profile that has it");
}

} // namespace at::cuda::detail
