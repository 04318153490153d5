// The older API's descriptors. The answers are those of NVIDIA's library 9.28,
// which makes descriptors without a GPU.
#include "runtime/libraries/dnn/testing/older.h"

namespace accelerator::dnn::testing {
namespace {

TEST(OlderDescriptors, TensorsHaveLayouts) {
  const TensorBase tensor;
  cudnnDataType_t type = CUDNN_DATA_DOUBLE;
  int rank = -1, dims[8] = {}, strides[8] = {};
  EXPECT_EQ(
      cudnnGetTensorNdDescriptor(tensor, 8, &type, &rank, dims, strides),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(type, CUDNN_DATA_FLOAT);
  EXPECT_EQ(rank, 0);
  EXPECT_EQ(
      cudnnSetTensor4dDescriptor(
          tensor, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 2, 3, 4, 5),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(
      cudnnGetTensorNdDescriptor(tensor, 8, &type, &rank, dims, strides),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(type, CUDNN_DATA_HALF);
  EXPECT_EQ(rank, 4);
  EXPECT_EQ(std::vector<int>(dims, dims + 4), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_EQ(
      std::vector<int>(strides, strides + 4), (std::vector<int>{60, 1, 15, 3}));
  std::size_t size = 0;
  EXPECT_EQ(cudnnGetTensorSizeInBytes(tensor, &size), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(size, 240U);
}

TEST(OlderDescriptors, RefuseWhatNvidiasDo) {
  const TensorBase tensor;
  const int sizes[9] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
  const auto set = [&](int rank) {
    return cudnnSetTensorNdDescriptor(
        tensor, CUDNN_DATA_FLOAT, rank, sizes, sizes);
  };
  EXPECT_EQ(set(1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(set(2), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(set(8), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(set(9), CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(
      cudnnSetTensor4dDescriptor(
          tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 1, 1, 1),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      cudnnSetTensor4dDescriptorEx(
          tensor, CUDNN_DATA_FLOAT, 2, 1, 1, 1, 0, 1, 1, 1),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      cudnnSetTensor4dDescriptor(
          nullptr, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnDestroyTensorDescriptor(nullptr), CUDNN_STATUS_SUCCESS);
  const Filter filter;
  EXPECT_EQ(
      cudnnSetFilterNdDescriptor(
          filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 2, sizes),
      CUDNN_STATUS_BAD_PARAM);
  const ConvolutionHow how;
  const auto set_convolution = [&](int padding, int stride, int dilation) {
    return cudnnSetConvolution2dDescriptor(
        how,
        padding,
        1,
        stride,
        1,
        dilation,
        1,
        CUDNN_CROSS_CORRELATION,
        CUDNN_DATA_FLOAT);
  };
  EXPECT_EQ(set_convolution(-1, 1, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(set_convolution(0, 0, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(set_convolution(0, 1, 0), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnSetConvolutionGroupCount(how, 0), CUDNN_STATUS_BAD_PARAM);
  int groups = 0;
  EXPECT_EQ(cudnnGetConvolutionGroupCount(how, &groups), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(groups, 1);
}

TEST(OlderDescriptors, ParametersOfABatchAreFloats) {
  const TensorBase x, parameters;
  ASSERT_EQ(
      cudnnSetTensor4dDescriptor(
          x, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 2, 3, 9, 8),
      CUDNN_STATUS_SUCCESS);
  cudnnDataType_t type = CUDNN_DATA_DOUBLE;
  int rank = -1, dims[8] = {}, strides[8] = {};
  const auto derived = [&](cudnnBatchNormMode_t mode) {
    EXPECT_EQ(
        cudnnDeriveBNTensorDescriptor(parameters, x, mode),
        CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(
        cudnnGetTensorNdDescriptor(parameters, 8, &type, &rank, dims, strides),
        CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(type, CUDNN_DATA_FLOAT);
    return std::vector<int>(dims, dims + 4);
  };
  EXPECT_EQ(derived(CUDNN_BATCHNORM_SPATIAL), (std::vector<int>{1, 3, 1, 1}));
  EXPECT_EQ(
      derived(CUDNN_BATCHNORM_PER_ACTIVATION), (std::vector<int>{1, 3, 9, 8}));
}

} // namespace
} // namespace accelerator::dnn::testing
