// Pools of managed memory, which CUDA 13 has.
// Source: CUDA driver API, stream ordered memory allocator.
#include <cuda.h>

#include <cstdint>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

using ManagedPools = ContextTest;

constexpr auto kManaged = CU_MEM_ALLOCATION_TYPE_MANAGED;

CUmemLocation place_of(CUmemLocationType type, int id) {
  CUmemLocation place{};
  place.type = type;
  place.id = id;
  return place;
}

CUmemPoolProps properties(
    CUmemLocationType type = CU_MEM_LOCATION_TYPE_DEVICE,
    int id = 0) {
  CUmemPoolProps wanted{};
  wanted.allocType = kManaged;
  wanted.location = place_of(type, id);
  return wanted;
}

template <typename T>
T attribute(CUmemoryPool pool, CUmemPool_attribute which) {
  T value{};
  EXPECT_EQ(cuMemPoolGetAttribute(pool, which, &value), CUDA_SUCCESS);
  return value;
}

template <typename T>
T attribute(CUpointer_attribute which, CUdeviceptr address) {
  T value{};
  EXPECT_EQ(cuPointerGetAttribute(&value, which, address), CUDA_SUCCESS);
  return value;
}

TEST_F(ManagedPools, GiveMemoryOfTheHostAndTheDevice) {
  const auto wanted = properties();
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  const Stream stream;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 64, pool, stream), CUDA_SUCCESS);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, memory), 1u);
  EXPECT_EQ(
      attribute<CUmemoryPool>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory),
      pool);
  ASSERT_EQ(cuMemsetD8Async(memory, 7, 64, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  auto* host = reinterpret_cast<std::uint8_t*>(memory);
  EXPECT_EQ(host[0] + host[63], 14);
  int preferred = -9;
  ASSERT_EQ(
      cuMemRangeGetAttribute(
          &preferred,
          sizeof(preferred),
          CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
          memory,
          64),
      CUDA_SUCCESS);
  EXPECT_EQ(preferred, 0);
  EXPECT_EQ(attribute<cuuint64_t>(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 64u);
  ASSERT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(attribute<cuuint64_t>(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  EXPECT_EQ(attribute<cuuint64_t>(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 64u);
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_VALUE);
  // The other way of freeing.
  ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 32, pool, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(attribute<cuuint64_t>(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

// Memory lives longer than its pool.
TEST_F(ManagedPools, AreDestroyedBeforeTheirMemory) {
  const auto wanted = properties(CU_MEM_LOCATION_TYPE_HOST, 0);
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  const Stream stream;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 64, pool, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  *reinterpret_cast<std::uint8_t*>(memory) = 1;
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

TEST_F(ManagedPools, TellWhatTheyWereMadeWith) {
  const auto wanted = properties(CU_MEM_LOCATION_TYPE_HOST_NUMA, 3);
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  EXPECT_EQ(
      attribute<int>(pool, CU_MEMPOOL_ATTR_ALLOCATION_TYPE), int{kManaged});
  EXPECT_EQ(
      attribute<int>(pool, CU_MEMPOOL_ATTR_LOCATION_TYPE),
      int{CU_MEM_LOCATION_TYPE_HOST_NUMA});
  EXPECT_EQ(attribute<int>(pool, CU_MEMPOOL_ATTR_LOCATION_ID), 3);
  EXPECT_EQ(attribute<int>(pool, CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES), 0);
  CUmemAccess_flags flags{};
  auto other = place_of(CU_MEM_LOCATION_TYPE_DEVICE, 1);
  ASSERT_EQ(cuMemPoolGetAccess(&flags, pool, &other), CUDA_SUCCESS);
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CUmemAccessDesc access{other, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_SUCCESS);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

TEST_F(ManagedPools, BelongToPlaces) {
  auto device = place_of(CU_MEM_LOCATION_TYPE_DEVICE, 1);
  auto host = place_of(CU_MEM_LOCATION_TYPE_HOST, 0);
  auto nowhere = place_of(CU_MEM_LOCATION_TYPE_NONE, -1);
  CUmemoryPool pools[3] = {};
  CUmemLocation* places[] = {&device, &host, &nowhere};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(
        cuMemGetDefaultMemPool(&pools[i], places[i], kManaged), CUDA_SUCCESS);
    CUmemoryPool again = nullptr;
    ASSERT_EQ(cuMemGetMemPool(&again, places[i], kManaged), CUDA_SUCCESS);
    EXPECT_EQ(again, pools[i]);
    EXPECT_EQ(cuMemPoolDestroy(again), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_NE(pools[0], pools[1]);
  EXPECT_NE(pools[1], pools[2]);
  EXPECT_NE(pools[0], pools[2]);
  const auto wanted = properties(CU_MEM_LOCATION_TYPE_HOST, 0);
  CUmemoryPool own = nullptr;
  CUmemoryPool current = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&own, &wanted), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetMemPool(&host, kManaged, own), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetMemPool(&current, &host, kManaged), CUDA_SUCCESS);
  EXPECT_EQ(current, own);
  ASSERT_EQ(cuMemPoolDestroy(own), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetMemPool(&current, &host, kManaged), CUDA_SUCCESS);
  EXPECT_EQ(current, pools[1]);
  device.id = 2;
  EXPECT_EQ(
      cuMemGetMemPool(&current, &device, kManaged), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(
      cuMemGetMemPool(&current, nullptr, kManaged), CUDA_ERROR_INVALID_VALUE);
  // They are not what cuMemAllocAsync takes from.
  EXPECT_EQ(cuDeviceSetMemPool(1, pools[0]), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ManagedPools, AreOfThisProcessAndNoGraph) {
  auto wanted = properties();
  wanted.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_ERROR_NOT_SUPPORTED);
  wanted.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  const Stream stream;
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  ASSERT_EQ(
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemAllocFromPoolAsync(&memory, 64, pool, stream),
      CUDA_ERROR_NOT_SUPPORTED);
  cuStreamEndCapture(stream, &graph);
  if (graph != nullptr) {
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing
