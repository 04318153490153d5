// Pooling of the older API.
#include "runtime/libraries/dnn/compute/pooling.h"

#include <algorithm>

#include "runtime/libraries/dnn/older/call.h"

namespace accelerator::dnn {
namespace {

bool is_maximum(cudnnPoolingMode_t mode) {
  return mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC;
}

Dims output_of(const cudnnPoolingStruct& how, const Layout& x) {
  require_valid(
      x.dims.size() == how.window.size() + 2,
      "the pooling and its tensor differ in dimensions");
  Dims dims{x.dims[0], x.dims[1]};
  for (std::size_t i = 0; i < how.window.size(); ++i) {
    dims.push_back(
        1 +
        (x.dims[i + 2] + 2 * how.paddings[i] - how.window[i]) / how.strides[i]);
  }
  return dims;
}

Pooling shape_of(
    const cudnnPoolingStruct& how,
    const Layout& x,
    const Layout& y) {
  require_known(x);
  require_known(y);
  const Dims wanted = output_of(how, x);
  // A program may have rounded up: windows may reach beyond the padding.
  require_valid(wanted.size() == y.dims.size(), "x and y differ in dimensions");
  return Pooling::of(
      is_maximum(how.mode) ? Pooling::Kind::kMaximum
          : how.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
          ? Pooling::Kind::kAverageWithPadding
          : Pooling::Kind::kAverageWithoutPadding,
      x.dims,
      y.dims,
      how.window,
      how.strides,
      how.paddings);
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* how) {
  return create(__func__, how);
}

cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t how) {
  return destroy(how);
}

cudnnStatus_t cudnnSetPoolingNdDescriptor(
    cudnnPoolingDescriptor_t how,
    const cudnnPoolingMode_t mode,
    const cudnnNanPropagation_t nans,
    int rank,
    const int window[],
    const int paddings[],
    const int strides[]) {
  return guarded(__func__, [&] {
    require_given(how, window, paddings, strides);
    require_valid(
        mode >= CUDNN_POOLING_MAX && mode <= CUDNN_POOLING_MAX_DETERMINISTIC,
        "the mode is unknown");
    require_valid(
        rank > 0 && rank <= CUDNN_DIM_MAX - 2,
        "the number of dimensions is none that a pooling has");
    for (int i = 0; i < rank; ++i) {
      require_valid(window[i] > 0, "a window is empty");
      require_valid(strides[i] > 0, "a stride is not positive");
    }
    how->mode = mode;
    how->nans = nans;
    how->window = dims_of(window, rank);
    how->paddings = dims_of(paddings, rank);
    how->strides = dims_of(strides, rank);
  });
}

cudnnStatus_t cudnnSetPooling2dDescriptor(
    cudnnPoolingDescriptor_t how,
    cudnnPoolingMode_t mode,
    cudnnNanPropagation_t nans,
    int window_height,
    int window_width,
    int vertical_padding,
    int horizontal_padding,
    int vertical_stride,
    int horizontal_stride) {
  const int window[] = {window_height, window_width};
  const int paddings[] = {vertical_padding, horizontal_padding};
  const int strides[] = {vertical_stride, horizontal_stride};
  return cudnnSetPoolingNdDescriptor(
      how, mode, nans, 2, window, paddings, strides);
}

cudnnStatus_t cudnnGetPoolingNdDescriptor(
    const cudnnPoolingDescriptor_t how,
    int most,
    cudnnPoolingMode_t* mode,
    cudnnNanPropagation_t* nans,
    int* rank,
    int window[],
    int paddings[],
    int strides[]) {
  return guarded(__func__, [&] {
    require_given(how, mode, nans, rank, window, paddings, strides);
    *mode = how->mode;
    *nans = how->nans;
    *rank = static_cast<int>(how->window.size());
    for (int i = 0; i < std::min(most, *rank); ++i) {
      window[i] = static_cast<int>(how->window[i]);
      paddings[i] = static_cast<int>(how->paddings[i]);
      strides[i] = static_cast<int>(how->strides[i]);
    }
  });
}

cudnnStatus_t cudnnGetPooling2dDescriptor(
    const cudnnPoolingDescriptor_t how,
    cudnnPoolingMode_t* mode,
    cudnnNanPropagation_t* nans,
    int* window_height,
    int* window_width,
    int* vertical_padding,
    int* horizontal_padding,
    int* vertical_stride,
    int* horizontal_stride) {
  return guarded(__func__, [&] {
    require_given(how, mode, nans, window_height, window_width);
    require_given(
        vertical_padding,
        horizontal_padding,
        vertical_stride,
        horizontal_stride);
    require_valid(how->window.size() == 2, "the dimensions are not two");
    *mode = how->mode;
    *nans = how->nans;
    *window_height = static_cast<int>(how->window[0]);
    *window_width = static_cast<int>(how->window[1]);
    *vertical_padding = static_cast<int>(how->paddings[0]);
    *horizontal_padding = static_cast<int>(how->paddings[1]);
    *vertical_stride = static_cast<int>(how->strides[0]);
    *horizontal_stride = static_cast<int>(how->strides[1]);
  });
}

cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(
    const cudnnPoolingDescriptor_t how,
    const cudnnTensorDescriptor_t x,
    int rank,
    int dims[]) {
  return guarded(__func__, [&] {
    require_given(how, x, dims);
    const Dims result = output_of(*how, x->layout);
    require_valid(
        rank == static_cast<int>(result.size()),
        "the number of dimensions is another one");
    std::transform(result.begin(), result.end(), dims, [](std::int64_t value) {
      return static_cast<int>(value);
    });
  });
}

cudnnStatus_t cudnnGetPooling2dForwardOutputDim(
    const cudnnPoolingDescriptor_t how,
    const cudnnTensorDescriptor_t x,
    int* n,
    int* c,
    int* h,
    int* w) {
  return guarded(__func__, [&] {
    require_given(n, c, h, w);
    int dims[4] = {};
    const cudnnStatus_t status =
        cudnnGetPoolingNdForwardOutputDim(how, x, 4, dims);
    require(status == CUDNN_STATUS_SUCCESS, status, "the tensor does not fit");
    *n = dims[0];
    *c = dims[1];
    *h = dims[2];
    *w = dims[3];
  });
}

cudnnStatus_t cudnnPoolingForward(
    cudnnHandle_t handle,
    const cudnnPoolingDescriptor_t how,
    const void* alpha,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const void* beta,
    const cudnnTensorDescriptor_t y_tensor,
    void* y) {
  return guarded(__func__, [&] {
    require_given(handle, how, x_tensor, x, y_tensor, y);
    const Layout& result = y_tensor->layout;
    const Pooling shape = shape_of(*how, x_tensor->layout, result);
    compute(
        "cudnnPoolingForward",
        handle,
        {{x_tensor->layout, x}},
        {result, y},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [shape, dims = result.dims](const auto& in) {
          return pool(shape, in[0], dims);
        });
  });
}

cudnnStatus_t cudnnPoolingBackward(
    cudnnHandle_t handle,
    const cudnnPoolingDescriptor_t how,
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
    require_given(handle, how, dy_tensor, dy, dx_tensor, dx);
    const Layout& result = dx_tensor->layout;
    const Layout& gradient = dy_tensor->layout;
    const Pooling shape = shape_of(*how, result, gradient);
    const bool needs_x = is_maximum(how->mode);
    std::vector<Operand> operands{{gradient, dy}};
    if (needs_x) {
      require_given(y_tensor, y, x_tensor, x);
      require_valid(
          x_tensor->layout.dims == result.dims &&
              y_tensor->layout.dims == gradient.dims,
          "the tensors differ in size");
      operands.push_back({x_tensor->layout, x});
    }
    compute(
        "cudnnPoolingBackward",
        handle,
        std::move(operands),
        {result, dx},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [shape, needs_x, dims = result.dims, outputs = gradient.dims](
            const auto& in) {
          using T = ElementOf<decltype(in)>;
          Array<T> places;
          if (needs_x) {
            pool(shape, in[1], outputs, &places);
          }
          return pool_backward(shape, in[0], &places, dims);
        });
  });
}

} // extern "C"
