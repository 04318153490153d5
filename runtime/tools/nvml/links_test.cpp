// How devices are connected, as NVML says it.
#include <gtest/gtest.h>
#include <nvml.h>

#include <bitset>
#include <cstddef>

#include <sched.h>

namespace {

class NvmlLinks : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
    ASSERT_EQ(nvmlDeviceGetHandleByIndex(0, &first), NVML_SUCCESS);
    ASSERT_EQ(nvmlDeviceGetHandleByIndex(1, &second), NVML_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  }

  nvmlDevice_t first = nullptr;
  nvmlDevice_t second = nullptr;
};

// PCI Express base specification: 16 GT/s a lane is the fourth generation.
TEST_F(NvmlLinks, TheLinkToTheHostIsThatOfTheModel) {
  for (const auto function :
       {nvmlDeviceGetMaxPcieLinkGeneration,
        nvmlDeviceGetGpuMaxPcieLinkGeneration,
        nvmlDeviceGetCurrPcieLinkGeneration}) {
    unsigned generation = 0;
    EXPECT_EQ(function(first, &generation), NVML_SUCCESS);
    EXPECT_EQ(generation, 4u); // of an A100
  }
  for (const auto function :
       {nvmlDeviceGetMaxPcieLinkWidth, nvmlDeviceGetCurrPcieLinkWidth}) {
    unsigned lanes = 0;
    EXPECT_EQ(function(first, &lanes), NVML_SUCCESS);
    EXPECT_EQ(lanes, 16u);
  }
  unsigned speed = 0;
  EXPECT_EQ(nvmlDeviceGetPcieSpeed(first, &speed), NVML_SUCCESS);
  EXPECT_EQ(speed, 16000u);
  EXPECT_EQ(nvmlDeviceGetPcieLinkMaxSpeed(first, &speed), NVML_SUCCESS);
  EXPECT_EQ(speed, unsigned{NVML_PCIE_LINK_MAX_SPEED_16000MBPS});
}

TEST_F(NvmlLinks, TwoDevicesMeetInTheHost) {
  nvmlGpuTopologyLevel_t level = NVML_TOPOLOGY_SINGLE;
  EXPECT_EQ(
      nvmlDeviceGetTopologyCommonAncestor(first, second, &level), NVML_SUCCESS);
  EXPECT_EQ(level, NVML_TOPOLOGY_SYSTEM);
  nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_UNKNOWN;
  const auto ask = [&](nvmlGpuP2PCapsIndex_t which) {
    EXPECT_EQ(
        nvmlDeviceGetP2PStatus(first, second, which, &status), NVML_SUCCESS);
    return status;
  };
  EXPECT_EQ(ask(NVML_P2P_CAPS_INDEX_READ), NVML_P2P_STATUS_OK);
  EXPECT_EQ(ask(NVML_P2P_CAPS_INDEX_NVLINK), NVML_P2P_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(
      nvmlDeviceGetP2PStatus(first, first, NVML_P2P_CAPS_INDEX_READ, &status),
      NVML_ERROR_INVALID_ARGUMENT);
  int same = 9;
  EXPECT_EQ(nvmlDeviceOnSameBoard(first, second, &same), NVML_SUCCESS);
  EXPECT_EQ(same, 0);
}

TEST_F(NvmlLinks, AnyProcessorThatWeMayUseIsAsNear) {
  unsigned long set[16];
  ASSERT_EQ(nvmlDeviceGetCpuAffinity(first, 16, set), NVML_SUCCESS);
  std::size_t count = 0;
  for (const unsigned long word : set) {
    count += std::bitset<64>(word).count();
  }
  cpu_set_t may{};
  ASSERT_EQ(sched_getaffinity(0, sizeof(may), &may), 0);
  EXPECT_EQ(count, static_cast<std::size_t>(CPU_COUNT(&may)));
  EXPECT_EQ(
      nvmlDeviceGetCpuAffinity(first, 0, set), NVML_ERROR_INVALID_ARGUMENT);
}

} // namespace
