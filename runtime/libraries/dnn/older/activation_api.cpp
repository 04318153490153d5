// Activations and softmax.
#include <cmath>

#include "runtime/libraries/dnn/compute/softmax.h"
#include "runtime/libraries/dnn/older/call.h"

namespace accelerator::dnn {

Pointwise pointwise_of(const cudnnActivationStruct& activation) {
  Pointwise function;
  switch (activation.mode) {
    case CUDNN_ACTIVATION_SIGMOID:
      function.mode = CUDNN_POINTWISE_SIGMOID_FWD;
      break;
    case CUDNN_ACTIVATION_RELU:
      function.mode = CUDNN_POINTWISE_RELU_FWD;
      break;
    case CUDNN_ACTIVATION_TANH:
      function.mode = CUDNN_POINTWISE_TANH_FWD;
      break;
    case CUDNN_ACTIVATION_CLIPPED_RELU:
      function.mode = CUDNN_POINTWISE_RELU_FWD;
      function.upper_clip = activation.coefficient;
      break;
    case CUDNN_ACTIVATION_ELU:
      function.mode = CUDNN_POINTWISE_ELU_FWD;
      function.elu_alpha = activation.coefficient;
      break;
    case CUDNN_ACTIVATION_SWISH:
      function.mode = CUDNN_POINTWISE_SWISH_FWD;
      function.swish_beta = activation.swish_beta;
      break;
    case CUDNN_ACTIVATION_IDENTITY:
      function.mode = CUDNN_POINTWISE_IDENTITY;
      break;
  }
  return function;
}

namespace {

/// The gradient dx, of y where that says enough: x may have been overwritten by
/// it.
template <typename T>
Array<T> activation_gradient(
    const cudnnActivationStruct& activation,
    const Array<T>& y,
    const Array<T>& dy,
    const Array<T>& x) {
  const Dims& dims = dy.dims();
  switch (activation.mode) {
    case CUDNN_ACTIVATION_SIGMOID:
      return combine(
          dims, dy, y, [](T gradient, T v) { return gradient * v * (1 - v); });
    case CUDNN_ACTIVATION_TANH:
      return combine(
          dims, dy, y, [](T gradient, T v) { return gradient * (1 - v * v); });
    case CUDNN_ACTIVATION_RELU:
      return combine(
          dims, dy, y, [](T gradient, T v) { return v > 0 ? gradient : T{}; });
    case CUDNN_ACTIVATION_IDENTITY:
      return same(dy);
    default: {
      Pointwise function = pointwise_of(activation);
      // Gradients are numbered as the functions are.
      function.mode = static_cast<cudnnPointwiseMode_t>(
          function.mode - CUDNN_POINTWISE_RELU_FWD + CUDNN_POINTWISE_RELU_BWD);
      return pointwise(function, dims, dy, &x);
    }
  }
}

/// A tensor as rows along which a softmax goes: where each begins, and the
/// distance of its elements.
struct Rows {
  std::int64_t count, length, stride;

  Rows(cudnnSoftmaxMode_t mode, const Dims& dims) {
    const std::int64_t batch = dims[0];
    const std::int64_t all = count_of(dims) / batch;
    if (mode == CUDNN_SOFTMAX_MODE_INSTANCE) {
      count = batch;
      length = all;
      stride = 1;
    } else {
      length = dims[1];
      stride = all / length;
      count = batch * stride;
    }
  }
  std::int64_t begin(std::int64_t row) const {
    return row / stride * length * stride + row % stride;
  }
};

template <typename T>
Array<T> softmax_of(
    cudnnSoftmaxAlgorithm_t algorithm,
    cudnnSoftmaxMode_t mode,
    const Array<T>& x) {
  const Rows rows(mode, x.dims());
  Array<T> result(x.dims());
  T* to = result.writable();
  std::vector<T> gathered(static_cast<std::size_t>(rows.length));
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::int64_t begin = rows.begin(row);
    for (std::int64_t i = 0; i < rows.length; ++i) {
      gathered[i] = x[begin + i * rows.stride];
    }
    const Softmax<T> values =
        softmax(Array<T>({1, rows.length}, gathered.data()));
    const T shift = values.maximum[0] + std::log(values.sum[0]);
    for (std::int64_t i = 0; i < rows.length; ++i) {
      to[begin + i * rows.stride] = algorithm == CUDNN_SOFTMAX_LOG
          ? gathered[i] - shift
          : values.values[i];
    }
  }
  return result;
}

template <typename T>
Array<T> softmax_gradient(
    cudnnSoftmaxAlgorithm_t algorithm,
    cudnnSoftmaxMode_t mode,
    const Array<T>& y,
    const Array<T>& dy) {
  const Rows rows(mode, y.dims());
  Array<T> result(y.dims());
  T* to = result.writable();
  const bool is_log = algorithm == CUDNN_SOFTMAX_LOG;
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::int64_t begin = rows.begin(row);
    double sum = 0;
    for (std::int64_t i = 0; i < rows.length; ++i) {
      const std::int64_t at = begin + i * rows.stride;
      sum += static_cast<double>(is_log ? dy[at] : dy[at] * y[at]);
    }
    for (std::int64_t i = 0; i < rows.length; ++i) {
      const std::int64_t at = begin + i * rows.stride;
      to[at] = is_log ? dy[at] - std::exp(y[at]) * static_cast<T>(sum)
                      : y[at] * (dy[at] - static_cast<T>(sum));
    }
  }
  return result;
}

