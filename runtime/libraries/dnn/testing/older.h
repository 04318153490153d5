// Descriptors of the older API for tests.
#pragma once

#include <cudnn.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/libraries/dnn/testing/graph.h"

namespace accelerator::dnn::testing {

/// A descriptor that is destroyed in the end.
template <typename T, cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)>
class Owned {
 public:
  Owned() {
    EXPECT_EQ(create(&made_), CUDNN_STATUS_SUCCESS);
  }
  ~Owned() {
    EXPECT_EQ(destroy(made_), CUDNN_STATUS_SUCCESS);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator T() const {
    return made_;
  }

 private:
  T made_ = nullptr;
};

using TensorBase = Owned<
    cudnnTensorDescriptor_t,
    cudnnCreateTensorDescriptor,
    cudnnDestroyTensorDescriptor>;
using Filter = Owned<
    cudnnFilterDescriptor_t,
    cudnnCreateFilterDescriptor,
    cudnnDestroyFilterDescriptor>;
using ConvolutionHow = Owned<
    cudnnConvolutionDescriptor_t,
    cudnnCreateConvolutionDescriptor,
    cudnnDestroyConvolutionDescriptor>;
using PoolingHow = Owned<
    cudnnPoolingDescriptor_t,
    cudnnCreatePoolingDescriptor,
    cudnnDestroyPoolingDescriptor>;
using Activation = Owned<
    cudnnActivationDescriptor_t,
    cudnnCreateActivationDescriptor,
    cudnnDestroyActivationDescriptor>;
using OpTensorHow = Owned<
    cudnnOpTensorDescriptor_t,
    cudnnCreateOpTensorDescriptor,
    cudnnDestroyOpTensorDescriptor>;
using ReduceHow = Owned<
    cudnnReduceTensorDescriptor_t,
    cudnnCreateReduceTensorDescriptor,
    cudnnDestroyReduceTensorDescriptor>;
using DropoutHow = Owned<
    cudnnDropoutDescriptor_t,
    cudnnCreateDropoutDescriptor,
    cudnnDestroyDropoutDescriptor>;

/// Of floats, without gaps.
class OlderTensor : public TensorBase {
 public:
  explicit OlderTensor(const Dims& dims) {
    std::vector<int> sizes(dims.begin(), dims.end());
    EXPECT_EQ(
        cudnnSetTensorNdDescriptorEx(
            *this,
            CUDNN_TENSOR_NCHW,
            CUDNN_DATA_FLOAT,
            static_cast<int>(sizes.size()),
            sizes.data()),
        CUDNN_STATUS_SUCCESS);
  }
};

constexpr float kOne = 1;
constexpr float kZero = 0;

} // namespace accelerator::dnn::testing
