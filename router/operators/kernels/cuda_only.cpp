// Definitions in terms of other operators.
#include "router/operators/kernels/cuda_only.h"

#include "router/composites/accumulated.h"
#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/optional_tensor.h"
#include "router/operators/kernels/out.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/nansum.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/var_mean.h>
#include <c10/util/Exception.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using composites::accumulated;

// `p` is how much is kept.
std::tuple<Tensor, Tensor> fused_dropout(
    const Tensor& input,
    double p,
    std::optional<at::Generator> generator) {
  auto mask = at::empty_like(input, input.options().dtype(c10::kByte))
                  .bernoulli_(p, std::move(generator));
  return {input.mul(mask).mul_(1. / p), mask};
}

Tensor masked_scale(const Tensor& input, const Tensor& mask, double scale) {
  return input.mul(mask.to(input.scalar_type())).mul_(scale);
}

// Channels are the second dimension.
std::vector<int64_t> all_but_channels(const Tensor& input) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < input.dim(); ++i) {
    if (i != 1) {
      dims.push_back(i);
    }
  }
  return dims;
}

Tensor by_channel(const Tensor& values, const Tensor& input) {
  std::vector<int64_t> sizes(input.dim(), 1);
  sizes.at(1) = input.size(1);
  return values.reshape(sizes);
}

std::tuple<Tensor, Tensor> batch_norm_stats(const Tensor& input, double eps) {
  auto [variance, mean] = at::var_mean(
      accumulated(input), all_but_channels(input), /*unbiased=*/false);
  return {mean, variance.add(eps).rsqrt()};
}

Tensor batch_norm_elemt(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const Tensor& mean,
    const Tensor& invstd,
    double /*eps*/) {
  auto result = accumulated(input)
                    .sub(by_channel(mean, input))
                    .mul_(by_channel(invstd, input));
  if (has(weight)) {
    result.mul_(by_channel(*weight, input));
  }
  if (has(bias)) {
    result.add_(by_channel(*bias, input));
  }
  return result.to(input.scalar_type());
}

Tensor& batch_norm_elemt_out(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const Tensor& mean,
    const Tensor& invstd,
    double eps,
    Tensor& out) {
  return resize_and_copy(
      out, batch_norm_elemt(input, weight, bias, mean, invstd, eps));
}

void move_on(const OptionalTensor& running, const Tensor& value, double share) {
  if (has(running)) {
    running->mul_(1 - share).add_(value.to(running->scalar_type()), share);
  }
}

// Of several parts of a batch, one row each.
std::tuple<Tensor, Tensor> batch_norm_gather_stats_with_counts(
    const Tensor& /*input*/,
    const Tensor& means,
    const Tensor& invstds,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    double momentum,
    double eps,
    const Tensor& counts) {
  const auto weights = counts.to(means.scalar_type()).reshape({-1, 1});
  const auto count = weights.sum();
  const auto mean = means.mul(weights).sum(0).div_(count);
  const auto squares = invstds.pow(-2).sub_(eps).add_(means.sub(mean).square());
  const auto sum = squares.mul_(weights).sum(0);
  move_on(running_mean, mean, momentum);
  move_on(running_var, sum.div(count.sub(1)), momentum);
  return {mean, sum.div(count).add_(eps).rsqrt()};
}

std::tuple<Tensor, Tensor> batch_norm_gather_stats(
    const Tensor& input,
    const Tensor& means,
    const Tensor& invstds,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    double momentum,
    double eps,
    int64_t count) {
  const auto counts = at::empty_like(means.select(1, 0)).fill_(count);
  return batch_norm_gather_stats_with_counts(
      input, means, invstds, running_mean, running_var, momentum, eps, counts);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_backward_reduce(
    const Tensor& gradient,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& invstd,
    const OptionalTensor& weight,
    bool input_g,
    bool weight_g,
    bool bias_g) {
  const auto dims = all_but_channels(input);
  const auto type =
      has(weight) ? weight->scalar_type() : gradient.scalar_type();
  const auto dy = accumulated(gradient);
  const auto sum = dy.sum(dims);
  const auto sum_of_products =
      dy.mul(accumulated(input).sub(by_channel(mean, input))).sum(dims);
  return {
      input_g ? sum : Tensor(),
      input_g ? sum_of_products : Tensor(),
      weight_g ? sum_of_products.mul(invstd).to(type) : Tensor(),
      bias_g ? sum.to(type, /*non_blocking=*/false, /*copy=*/true) : Tensor()};
}

Tensor batch_norm_backward_elemt(
    const Tensor& gradient,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& invstd,
    const OptionalTensor& weight,
    const Tensor& sum_dy,
    const Tensor& sum_dy_xmu,
    const Tensor& counts) {
  const auto count = counts.sum().to(mean.scalar_type());
  const auto centered = accumulated(input).sub(by_channel(mean, input));
  const auto slope = sum_dy_xmu.div(count).mul_(invstd.square());
  auto result = accumulated(gradient)
                    .sub(by_channel(sum_dy.div(count), input))
                    .sub_(centered.mul_(by_channel(slope, input)))
                    .mul_(by_channel(invstd, input));
  if (has(weight)) {
    result.mul_(by_channel(*weight, input));
  }
  return result.to(input.scalar_type());
}

// Upstream's composite calls a CUDA kernel past the dispatcher.
Tensor& nanmean_out(
    const Tensor& self,
    at::OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<c10::ScalarType> type,
    Tensor& out) {
  TORCH_CHECK(
      self.is_floating_point() || self.is_complex(),
      "nanmean(): expected input to have floating point or complex dtype but "
      "got ",
      self.scalar_type());
  const auto count = self.isnan().logical_not_().sum(dim, keepdim);
  return at::nansum_out(out, self, dim, keepdim, type).div_(count);
}

} // namespace

void route_cuda_only() {
  register_function("aten::_fused_dropout", "", &fused_dropout);
  register_function("aten::_masked_scale", "", &masked_scale);
  register_function("aten::batch_norm_stats", "", &batch_norm_stats);
  register_function("aten::batch_norm_elemt", "", &batch_norm_elemt);
  register_function("aten::batch_norm_elemt", "out", &batch_norm_elemt_out);
  register_function(
      "aten::batch_norm_gather_stats", "", &batch_norm_gather_stats);
  register_function(
      "aten::batch_norm_gather_stats_with_counts",
      "",
      &batch_norm_gather_stats_with_counts);
  register_function(
      "aten::batch_norm_backward_reduce", "", &batch_norm_backward_reduce);
  register_function(
      "aten::batch_norm_backward_elemt", "", &batch_norm_backward_elemt);
  register_function("aten::nanmean", "out", &nanmean_out);
}

} // namespace torch_cuda::operators
