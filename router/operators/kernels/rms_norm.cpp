// The definition: x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich 2019),
// in single precision for half precision, as CUDA's kernel computes.
#include "router/operators/kernels/rms_norm.h"

#include "router/composites/accumulated.h"
#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/optional_tensor.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <array>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::IntArrayRef;
using composites::accumulated;

void check_shapes(
    const Tensor& input,
    IntArrayRef normalized_shape,
    const OptionalTensor& weight) {
  const auto dims = static_cast<int64_t>(normalized_shape.size());
  TORCH_CHECK(
      dims > 0 && input.dim() >= dims &&
          input.sizes().slice(input.dim() - dims) == normalized_shape,
      "_fused_rms_norm: an input of shape ",
      input.sizes(),
      " does not end with normalized_shape ",
      normalized_shape);
  TORCH_CHECK(
      !has(weight) || weight->sizes() == normalized_shape,
      "_fused_rms_norm: a weight of shape ",
      has(weight) ? weight->sizes() : IntArrayRef(),
      " is not of normalized_shape ",
      normalized_shape);
}

std::vector<int64_t> last_dims(size_t count) {
  std::vector<int64_t> dims;
  for (size_t i = count; i > 0; --i) {
    dims.push_back(-static_cast<int64_t>(i));
  }
  return dims;
}

// The smallest step of the numbers that are read.
double default_eps(const Tensor& input) {
  switch (input.scalar_type()) {
    case c10::kDouble:
      return std::numeric_limits<double>::epsilon();
    default:
      // The CUDA kernel computes half precision with single precision's.
      return std::numeric_limits<float>::epsilon();
  }
}

// The result, and 1 / sqrt(mean(x^2) + eps), with dimensions of size 1.
std::tuple<Tensor, Tensor> rms_norm(
    const Tensor& input,
    IntArrayRef normalized_shape,
    const OptionalTensor& weight,
    std::optional<double> eps) {
  check_shapes(input, normalized_shape, weight);
  const auto x = accumulated(input);
  auto inverse = x.square()
                     .mean(last_dims(normalized_shape.size()), /*keepdim=*/true)
                     .add_(eps.value_or(default_eps(input)))
                     .rsqrt_();
  auto result = x.mul(inverse);
  if (has(weight)) {
    result = result.mul(accumulated(*weight));
  }
  return {result.to(input.scalar_type()), inverse};
}

std::tuple<Tensor, Tensor> rms_norm_backward(
    const Tensor& gradient,
    const Tensor& input,
    IntArrayRef normalized_shape,
    const Tensor& inverse,
    const OptionalTensor& weight,
    std::array<bool, 2> wanted) {
  check_shapes(input, normalized_shape, weight);
  const auto dims = last_dims(normalized_shape.size());
  const auto dy = accumulated(gradient);
  const auto normalized = accumulated(input).mul(inverse);
  Tensor of_input;
  if (wanted[0]) {
    const auto slope = has(weight) ? dy.mul(accumulated(*weight)) : dy;
    const auto along = slope.mul(normalized).mean(dims, /*keepdim=*/true);
    of_input =
        slope.sub(normalized.mul(along)).mul_(inverse).to(input.scalar_type());
  }
  Tensor of_weight;
  if (wanted[1] && has(weight)) {
    of_weight = dy.mul(normalized);
    if (input.dim() > weight->dim()) {
      std::vector<int64_t> outer;
      for (int64_t i = 0; i < input.dim() - weight->dim(); ++i) {
        outer.push_back(i);
      }
      of_weight = of_weight.sum(outer);
    }
    of_weight = of_weight.to(weight->scalar_type());
  }
  return {of_input, of_weight};
}

} // namespace

void route_rms_norm() {
  register_function("aten::_fused_rms_norm", "", &rms_norm);
  register_function("aten::_fused_rms_norm_backward", "", &rms_norm_backward);
}

} // namespace torch_cuda::operators
