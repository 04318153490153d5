// Definitions in terms of other operators.
#include "router/composites/dropout.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>
#include <c10/util/Exception.h>

#include <utility>

namespace torch_cuda::composites {
namespace {

using at::Tensor;

// The CPU divides what it multiplies with by what is kept.
Tensor noise(const Tensor& mask, c10::ScalarType type, double kept) {
  auto factors = mask.to(type, /*non_blocking=*/false, /*copy=*/true);
  return kept == 0 ? factors : factors.div_(kept);
}

} // namespace

std::tuple<Tensor, Tensor> native_dropout(
    const Tensor& input,
    double p,
    std::optional<bool> train) {
  const auto flags = input.options().dtype(c10::kBool);
  if (input.numel() == 0) {
    return {input, at::empty_like(input, input.options())};
  }
  if (train.has_value() && !*train) {
    return {input.clone(), at::ones_like(input, flags)};
  }
  TORCH_CHECK(
      p >= 0 && p <= 1,
      "dropout probability has to be between 0 and 1, but got ",
      p);
  TORCH_CHECK(
      input.is_floating_point(),
      "dropout needs floating point numbers, but got ",
      input.scalar_type());
  const double kept = 1. - p;
  auto mask = at::empty_like(input, flags).bernoulli_(kept);
  auto result = input.mul(noise(mask, input.scalar_type(), kept));
  return {std::move(result), std::move(mask)};
}

Tensor native_dropout_backward(
    const Tensor& gradient,
    const Tensor& mask,
    double scale) {
  if (scale == 0 || !gradient.is_floating_point()) {
    return gradient.mul(mask).mul(scale);
  }
  return gradient.mul(noise(mask, gradient.scalar_type(), 1. / scale));
}

} // namespace torch_cuda::composites
