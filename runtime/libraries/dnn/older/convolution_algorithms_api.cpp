// Queries for algorithms of convolutions.
#include "runtime/libraries/dnn/older/convolution_shape.h"

namespace accelerator::dnn {
namespace {

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

// NVIDIA's library names these for most sizes.
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
