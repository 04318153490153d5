// Memory pools.
#include <cstdint>
#include <utility>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

using Pool = ContextTest;

CUmemPoolProps properties(int device) {
  CUmemPoolProps result{};
  result.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  result.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  result.location.id = device;
  return result;
}

std::uint64_t used(CUmemoryPool pool) {
  std::uint64_t bytes = 0;
  EXPECT_EQ(
      cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes),
      CUDA_SUCCESS);
  return bytes;
}

TEST_F(Pool, ADeviceHasACurrentOne) {
  CUmemoryPool first = nullptr;
  CUmemoryPool current = nullptr;
  CUmemoryPool own = nullptr;
  const CUmemPoolProps wanted = properties(0);
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&first, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
  EXPECT_EQ(current, first);
  ASSERT_EQ(cuMemPoolCreate(&own, &wanted), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceSetMemPool(0, own), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
  EXPECT_EQ(current, own);
  EXPECT_EQ(cuDeviceSetMemPool(1, own), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolDestroy(own), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
  EXPECT_EQ(current, first);
  EXPECT_EQ(cuMemPoolDestroy(first), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetMemPool(&current, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetDefaultMemPool(&current, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemPoolCreate(&own, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Pool, MemoryIsTakenFromItAndGivenBack) {
  CUmemoryPool pool = nullptr;
  CUdeviceptr memory = 0;
  const CUmemPoolProps wanted = properties(0);
  const Stream stream;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 1024, pool, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(memory, 1, 1024, stream), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), 1024u);
  CUmemoryPool origin = nullptr;
  ASSERT_EQ(
      cuPointerGetAttribute(
          &origin, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory + 8),
      CUDA_SUCCESS);
  EXPECT_EQ(origin, pool);
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), 0u);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemAllocFromPoolAsync(&memory, 1024, pool, stream),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Pool, KeepsItsAttributes) {
  CUmemoryPool pool = nullptr;
  std::uint64_t threshold = 4096;
  const CUmemPoolProps wanted = properties(0);
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemPoolSetAttribute(
          pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
      CUDA_SUCCESS);
  threshold = 0;
  EXPECT_EQ(
      cuMemPoolGetAttribute(
          pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
      CUDA_SUCCESS);
  EXPECT_EQ(threshold, 4096u);
  EXPECT_EQ(
      cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

// Attributes of CUDA 13, by their numbers there.
TEST_F(Pool, TellsWhatItWasMadeWith) {
  CUmemoryPool pool = nullptr;
  CUmemPoolProps wanted = properties(1);
  wanted.maxSize = 4096;
  wanted.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  const auto expect = [&](int number, auto expected) {
    const auto attribute = static_cast<CUmemPool_attribute>(number);
    decltype(expected) value = 99;
    EXPECT_EQ(cuMemPoolGetAttribute(pool, attribute, &value), CUDA_SUCCESS);
    EXPECT_EQ(value, expected) << number;
    // It cannot be changed.
    EXPECT_EQ(
        cuMemPoolSetAttribute(pool, attribute, &value),
        CUDA_ERROR_INVALID_VALUE);
  };
  expect(9, static_cast<int>(CU_MEM_ALLOCATION_TYPE_PINNED));
  expect(10, static_cast<int>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  expect(11, 1); // the location's id
  expect(12, static_cast<int>(CU_MEM_LOCATION_TYPE_DEVICE));
  expect(13, std::uint64_t{4096}); // the maximum
  expect(14, 0); // no decompression by hardware
  std::uint64_t value = 0;
  EXPECT_EQ(
      cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(15), &value),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

TEST_F(Pool, ItsMemoryMayBeExportedAsItMay) {
  for (const auto types :
       {CU_MEM_HANDLE_TYPE_NONE, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) {
    CUmemPoolProps wanted = properties(0);
    wanted.handleTypes = types;
    CUmemoryPool pool = nullptr;
    CUdeviceptr memory = 0;
    const Stream stream;
    ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 64, pool, stream), CUDA_SUCCESS);
    unsigned long long allowed = 99;
    EXPECT_EQ(
        cuPointerGetAttribute(
            &allowed, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, memory + 8),
        CUDA_SUCCESS);
    EXPECT_EQ(allowed, static_cast<unsigned long long>(types));
    EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  }
}

TEST_F(Pool, GivesNoMoreThanItsMaximum) {
  CUmemoryPool pool = nullptr;
  CUmemPoolProps wanted = properties(0);
  wanted.maxSize = 4096;
  const Stream stream;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  const auto allocate = [&](std::size_t bytes) {
    CUdeviceptr memory = 0;
    const CUresult result =
        cuMemAllocFromPoolAsync(&memory, bytes, pool, stream);
    return std::make_pair(result, memory);
  };
  EXPECT_EQ(allocate(4097).first, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(allocate(~std::size_t{0}).first, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(used(pool), 0u);
  const auto [result, memory] = allocate(4096);
  ASSERT_EQ(result, CUDA_SUCCESS);
  EXPECT_EQ(allocate(1).first, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(used(pool), 4096u);
  // What a stream is still to free counts until then.
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  const auto [again, more] = allocate(2048);
  ASSERT_EQ(again, CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(more, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

TEST_F(Pool, OtherDevicesAreLetIn) {
  CUmemoryPool pool = nullptr;
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  const CUmemPoolProps wanted = properties(0);
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  CUmemAccessDesc access{};
  access.location = properties(1).location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  EXPECT_EQ(cuMemPoolGetAccess(&flags, pool, &access.location), CUDA_SUCCESS);
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolGetAccess(&flags, pool, &access.location), CUDA_SUCCESS);
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(
      cuMemPoolGetAccess(nullptr, pool, &access.location),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemPoolGetAccess(&flags, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolSetAccess(pool, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_ERROR_NOT_SUPPORTED);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  access.location.id = 2;
  EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing
