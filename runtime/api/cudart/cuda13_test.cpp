// What CUDA 13 has another form of than CUDA 12, and what only it has: compiled
// with its headers and linked with its functions.
#include <cstring>
#include <vector>

#include "runtime/api/cudart/testing/support.h"

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
  int place = -9;
  for (const auto attribute :
       {cudaMemRangeAttributePreferredLocation,
        cudaMemRangeAttributeLastPrefetchLocation}) {
    EXPECT_OK(
        cudaMemRangeGetAttribute(&place, sizeof(place), attribute, memory, 64));
    EXPECT_EQ(place, 0);
  }
  EXPECT_OK(cudaFree(memory));
}

TEST_F(Cuda13, CopiesAreMadeInBatches) {
  cudaStream_t stream = nullptr;
  ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int device = -1;
  EXPECT_OK(cudaStreamGetDevice(stream, &device));
  EXPECT_EQ(device, 0);
  OnDevice values(std::vector<int>{1, 2, 3, 4});
  std::vector<int> host{7, 8};
  int back = 0;
  void* to[] = {values.data() + 1, &back};
  const void* from[] = {host.data(), values.data() + 3};
  const std::size_t sizes[] = {2 * sizeof(int), sizeof(int)};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
  ASSERT_OK(
      cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(values.get(), (std::vector<int>{1, 7, 8, 4}));
  EXPECT_EQ(back, 4);
  cudaMemcpy3DBatchOp box{};
  box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
  box.src.op.ptr.ptr = host.data();
  box.dst.op.ptr.ptr = values.data();
  box.extent = {sizeof(int), 2, 1};
  box.dst.op.ptr.rowLength = 2 * sizeof(int); // every other one
  box.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  ASSERT_OK(cudaMemcpy3DBatchAsync(1, &box, 0, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(values.get(), (std::vector<int>{7, 7, 8, 4}));
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  EXPECT_EQ(
      cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream),
      cudaErrorInvalidValue);
  EXPECT_OK(cudaStreamDestroy(stream));
}

TEST_F(Cuda13, APoolBelongsToAPlace) {
  cudaMemLocation place{cudaMemLocationTypeDevice, {0}};
  cudaMemPool_t expected = nullptr;
  cudaMemPool_t pool = nullptr;
  ASSERT_OK(cudaDeviceGetDefaultMemPool(&expected, 0));
  EXPECT_OK(
      cudaMemGetDefaultMemPool(&pool, &place, cudaMemAllocationTypePinned));
  EXPECT_EQ(pool, expected);
  EXPECT_OK(cudaMemSetMemPool(&place, cudaMemAllocationTypePinned, pool));
  EXPECT_OK(cudaMemGetMemPool(&pool, &place, cudaMemAllocationTypePinned));
  EXPECT_EQ(pool, expected);
}

} // namespace
} // namespace accelerator::cudart::testing
