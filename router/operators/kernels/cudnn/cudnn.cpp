// Definitions in terms of PyTorch's operators without cuDNN.
#include "router/operators/kernels/cudnn/cudnn.h"

#include "router/aliasing/torch_versions.h"
#include "router/operators/calls/nondeterminism.h"
#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/optional_tensor.h"
#include "router/operators/kernels/out.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/affine_grid_generator.h>
#include <ATen/ops/affine_grid_generator_backward.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/grid_sampler_2d.h>
#include <ATen/ops/grid_sampler_2d_backward.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>

#include <optional>
#include <tuple>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::IntArrayRef;

// cuDNN samples between corners, with zeros around.
constexpr int64_t kBilinear = 0;
constexpr int64_t kZeros = 0;
constexpr bool kCorners = true;

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training,
    double momentum,
    double eps) {
  auto [result, mean, inverse_deviation] = at::native_batch_norm(
      input, weight, bias, running_mean, running_var, training, momentum, eps);
  // What cuDNN keeps for its backward pass.
  auto reserve = at::empty({0}, input.options().dtype(c10::kByte));
  return {result, mean, inverse_deviation, reserve};
}

using FourResults = std::tuple<Tensor&, Tensor&, Tensor&, Tensor&>;

FourResults batch_norm_out(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training,
    double momentum,
    double eps,
    Tensor& out0,
    Tensor& out1,
    Tensor& out2,
    Tensor& out3) {
  const auto [result, mean, inverse_deviation, reserve] = batch_norm(
      input, weight, bias, running_mean, running_var, training, momentum, eps);
  resize_and_copy(out0, result);
  resize_and_copy(out1, mean);
  resize_and_copy(out2, inverse_deviation);
  resize_and_copy(out3, reserve);
  return {out0, out1, out2, out3};
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(
    const Tensor& input,
    const Tensor& gradient,
    const Tensor& weight,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    const OptionalTensor& mean,
    const OptionalTensor& inverse_deviation,
    double eps,
    const Tensor& /*reserve*/) {
  return at::native_batch_norm_backward(
      gradient,
      input,
      weight,
      running_mean,
      running_var,
      mean,
      inverse_deviation,
      /*train=*/true,
      eps,
      {true, true, true});
}

// Every form of one that is not transposed.
Tensor any_convolution(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return at::convolution(
      input,
      weight,
      bias,
      stride,
      padding,
      dilation,
      /*transposed=*/false,
      std::vector<int64_t>(stride.size(), 0),
      groups);
}

Tensor convolution(
    const Tensor& input,
    const Tensor& weight,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups,
    bool /*benchmark*/,
    bool /*deterministic*/,
    bool /*allow_tf32*/) {
  return any_convolution(
      input, weight, /*bias=*/{}, stride, padding, dilation, groups);
}

Tensor& convolution_out(
    const Tensor& input,
    const Tensor& weight,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups,
    bool /*benchmark*/,
    bool /*deterministic*/,
    bool /*allow_tf32*/,
    Tensor& out) {
  return resize_and_copy(
      out,
      any_convolution(
          input, weight, /*bias=*/{}, stride, padding, dilation, groups));
}

// One filter a channel, or several: PyTorch's own, where cuDNN is switched off.
Tensor convolution_of_channels(
    const Tensor& input,
    const Tensor& weight,
    IntArrayRef /*kernel_size*/,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation) {
  return any_convolution(
      input, weight, bias, stride, padding, dilation, input.size(1));
}

const Tensor& convolution_of_channels_out(
    const Tensor& input,
    const Tensor& weight,
    IntArrayRef /*kernel_size*/,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    const Tensor& out) {
  return resize_and_copy(
      out,
      any_convolution(
          input, weight, bias, stride, padding, dilation, input.size(1)));
}

Tensor convolution_transpose(
    const Tensor& input,
    const Tensor& weight,
    IntArrayRef padding,
    IntArrayRef output_padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups,
    bool /*benchmark*/,
    bool /*deterministic*/,
    bool /*allow_tf32*/) {
  return at::convolution(
      input,
      weight,
      /*bias=*/{},
      stride,
      padding,
      dilation,
      /*transposed=*/true,
      output_padding,
      groups);
}

Tensor convolution_relu(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return any_convolution(input, weight, bias, stride, padding, dilation, groups)
      .relu_();
}

Tensor convolution_add_relu(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& addend,
    const std::optional<c10::Scalar>& alpha,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return any_convolution(input, weight, bias, stride, padding, dilation, groups)
      .add_(addend, alpha.value_or(1))
      .relu_();
}

Tensor grid_sampler(const Tensor& input, const Tensor& grid) {
  return at::grid_sampler_2d(input, grid, kBilinear, kZeros, kCorners);
}

std::tuple<Tensor, Tensor> grid_sampler_backward(
    const Tensor& input,
    const Tensor& grid,
    const Tensor& gradient) {
#if TORCH_CUDA_TORCH_SINCE(13)
  at::Context::alertNotDeterministic("cudnn_grid_sampler_backward");
#endif
  const WithoutAlerts all_said;
  return at::grid_sampler_2d_backward(
      gradient, input, grid, kBilinear, kZeros, kCorners, {true, true});
}

Tensor affine_grid(
    const Tensor& theta,
    int64_t n,
    int64_t c,
    int64_t h,
    int64_t w) {
  return at::affine_grid_generator(theta, {n, c, h, w}, kCorners);
}

Tensor affine_grid_backward(
    const Tensor& gradient,
    int64_t n,
    int64_t c,
    int64_t h,
    int64_t w) {
  return at::affine_grid_generator_backward(gradient, {n, c, h, w}, kCorners);
}

// Recurrent networks then take the cells.
bool is_acceptable(const Tensor& /*tensor*/) {
  return false;
}

} // namespace

void route_cudnn() {
  register_function("aten::cudnn_is_acceptable", "", &is_acceptable);
  register_function("aten::cudnn_batch_norm", "", &batch_norm);
  register_function("aten::cudnn_batch_norm", "out", &batch_norm_out);
  register_function(
      "aten::cudnn_batch_norm_backward", "", &batch_norm_backward);
  register_function("aten::_conv_depthwise2d", "", &convolution_of_channels);
  register_function(
      "aten::_conv_depthwise2d", "out", &convolution_of_channels_out);
  register_function("aten::conv_depthwise3d", "", &convolution_of_channels);
  register_function("aten::cudnn_convolution", "", &convolution);
  register_function("aten::cudnn_convolution", "out", &convolution_out);
  register_function(
      "aten::cudnn_convolution_transpose", "", &convolution_transpose);
  register_function("aten::cudnn_convolution_relu", "", &convolution_relu);
  register_function(
      "aten::cudnn_convolution_add_relu", "", &convolution_add_relu);
  register_function("aten::cudnn_grid_sampler", "", &grid_sampler);
  register_function(
      "aten::cudnn_grid_sampler_backward", "", &grid_sampler_backward);
  register_function("aten::cudnn_affine_grid_generator", "", &affine_grid);
  register_function(
      "aten::cudnn_affine_grid_generator_backward", "", &affine_grid_backward);
}

} // namespace torch_cuda::operators
