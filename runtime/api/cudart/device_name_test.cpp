// CUDASIM_NAME=model: both APIs give the name of the GPU that the device's
// model is named after.
#include <cuda.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace {

TEST(DeviceName, IsTheModelsInBothApis) {
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "NVIDIA A100 (simulated)");
  char name[256] = "";
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetName(name, sizeof(name), 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, properties.name);
}

} // namespace
