// What the operators of fused attention share: what they refuse, and what they
// return where a kernel would return its own state.
#pragma once

#include "accelerator/operators/kernels/attention/definition.h"
#include "accelerator/operators/kernels/optional_tensor.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <optional>

namespace torch_cuda::operators::attention {

using at::Tensor;

inline double scale_of(const Tensor& query, std::optional<double> scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

inline void refuse_dropout(const char* name, double dropout) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      dropout == 0,
      name,
      " with dropout: its random numbers are those of PyTorch's CUDA kernel, "
      "which this device does not run. Needed is dropout_p=0, or "
      "torch.nn.functional.scaled_dot_product_attention.");
}

inline void refuse(
    const char* name,
    const char* what,
    const OptionalTensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !has(tensor),
      name,
      " with ",
      what,
      ": only PyTorch's CUDA kernel computes it, which this device does not "
      "run.");
}

inline Sight causal(bool is_causal, bool from_the_end) {
  return is_causal ? Sight{std::nullopt, 0, from_the_end} : Sight{};
}

inline Tensor no_random_state(const Tensor& like) {
  return at::zeros({2}, like.options().dtype(c10::kLong));
}

inline Tensor nothing(const Tensor& like) {
  return at::empty({0}, like.options());
}

// What was added may have been one row for many.
inline Tensor reduced_to(const Tensor& gradient, const Tensor& like) {
  return gradient.sum_to_size(like.sizes()).to(like.scalar_type());
}

// A result in memory as the kernels write theirs, and as PyTorch's functions
// without data (meta) say of it: like the tensor of [batch, length, heads,
// size] that `like` is a view of.
inline Tensor laid_out(const Tensor& result, const Tensor& like) {
  auto target = at::empty_like(like.transpose(1, 2)).transpose(1, 2);
  return result.strides() == target.strides() ? result : target.copy_(result);
}

} // namespace torch_cuda::operators::attention
