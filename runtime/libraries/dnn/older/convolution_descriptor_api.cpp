// Descriptors of convolutions.
#include <algorithm>

#include "runtime/libraries/dnn/compute/convolution.h"
#include "runtime/libraries/dnn/older/descriptors.h"

namespace accelerator::dnn {
namespace {

/// What a convolution gives for an input and a filter.
Dims output_of(
    const cudnnConvolutionStruct& how,
    const Layout& x,
    const Layout& w) {
  require_valid(
      x.dims.size() == how.strides.size() + 2 && x.dims.size() == w.dims.size(),
      "the convolution and its tensors differ in dimensions");
  require_valid(
      x.dims[1] == how.groups * w.dims[1],
      "the channels of x are not those of the filter's groups");
  Dims dims{x.dims[0], w.dims[0]};
  for (std::size_t i = 0; i < how.strides.size(); ++i) {
    dims.push_back(convolved_size(
        x.dims[i + 2],
        w.dims[i + 2],
        how.strides[i],
        how.dilations[i],
        2 * how.paddings[i]));
  }
  return dims;
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnCreateConvolutionDescriptor(
    cudnnConvolutionDescriptor_t* how) {
  return create(__func__, how);
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(
    cudnnConvolutionDescriptor_t how) {
  return destroy(how);
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(
    cudnnConvolutionDescriptor_t how,
    int rank,
    const int paddings[],
    const int strides[],
    const int dilations[],
    cudnnConvolutionMode_t mode,
    cudnnDataType_t type) {
  return guarded(__func__, [&] {
    require_given(how, paddings, strides, dilations);
    require_valid(rank >= 0, "the number of dimensions is negative");
    require_supported(
        rank <= CUDNN_DIM_MAX - 2, "there are too many dimensions");
    for (int i = 0; i < rank; ++i) {
      require_valid(paddings[i] >= 0, "a padding is negative");
      require_valid(strides[i] > 0, "a stride is not positive");
      require_valid(dilations[i] > 0, "a dilation is not positive");
    }
    require_valid(
        mode == CUDNN_CONVOLUTION || mode == CUDNN_CROSS_CORRELATION,
        "the mode is unknown");
    require_valid(
        type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE ||
            type == CUDNN_DATA_HALF || type == CUDNN_DATA_INT32 ||
            type == CUDNN_DATA_FAST_FLOAT_FOR_FP8,
        "convolutions are not computed in this type");
    how->paddings = dims_of(paddings, rank);
    how->strides = dims_of(strides, rank);
    how->dilations = dims_of(dilations, rank);
    how->mode = mode;
    how->type = type;
  });
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(
    cudnnConvolutionDescriptor_t how,
    int pad_h,
    int pad_w,
    int u,
    int v,
    int dilation_h,
    int dilation_w,
    cudnnConvolutionMode_t mode,
    cudnnDataType_t type) {
  const int paddings[] = {pad_h, pad_w};
  const int strides[] = {u, v};
  const int dilations[] = {dilation_h, dilation_w};
  return cudnnSetConvolutionNdDescriptor(
      how, 2, paddings, strides, dilations, mode, type);
}

cudnnStatus_t cudnnGetConvolutionNdDescriptor(
    const cudnnConvolutionDescriptor_t how,
    int most,
    int* rank,
    int paddings[],
    int strides[],
    int dilations[],
    cudnnConvolutionMode_t* mode,
    cudnnDataType_t* type) {
  return guarded(__func__, [&] {
    require_given(how, rank, mode, type);
    require_valid(most >= 0, "the number of dimensions is negative");
    require_supported(!how->strides.empty(), "the descriptor is not set");
    *rank = static_cast<int>(how->strides.size());
    for (int i = 0; i < std::min(most, *rank); ++i) {
      paddings[i] = static_cast<int>(how->paddings[i]);
      strides[i] = static_cast<int>(how->strides[i]);
      dilations[i] = static_cast<int>(how->dilations[i]);
    }
    *mode = how->mode;
    *type = how->type;
  });
}

cudnnStatus_t cudnnGetConvolution2dDescriptor(
    const cudnnConvolutionDescriptor_t how,
    int* pad_h,
    int* pad_w,
    int* u,
    int* v,
    int* dilation_h,
    int* dilation_w,
    cudnnConvolutionMode_t* mode,
    cudnnDataType_t* type) {
  return guarded(__func__, [&] {
    require_given(how, pad_h, pad_w, u, v, dilation_h, dilation_w, mode, type);
    require_valid(how->strides.size() == 2, "the dimensions are not two");
    *pad_h = static_cast<int>(how->paddings[0]);
    *pad_w = static_cast<int>(how->paddings[1]);
    *u = static_cast<int>(how->strides[0]);
    *v = static_cast<int>(how->strides[1]);
    *dilation_h = static_cast<int>(how->dilations[0]);
    *dilation_w = static_cast<int>(how->dilations[1]);
    *mode = how->mode;
    *type = how->type;
  });
}

#define ACCEL_SETTING(Name, Type, member, is_valid, why)     \
  cudnnStatus_t cudnnSetConvolution##Name(                   \
      cudnnConvolutionDescriptor_t how, Type value) {        \
    return guarded(__func__, [&] {                           \
      require_given(how);                                    \
      require_valid(is_valid, why);                          \
      how->member = value;                                   \
    });                                                      \
  }                                                          \
  cudnnStatus_t cudnnGetConvolution##Name(                   \
      const cudnnConvolutionDescriptor_t how, Type* value) { \
    return guarded(__func__, [&] {                           \
      require_given(how, value);                             \
      *value = how->member;                                  \
    });                                                      \
  }
ACCEL_SETTING(
    MathType,
    cudnnMathType_t,
    math,
    value >= CUDNN_DEFAULT_MATH && value <= CUDNN_FMA_MATH,
    "the kind of mathematics is unknown")
ACCEL_SETTING(
    GroupCount,
    int,
    groups,
    value >= 1,
    "the number of groups is not positive")
ACCEL_SETTING(
    ReorderType,
    cudnnReorderType_t,
    reorder,
    value == CUDNN_DEFAULT_REORDER || value == CUDNN_NO_REORDER,
    "the order is unknown")
#undef ACCEL_SETTING

cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(
    const cudnnConvolutionDescriptor_t how,
    const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w,
    int rank,
    int dims[]) {
  return guarded(__func__, [&] {
    require_given(how, x, w, dims);
    const Dims result = output_of(*how, x->layout, w->layout);
    require_valid(
        rank == static_cast<int>(result.size()),
        "the number of dimensions is another one");
    std::transform(result.begin(), result.end(), dims, [](std::int64_t value) {
      return static_cast<int>(value);
    });
  });
}

cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(
    const cudnnConvolutionDescriptor_t how,
    const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w,
    int* n,
    int* c,
    int* h,
    int* width) {
  return guarded(__func__, [&] {
    require_given(n, c, h, width);
    int dims[4] = {};
    const cudnnStatus_t status =
        cudnnGetConvolutionNdForwardOutputDim(how, x, w, 4, dims);
    require(status == CUDNN_STATUS_SUCCESS, status, "the tensors do not fit");
    *n = dims[0];
    *c = dims[1];
    *h = dims[2];
    *width = dims[3];
  });
}

} // extern "C"
