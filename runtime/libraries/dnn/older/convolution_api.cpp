// Convolutions of the older API.
#include "runtime/libraries/dnn/compute/convolution.h"

#include <algorithm>

#include "runtime/libraries/dnn/compute/reduction.h"
#include "runtime/libraries/dnn/older/call.h"

namespace accelerator::dnn {
namespace {

/// A convolution of tensors with as many spatial dimensions as they have;
/// descriptors may have one dimension of 1 more.
Convolution shape_of(
    const cudnnConvolutionStruct& how,
    const Layout& x,
    const Layout& w,
    const Layout& y) {
  require_known(x);
  require_known(w);
  require_known(y);
  require_valid(
      x.dims.size() == how.strides.size() + 2,
      "the convolution and its tensors differ in dimensions");
  const Convolution shape = Convolution::of(
      x.dims,
      w.dims,
      y.dims,
      how.strides,
      how.dilations,
      how.paddings,
      how.paddings,
      how.mode == CUDNN_CONVOLUTION);
  require_valid(
      shape.groups == how.groups,
      "the channels do not fit the number of groups");
  return shape;
}

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

/// The one algorithm, which needs no workspace, whatever it is called.
template <typename Performance, typename Algorithm>
void answer_algorithm(
    const cudnnConvolutionStruct& how,
    Algorithm algorithm,
    float time,
    int requested,
    int* returned,
    Performance* results) {
  require_given(results);
  require_valid(requested > 0, "no algorithm is asked for");
  Performance only{};
  only.algo = algorithm;
  only.status = CUDNN_STATUS_SUCCESS;
  only.time = time;
  only.memory = 0;
  only.determinism = CUDNN_DETERMINISTIC;
  only.mathType = how.math;
  results[0] = only;
  if (returned != nullptr) {
    *returned = 1;
  }
}

constexpr float kNotMeasured = -1;

cudnnStatus_t answer_count(
    const char* function,
    cudnnHandle_t handle,
    int* place,
    int count) {
  return guarded(function, [&] {
    require_given(handle, place);
    *place = count;
  });
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

// Queries for algorithms. NVIDIA's library names these for most sizes.
#define ACCEL_ALGORITHMS(                                                 \
    Kind, Algorithm, best, count, First, Second, Third, x_of, w_of, y_of) \
  cudnnStatus_t cudnnGetConvolution##Kind##AlgorithmMaxCount(             \
      cudnnHandle_t handle, int* place) {                                 \
    return answer_count(__func__, handle, place, count);                  \
  }                                                                       \
  cudnnStatus_t cudnnGetConvolution##Kind##Algorithm_v7(                  \
      cudnnHandle_t handle,                                               \
      const First first,                                                  \
      const Second second,                                                \
      const cudnnConvolutionDescriptor_t how,                             \
      const Third third,                                                  \
      const int requested,                                                \
      int* returned,                                                      \
      Algorithm##Perf_t* results) {                                       \
    return guarded(__func__, [&] {                                        \
      require_given(handle, first, second, how, third);                   \
      shape_of(*how, x_of->layout, w_of->layout, y_of->layout);           \
      answer_algorithm(                                                   \
          *how, best, kNotMeasured, requested, returned, results);        \
    });                                                                   \
  }                                                                       \
  cudnnStatus_t cudnnFindConvolution##Kind##Algorithm(                    \
      cudnnHandle_t handle,                                               \
      const First first,                                                  \
      const Second second,                                                \
      const cudnnConvolutionDescriptor_t how,                             \
      const Third third,                                                  \
      const int requested,                                                \
      int* returned,                                                      \
      Algorithm##Perf_t* results) {                                       \
    return guarded(__func__, [&] {                                        \
      require_given(handle, first, second, how, third);                   \
      shape_of(*how, x_of->layout, w_of->layout, y_of->layout);           \
      answer_algorithm(*how, best, 0, requested, returned, results);      \
    });                                                                   \
  }                                                                       \
  cudnnStatus_t cudnnGetConvolution##Kind##WorkspaceSize(                 \
      cudnnHandle_t handle,                                               \
      const First first,                                                  \
      const Second second,                                                \
      const cudnnConvolutionDescriptor_t how,                             \
      const Third third,                                                  \
      Algorithm##_t,                                                      \
      std::size_t* size) {                                                \
    return guarded(__func__, [&] {                                        \
      require_given(handle, first, second, how, third, size);             \
      shape_of(*how, x_of->layout, w_of->layout, y_of->layout);           \
      *size = 0;                                                          \
    });                                                                   \
  }
ACCEL_ALGORITHMS(
    Forward,
    cudnnConvolutionFwdAlgo,
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
    CUDNN_CONVOLUTION_FWD_ALGO_COUNT,
    cudnnTensorDescriptor_t,
    cudnnFilterDescriptor_t,
    cudnnTensorDescriptor_t,
    first,
    second,
    third)
ACCEL_ALGORITHMS(
    BackwardData,
    cudnnConvolutionBwdDataAlgo,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT,
    cudnnFilterDescriptor_t,
    cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t,
    third,
    first,
    second)
ACCEL_ALGORITHMS(
    BackwardFilter,
    cudnnConvolutionBwdFilterAlgo,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT,
    cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t,
    cudnnFilterDescriptor_t,
    first,
    third,
    second)
#undef ACCEL_ALGORITHMS

// The tensors are left as they are: nothing is measured.
cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t handle,
    const cudnnTensorDescriptor_t x,
    const void*,
    const cudnnFilterDescriptor_t w,
    const void*,
    const cudnnConvolutionDescriptor_t how,
    const cudnnTensorDescriptor_t y,
    void*,
    const int requested,
    int* returned,
    cudnnConvolutionFwdAlgoPerf_t* results,
    void*,
    std::size_t) {
  return cudnnFindConvolutionForwardAlgorithm(
      handle, x, w, how, y, requested, returned, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle,
    const cudnnFilterDescriptor_t w,
    const void*,
    const cudnnTensorDescriptor_t dy,
    const void*,
    const cudnnConvolutionDescriptor_t how,
    const cudnnTensorDescriptor_t dx,
    void*,
    const int requested,
    int* returned,
    cudnnConvolutionBwdDataAlgoPerf_t* results,
    void*,
    std::size_t) {
  return cudnnFindConvolutionBackwardDataAlgorithm(
      handle, w, dy, how, dx, requested, returned, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle,
    const cudnnTensorDescriptor_t x,
    const void*,
    const cudnnTensorDescriptor_t dy,
    const void*,
    const cudnnConvolutionDescriptor_t how,
    const cudnnFilterDescriptor_t dw,
    void*,
    const int requested,
    int* returned,
    cudnnConvolutionBwdFilterAlgoPerf_t* results,
    void*,
    std::size_t) {
  return cudnnFindConvolutionBackwardFilterAlgorithm(
      handle, x, dy, how, dw, requested, returned, results);
}

} // extern "C"
