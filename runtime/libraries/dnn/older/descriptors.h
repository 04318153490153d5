// What the older API's descriptors stand for. Programs make them without a
// device. Source: cuDNN API, cudnn_ops.h and cudnn_cnn.h.
#pragma once

#include <cudnn.h>

#include <limits>
#include <vector>

#include "runtime/libraries/dnn/array.h"
#include "runtime/libraries/dnn/status.h"

struct cudnnTensorStruct {
  accelerator::dnn::Layout layout;
};

struct cudnnFilterStruct {
  accelerator::dnn::Layout layout;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
};

struct cudnnConvolutionStruct {
  accelerator::dnn::Dims paddings;
  accelerator::dnn::Dims strides;
  accelerator::dnn::Dims dilations;
  cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnReorderType_t reorder = CUDNN_DEFAULT_REORDER;
  int groups = 1;
};

struct cudnnPoolingStruct {
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  cudnnNanPropagation_t nans = CUDNN_NOT_PROPAGATE_NAN;
  accelerator::dnn::Dims window;
  accelerator::dnn::Dims paddings;
  accelerator::dnn::Dims strides;
};

struct cudnnActivationStruct {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_SIGMOID;
  cudnnNanPropagation_t nans = CUDNN_NOT_PROPAGATE_NAN;
  double coefficient = 0;
  double swish_beta = 1;
};

struct cudnnOpTensorStruct {
  cudnnOpTensorOp_t operation = CUDNN_OP_TENSOR_ADD;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nans = CUDNN_NOT_PROPAGATE_NAN;
};

struct cudnnReduceTensorStruct {
  cudnnReduceTensorOp_t operation = CUDNN_REDUCE_TENSOR_ADD;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nans = CUDNN_NOT_PROPAGATE_NAN;
  cudnnReduceTensorIndices_t indices = CUDNN_REDUCE_TENSOR_NO_INDICES;
  cudnnIndicesType_t indices_type = CUDNN_32BIT_INDICES;
};

struct cudnnDropoutStruct {
  float probability = 0; // of being dropped
  void* states = nullptr; // of the device
  unsigned long long seed = 0;
};

namespace accelerator::dnn {

/// Makes a descriptor; programs destroy them, null ones too.
template <typename T>
cudnnStatus_t create(const char* function, T** made) {
  return guarded(function, [made] {
    require_valid(made != nullptr, "the place for the descriptor is null");
    *made = new T{};
  });
}

template <typename T>
cudnnStatus_t destroy(T* made) {
  delete made;
  return CUDNN_STATUS_SUCCESS;
}

/// None of them is null. The older API has one status for that.
template <typename... T>
void require_given(const T*... pointers) {
  require_valid(
      (... && (pointers != nullptr)), "a descriptor or a pointer is null");
}

inline Dims dims_of(const int* values, int count) {
  return Dims(values, values + count);
}

/// Strides of an array without gaps in one of the formats.
Dims strides_of(cudnnTensorFormat_t format, const Dims& dims);

/// What an activation is as a pointwise function.
struct Pointwise;
Pointwise pointwise_of(const cudnnActivationStruct& activation);

/// The descriptor of a batch's parameters and statistics.
Layout parameters_of(const Layout& x, cudnnBatchNormMode_t mode);

} // namespace accelerator::dnn