void require_softmax(
    cudnnSoftmaxAlgorithm_t algorithm,
    cudnnSoftmaxMode_t mode) {
  require_valid(
      algorithm >= CUDNN_SOFTMAX_FAST && algorithm <= CUDNN_SOFTMAX_LOG &&
          (mode == CUDNN_SOFTMAX_MODE_INSTANCE ||
           mode == CUDNN_SOFTMAX_MODE_CHANNEL),
      "the softmax is unknown");
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnCreateActivationDescriptor(
    cudnnActivationDescriptor_t* activation) {
  return create(__func__, activation);
}

cudnnStatus_t cudnnDestroyActivationDescriptor(
    cudnnActivationDescriptor_t activation) {
  return destroy(activation);
}

cudnnStatus_t cudnnSetActivationDescriptor(
    cudnnActivationDescriptor_t activation,
    cudnnActivationMode_t mode,
    cudnnNanPropagation_t nans,
    double coefficient) {
  return guarded(__func__, [&] {
    require_given(activation);
    require_valid(
        mode >= CUDNN_ACTIVATION_SIGMOID && mode <= CUDNN_ACTIVATION_SWISH,
        "the activation is unknown");
    activation->mode = mode;
    activation->nans = nans;
    activation->coefficient = coefficient;
  });
}

cudnnStatus_t cudnnGetActivationDescriptor(
    const cudnnActivationDescriptor_t activation,
    cudnnActivationMode_t* mode,
    cudnnNanPropagation_t* nans,
    double* coefficient) {
  return guarded(__func__, [&] {
    require_given(activation, mode, nans, coefficient);
    *mode = activation->mode;
    *nans = activation->nans;
    *coefficient = activation->coefficient;
  });
}

cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(
    cudnnActivationDescriptor_t activation,
    double beta) {
  return guarded(__func__, [&] {
    require_given(activation);
    activation->swish_beta = beta;
  });
}

cudnnStatus_t cudnnGetActivationDescriptorSwishBeta(
    cudnnActivationDescriptor_t activation,
    double* beta) {
  return guarded(__func__, [&] {
    require_given(activation, beta);
    *beta = activation->swish_beta;
  });
}

cudnnStatus_t cudnnActivationForward(
    cudnnHandle_t handle,
    cudnnActivationDescriptor_t activation,
    const void* alpha,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const void* beta,
    const cudnnTensorDescriptor_t y_tensor,
    void* y) {
  return guarded(__func__, [&] {
    require_given(handle, activation, x_tensor, x, y_tensor, y);
    const Layout& result = y_tensor->layout;
    require_valid(
        x_tensor->layout.dims == result.dims, "x and y differ in size");
    compute(
        "cudnnActivationForward",
        handle,
        {{x_tensor->layout, x}},
        {result, y},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [function = pointwise_of(*activation), dims = result.dims](
            const auto& in) { return pointwise(function, dims, in[0]); });
  });
}

cudnnStatus_t cudnnActivationBackward(
    cudnnHandle_t handle,
    cudnnActivationDescriptor_t activation,
    const void* alpha,
    const cudnnTensorDescriptor_t y_tensor,
    const void* y,
    const cudnnTensorDescriptor_t dy_tensor,
    const void* dy,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const void* beta,
    const cudnnTensorDescriptor_t dx_tensor,
    void* dx) {
  return guarded(__func__, [&] {
    require_given(handle, activation, y_tensor, y, dy_tensor, dy);
    require_given(x_tensor, x, dx_tensor, dx);
    const Layout& result = dx_tensor->layout;
    require_valid(
        y_tensor->layout.dims == result.dims &&
            dy_tensor->layout.dims == result.dims &&
            x_tensor->layout.dims == result.dims,
        "the tensors differ in size");
    compute(
        "cudnnActivationBackward",
        handle,
        {{y_tensor->layout, y}, {dy_tensor->layout, dy}, {x_tensor->layout, x}},
        {result, dx},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [how = *activation](const auto& in) {
          return activation_gradient(how, in[0], in[1], in[2]);
        });
  });
}

cudnnStatus_t cudnnSoftmaxForward(
    cudnnHandle_t handle,
    cudnnSoftmaxAlgorithm_t algorithm,
    cudnnSoftmaxMode_t mode,
    const void* alpha,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const void* beta,
    const cudnnTensorDescriptor_t y_tensor,
    void* y) {
  return guarded(__func__, [&] {
    require_given(handle, x_tensor, x, y_tensor, y);
    require_softmax(algorithm, mode);
    const Layout& result = y_tensor->layout;
    require_valid(
        x_tensor->layout.dims == result.dims, "x and y differ in size");
    compute(
        "cudnnSoftmaxForward",
        handle,
        {{x_tensor->layout, x}},
        {result, y},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [algorithm, mode](const auto& in) {
          return softmax_of(algorithm, mode, in[0]);
        });
  });
}

cudnnStatus_t cudnnSoftmaxBackward(
    cudnnHandle_t handle,
    cudnnSoftmaxAlgorithm_t algorithm,
    cudnnSoftmaxMode_t mode,
    const void* alpha,
    const cudnnTensorDescriptor_t y_tensor,
    const void* y,
    const cudnnTensorDescriptor_t dy_tensor,
    const void* dy,
    const void* beta,
    const cudnnTensorDescriptor_t dx_tensor,
    void* dx) {
  return guarded(__func__, [&] {
    require_given(handle, y_tensor, y, dy_tensor, dy, dx_tensor, dx);
    require_softmax(algorithm, mode);
    const Layout& result = dx_tensor->layout;
    require_valid(
        y_tensor->layout.dims == result.dims &&
            dy_tensor->layout.dims == result.dims,
        "the tensors differ in size");
    compute(
        "cudnnSoftmaxBackward",
        handle,
        {{y_tensor->layout, y}, {dy_tensor->layout, dy}},
        {result, dx},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [algorithm, mode](const auto& in) {
          return softmax_gradient(algorithm, mode, in[0], in[1]);
        });
  });
}

} // extern "C"
