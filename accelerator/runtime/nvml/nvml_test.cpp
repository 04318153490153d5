// What NVML says about the devices of the machine: there are two, of which
// CUDA_VISIBLE_DEVICES shows CUDA one (BUILD.bazel).
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nvml.h>

namespace {

class Nvml : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  }
};

TEST(NvmlInit, NothingIsAnsweredBefore) {
  unsigned count = 9;
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
  ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
  ASSERT_EQ(nvmlInitWithFlags(0), NVML_SUCCESS);
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_SUCCESS) << "one user is left";
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_ERROR_UNINITIALIZED);
}

TEST_F(Nvml, AllDevicesAreCountedThoughCudaSeesOne) {
  unsigned all = 0;
  int visible = 0;
  EXPECT_EQ(nvmlDeviceGetCount(&all), NVML_SUCCESS);
  EXPECT_EQ(all, 2u);
  EXPECT_EQ(cudaGetDeviceCount(&visible), cudaSuccess);
  EXPECT_EQ(visible, 1);
  EXPECT_EQ(nvmlDeviceGetCount(nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Nvml, ADeviceIsFoundByIndexAndByBusId) {
  nvmlDevice_t first = nullptr, second = nullptr, found = nullptr;
  ASSERT_EQ(nvmlDeviceGetHandleByIndex(0, &first), NVML_SUCCESS);
  ASSERT_EQ(nvmlDeviceGetHandleByIndex(1, &second), NVML_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(2, &found), NVML_ERROR_INVALID_ARGUMENT);
  // The one that CUDA calls device 0 is the machine's device 1.
  char id[16] = "";
  ASSERT_EQ(cudaDeviceGetPCIBusId(id, sizeof(id), 0), cudaSuccess);
  ASSERT_EQ(nvmlDeviceGetHandleByPciBusId(id, &found), NVML_SUCCESS) << id;
  EXPECT_EQ(found, second);
  EXPECT_EQ(
      nvmlDeviceGetHandleByPciBusId("00000000:7F:00.0", &found),
      NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(
      nvmlDeviceGetHandleByPciBusId("nonsense", &found),
      NVML_ERROR_INVALID_ARGUMENT);
}

/// A fabric's description as CUDA 13 has it.
struct FabricInfo3 {
  nvmlGpuFabricInfo_v2_t before;
  unsigned char health_summary;
};

TEST_F(Nvml, NoDeviceIsInAFabric) {
  nvmlDevice_t device = nullptr;
  ASSERT_EQ(nvmlDeviceGetHandleByIndex(0, &device), NVML_SUCCESS);
  nvmlGpuFabricInfoV_t info{};
  info.version = nvmlGpuFabricInfo_v2;
  info.state = NVML_GPU_FABRIC_STATE_COMPLETED;
  EXPECT_EQ(nvmlDeviceGetGpuFabricInfoV(device, &info), NVML_SUCCESS);
  EXPECT_EQ(info.state, NVML_GPU_FABRIC_STATE_NOT_SUPPORTED);
  EXPECT_EQ(info.version, unsigned{nvmlGpuFabricInfo_v2});

  FabricInfo3 later{};
  later.before.version = sizeof later | 3u << 24;
  later.before.cliqueId = 7;
  later.health_summary = 9;
  ASSERT_EQ(nvmlDeviceGetGpuFabricInfoV(device, &later.before), NVML_SUCCESS);
  EXPECT_EQ(later.before.state, NVML_GPU_FABRIC_STATE_NOT_SUPPORTED);
  EXPECT_EQ(later.before.cliqueId, 0u);
  EXPECT_EQ(later.health_summary, 0);
}

TEST_F(Nvml, AFabricOfAnotherVersionIsRefused) {
  nvmlGpuFabricInfoV_t info{};
  info.version = sizeof info | 9u << 24;
  EXPECT_EQ(
      nvmlDeviceGetGpuFabricInfoV(nullptr, &info),
      NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  EXPECT_EQ(
      nvmlDeviceGetGpuFabricInfoV(nullptr, nullptr),
      NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Nvml, ErrorsHaveNames) {
  EXPECT_STREQ(nvmlErrorString(NVML_SUCCESS), "Success");
  EXPECT_STREQ(nvmlErrorString(NVML_ERROR_NOT_FOUND), "Not Found");
}

} // namespace
