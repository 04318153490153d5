// What the operators of fused attention share: what they refuse, and what they
// return where a kernel would return its own state.
#pragma once

#include "router/operators/kernels/attention/definition.h"
#include "router/operators/kernels/optional_tensor.h"

#include <ATen/DimVector.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
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

// Where dropout would have drawn its numbers: the seed and the offset.
struct RandomState {
  Tensor seed;
  Tensor offset;
};

// Nothing was drawn. Compilers check the sizes and types of what is returned.
inline RandomState no_random_state(const Tensor& like) {
  const auto options = like.options().dtype(c10::kLong);
  return {at::zeros({}, options), at::zeros({}, options)};
}

inline RandomState no_random_state_of_flash(const Tensor& like) {
  const auto options = like.options().dtype(c10::kUInt64);
  return {at::zeros({2}, options), at::zeros({}, options)};
}

// The logarithms of sums as memory-efficient kernels leave them: rows of a
// multiple of 32, or none.
inline Tensor padded_log_sums(const Tensor& log_sums, bool wanted) {
  constexpr int64_t kMultiple = 32;
  if (!wanted) {
    return log_sums.slice(2, 0, 0).contiguous();
  }
  const int64_t rest = log_sums.size(2) % kMultiple;
  return rest == 0 ? log_sums.contiguous()
                   : at::constant_pad_nd(
                         log_sums,
                         {0, kMultiple - rest},
                         std::numeric_limits<double>::infinity());
}

inline Tensor nothing(const Tensor& like) {
  return at::empty({0}, like.options());
}

// The gradient of what was added to scores, which may have been one row for
// many. Memory-efficient kernels write rows of a multiple of 16.
inline Tensor gradient_of_bias(const Tensor& of_scores, const Tensor& bias) {
  constexpr int64_t kMultiple = 16;
  const auto reduced = of_scores.sum_to_size(bias.sizes());
  auto sizes = at::DimVector(bias.sizes());
  sizes.back() = (sizes.back() + kMultiple - 1) / kMultiple * kMultiple;
  return at::empty(sizes, bias.options())
      .narrow(-1, 0, bias.size(-1))
      .copy_(reduced);
}

// [batch, heads, length, size] with the lengths before the heads in memory, as
// memory-efficient kernels write it.
inline Tensor lengths_before_heads(const Tensor& result) {
  return result.transpose(1, 2).contiguous().transpose(1, 2);
}

// A result in memory as the kernels write theirs, and as PyTorch's functions
// without data (meta) say of it: like the tensor of [batch, length, heads,
// size] that `like` is a view of.
inline Tensor laid_out(const Tensor& result, const Tensor& like) {
  if (result.sizes() != like.sizes()) { // heads of values of another size
    auto order = at::DimVector(like.dim());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return like.stride(a) > like.stride(b);
    });
    auto back = at::DimVector(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      back[order[i]] = static_cast<int64_t>(i);
    }
    return result.permute(order).contiguous().permute(back);
  }
  auto target = at::empty_like(like.transpose(1, 2)).transpose(1, 2);
  return result.strides() == target.strides() ? result : target.copy_(result);
}

} // namespace torch_cuda::operators::attention
