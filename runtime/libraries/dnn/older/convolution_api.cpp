// Convolutions of the older API.
#include "runtime/libraries/dnn/compute/reduction.h"
#include "runtime/libraries/dnn/older/convolution_shape.h"

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnConvolutionForward(
    cudnnHandle_t handle,
    const void* alpha,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const cudnnFilterDescriptor_t w_tensor,
    const void* w,
    const cudnnConvolutionDescriptor_t how,
    cudnnConvolutionFwdAlgo_t,
    void*,
    std::size_t,
    const void* beta,
    const cudnnTensorDescriptor_t y_tensor,
    void* y) {
  return guarded(__func__, [&] {
    require_given(handle, x_tensor, x, w_tensor, w, how, y_tensor, y);
    const Layout& result = y_tensor->layout;
    const Convolution shape =
        shape_of(*how, x_tensor->layout, w_tensor->layout, result);
    compute(
        "cudnnConvolutionForward",
        handle,
        {{x_tensor->layout, x}, {w_tensor->layout, w}},
        {result, y},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [shape, dims = result.dims](const auto& in) {
          return convolve(shape, in[0], in[1], dims);
        });
  });
}

cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t handle,
    const void* alpha,
    const cudnnFilterDescriptor_t w_tensor,
    const void* w,
    const cudnnTensorDescriptor_t dy_tensor,
    const void* dy,
    const cudnnConvolutionDescriptor_t how,
    cudnnConvolutionBwdDataAlgo_t,
    void*,
    std::size_t,
    const void* beta,
    const cudnnTensorDescriptor_t dx_tensor,
    void* dx) {
  return guarded(__func__, [&] {
    require_given(handle, w_tensor, w, dy_tensor, dy, how, dx_tensor, dx);
    const Layout& result = dx_tensor->layout;
    const Convolution shape =
        shape_of(*how, result, w_tensor->layout, dy_tensor->layout);
    compute(
        "cudnnConvolutionBackwardData",
        handle,
        {{dy_tensor->layout, dy}, {w_tensor->layout, w}},
        {result, dx},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [shape, dims = result.dims](const auto& in) {
          return convolve_backward_data(shape, in[0], in[1], dims);
        });
  });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle,
    const void* alpha,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const cudnnTensorDescriptor_t dy_tensor,
    const void* dy,
    const cudnnConvolutionDescriptor_t how,
    cudnnConvolutionBwdFilterAlgo_t,
    void*,
    std::size_t,
    const void* beta,
    const cudnnFilterDescriptor_t dw_tensor,
    void* dw) {
  return guarded(__func__, [&] {
    require_given(handle, x_tensor, x, dy_tensor, dy, how, dw_tensor, dw);
    const Layout& result = dw_tensor->layout;
    const Convolution shape =
        shape_of(*how, x_tensor->layout, result, dy_tensor->layout);
    compute(
        "cudnnConvolutionBackwardFilter",
        handle,
        {{x_tensor->layout, x}, {dy_tensor->layout, dy}},
        {result, dw},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [shape, dims = result.dims](const auto& in) {
          return convolve_backward_filter(shape, in[0], in[1], dims);
        });
  });
}

cudnnStatus_t cudnnConvolutionBackwardBias(
    cudnnHandle_t handle,
    const void* alpha,
    const cudnnTensorDescriptor_t dy_tensor,
    const void* dy,
    const void* beta,
    const cudnnTensorDescriptor_t db_tensor,
    void* db) {
  return guarded(__func__, [&] {
    require_given(handle, dy_tensor, dy, db_tensor, db);
    const Layout& result = db_tensor->layout;
    Dims wanted(dy_tensor->layout.dims.size(), 1);
    require_known(dy_tensor->layout);
    wanted[1] = dy_tensor->layout.dims[1];
    require_valid(
        result.dims == wanted, "a bias has one element for each channel");
    compute(
        "cudnnConvolutionBackwardBias",
        handle,
        {{dy_tensor->layout, dy}},
        {result, db},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [wanted](const auto& in) {
          return reduce(CUDNN_REDUCE_TENSOR_ADD, in[0], wanted);
        });
  });
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle,
    const void* alpha1,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const cudnnFilterDescriptor_t w_tensor,
    const void* w,
    const cudnnConvolutionDescriptor_t how,
    cudnnConvolutionFwdAlgo_t,
    void*,
    std::size_t,
    const void* alpha2,
    const cudnnTensorDescriptor_t z_tensor,
    const void* z,
    const cudnnTensorDescriptor_t bias_tensor,
    const void* bias,
    const cudnnActivationDescriptor_t activation,
    const cudnnTensorDescriptor_t y_tensor,
    void* y) {
  return guarded(__func__, [&] {
    require_given(handle, x_tensor, x, w_tensor, w, how, z_tensor, z);
    require_given(bias_tensor, bias, activation, y_tensor, y);
    require_supported(
        activation->mode == CUDNN_ACTIVATION_RELU ||
            activation->mode == CUDNN_ACTIVATION_IDENTITY,
        "this activation is not supported here");
    const Layout& result = y_tensor->layout;
    const Convolution shape =
        shape_of(*how, x_tensor->layout, w_tensor->layout, result);
    Dims wanted(result.dims.size(), 1);
    wanted[1] = result.dims[1];
    require_valid(
        bias_tensor->layout.dims == wanted &&
            z_tensor->layout.dims == result.dims,
        "the bias or z does not fit the result");
    const double first = scalar(alpha1, result.type);
    const double second = scalar(alpha2, result.type);
    compute(
        "cudnnConvolutionBiasActivationForward",
        handle,
        {{x_tensor->layout, x},
         {w_tensor->layout, w},
         {bias_tensor->layout, bias},
         {z_tensor->layout, z, second != 0}},
        {result, y},
        1,
        0,
        [=, dims = result.dims, function = pointwise_of(*activation)](
            const auto& in) {
          using T = ElementOf<decltype(in)>;
          Array<T> sum = combine(
              dims,
              convolve(shape, in[0], in[1], dims),
              in[2],
              [first](T a, T b) { return static_cast<T>(first) * a + b; });
          if (second != 0) {
            sum = combine(dims, sum, in[3], [second](T a, T b) {
              return a + static_cast<T>(second) * b;
            });
          }
          return pointwise(function, dims, sum);
        });
  });
}

} // extern "C"
