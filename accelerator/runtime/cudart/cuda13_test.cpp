// What CUDA 13 has another form of than CUDA 12, and what only it has: compiled
// with its headers and linked with its functions.
#include <cstring>
#include <vector>

#include "accelerator/runtime/cudart/testing/support.h"

static_assert(CUDART_VERSION >= 13000, "the headers are another CUDA's");

namespace accelerator::cudart::testing {
namespace {

using Cuda13 = Runtime;

TEST_F(Cuda13, SaysItsVersions) {
  int version = 0;
  ASSERT_OK(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, CUDART_VERSION);
  ASSERT_OK(cudaDriverGetVersion(&version));
  EXPECT_GE(version, CUDART_VERSION);
}

TEST_F(Cuda13, PropertiesStayInTheirStructure) {
  struct {
    cudaDeviceProp properties;
    unsigned char behind[64];
  } place;
  std::memset(&place, 0x5a, sizeof(place));
  ASSERT_OK(cudaGetDeviceProperties(&place.properties, 0));
  for (const unsigned char byte : place.behind) {
    ASSERT_EQ(byte, 0x5a);
  }
  int value = 0;
  ASSERT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  EXPECT_EQ(place.properties.warpSize, value);
  ASSERT_OK(cudaDeviceGetAttribute(
      &value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT_EQ(
      place.properties.sharedMemPerBlockOptin, static_cast<std::size_t>(value));
  // Which CUDA 13 tells as an attribute alone.
  EXPECT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
  EXPECT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0));
}

TEST_F(Cuda13, PointersHaveAttributesAndZerosBehind) {
  OnDevice values(std::vector<int>(4, 1));
  cudaPointerAttributes attributes;
  std::memset(&attributes, 0x5a, sizeof(attributes));
  ASSERT_OK(cudaPointerGetAttributes(&attributes, values.data()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.devicePointer, values.data());
  for (const long reserved : attributes.reserved) {
    EXPECT_EQ(reserved, 0);
  }
}

TEST_F(Cuda13, MemoryIsAdvisedByLocation) {
  void* memory = nullptr;
  ASSERT_OK(cudaMallocManaged(&memory, 64));
  const cudaMemLocation device{cudaMemLocationTypeDevice, {0}};
  EXPECT_OK(
      cudaMemAdvise(memory, 64, cudaMemAdviseSetPreferredLocation, device));
  EXPECT_OK(cudaMemPrefetchAsync(memory, 64, device, 0, nullptr));
  const cudaMemLocation none{cudaMemLocationTypeDevice, {99}};
  EXPECT_EQ(
      cudaMemPrefetchAsync(memory, 64, none, 0, nullptr),
      cudaErrorInvalidDevice);
  EXPECT_OK(cudaFree(memory));
}

} // namespace
} // namespace accelerator::cudart::testing
