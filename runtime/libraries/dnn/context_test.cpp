// Handles, and what the library says of itself.
#include <cudnn.h>
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

namespace {

TEST(Context, KeepsItsStream) {
  cudnnHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  cudaStream_t found = nullptr;
  ASSERT_EQ(cudnnCreate(&handle), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(cudnnSetStream(handle, stream), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnGetStream(handle, &found), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(found, stream);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudnnDestroy(handle), CUDNN_STATUS_SUCCESS);
}

TEST(Context, RefusesNull) {
  EXPECT_EQ(cudnnCreate(nullptr), CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  EXPECT_EQ(cudnnDestroy(nullptr), CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  EXPECT_EQ(
      cudnnSetStream(nullptr, nullptr), CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
}

// PyTorch refuses to go on with a cuDNN of another major version, or an older
// one, than it was compiled for.
TEST(Context, TellsItsVersion) {
  EXPECT_EQ(cudnnGetVersion(), std::size_t{CUDNN_VERSION});
  int major = 0;
  int minor = 0;
  EXPECT_EQ(cudnnGetProperty(MAJOR_VERSION, &major), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnGetProperty(MINOR_VERSION, &minor), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(major, CUDNN_MAJOR);
  EXPECT_EQ(minor, CUDNN_MINOR);
  EXPECT_NE(
      cudnnGetProperty(static_cast<libraryPropertyType>(3), &major),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnOpsVersionCheck(), CUDNN_STATUS_SUCCESS);
}

TEST(Context, NamesStatuses) {
  EXPECT_STREQ(
      cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM");
  EXPECT_STREQ(
      cudnnGetErrorString(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN),
      "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN");
}

} // namespace
