// Memory: allocating, copying, filling, and what is known about an address.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

using Memory = ContextTest;

CUdeviceptr address_of(const void* host) {
  return reinterpret_cast<CUdeviceptr>(host);
}

std::vector<int> ascending(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST_F(Memory, NothingIsAllocatedForNoBytes) {
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(nullptr, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemAlloc(&memory, std::size_t{1} << 60), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(
      cuMemAllocManaged(&memory, 0, CU_MEM_ATTACH_GLOBAL),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, AllocationsBeginWithAPage) {
  std::size_t before = 0;
  std::size_t total = 0;
  ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  std::vector<CUdeviceptr> all;
  std::size_t asked = 0;
  for (const std::size_t bytes :
       {std::size_t{1},
        std::size_t{512},
        std::size_t{5000},
        std::size_t{1} << 20,
        std::size_t{2} << 20,
        (std::size_t{3} << 20) + 4,
        std::size_t{40} << 20}) {
    for (int i = 0; i < 3; ++i) {
      CUdeviceptr memory = 0;
      ASSERT_EQ(cuMemAlloc(&memory, bytes), CUDA_SUCCESS);
      // Pages of 2 MiB, as of NVIDIA's driver, where they are filled.
      const std::uint64_t page = bytes >= (2 << 20) ? 2 << 20 : 4096;
      EXPECT_EQ(memory % page, 0u) << bytes;
      CUdeviceptr begin = 0;
      std::size_t size = 0;
      ASSERT_EQ(cuMemGetAddressRange(&begin, &size, memory), CUDA_SUCCESS);
      EXPECT_EQ(size, bytes); // not a byte more may be used
      all.push_back(memory);
      asked += bytes;
    }
  }
  std::size_t after = 0;
  ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_LE(before - after, asked + 512 * all.size()); // whole pages cost none
  for (const CUdeviceptr memory : all) {
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  }
}

TEST_F(Memory, ManySmallAllocationsFit) {
  std::vector<CUdeviceptr> all(20000);
  for (CUdeviceptr& memory : all) {
    ASSERT_EQ(cuMemAlloc(&memory, 600), CUDA_SUCCESS);
  }
  for (const CUdeviceptr memory : all) {
    ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  }
}

TEST_F(Memory, OnlyTheBeginningOfAnAllocationIsFreed) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 1000), CUDA_SUCCESS);
  EXPECT_EQ(memory % 256, 0u);
  EXPECT_EQ(cuMemFree(memory + 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, AnAddressBelongsToItsAllocation) {
  const Array<char> array(1000);
  CUdeviceptr begin = 0;
  std::size_t size = 0;
  ASSERT_EQ(
      cuMemGetAddressRange(&begin, &size, array.address(999)), CUDA_SUCCESS);
  EXPECT_EQ(begin, array.address());
  EXPECT_EQ(size, 1000u);
  int local = 0;
  EXPECT_EQ(
      cuMemGetAddressRange(&begin, &size, address_of(&local)),
      CUDA_ERROR_NOT_FOUND);
}

TEST_F(Memory, BytesGoThereAndBack) {
  const auto values = ascending(1000);
  const Array<int> first(values);
  const Array<int> second(1000);
  const Array<int> third(1000);
  std::vector<int> back(1000);
  ASSERT_EQ(
      cuMemcpyDtoD(second.address(), first.address(), first.bytes()),
      CUDA_SUCCESS);
  EXPECT_EQ(second.values(), values);
  ASSERT_EQ(
      cuMemcpy(third.address(), second.address(), first.bytes()), CUDA_SUCCESS);
  ASSERT_EQ(
      cuMemcpy(address_of(back.data()), third.address(), first.bytes()),
      CUDA_SUCCESS);
  EXPECT_EQ(back, values);
}

TEST_F(Memory, PartsOfAnArrayAreCopied) {
  const Array<int> array(ascending(10));
  const int two[] = {-1, -2};
  ASSERT_EQ(cuMemcpyHtoD(array.address(3), two, sizeof(two)), CUDA_SUCCESS);
  EXPECT_EQ(
      array.values(), (std::vector<int>{1, 2, 3, -1, -2, 6, 7, 8, 9, 10}));
}

TEST_F(Memory, CopiesBeyondTheEndAreRefused) {
  const Array<int> array(10);
  std::vector<int> host(100);
  EXPECT_EQ(
      cuMemcpyHtoD(array.address(), host.data(), 44), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemcpyDtoH(host.data(), array.address(), 44), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemcpyDtoD(array.address(5), array.address(), 24),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemcpyDtoD(array.address(), address_of(host.data()), 4),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, CopiesInAStreamWaitForIt) {
  const auto values = ascending(100);
  const Array<int> first(values);
  const Array<int> second(100);
  const Array<int> third(100);
  const Array<int> fourth(100);
  void* pinned = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&pinned, 400, 0), CUDA_SUCCESS);
  const auto* arrived = static_cast<int*>(pinned);
  {
    const Stream stream;
    Gate gate(stream);
    ASSERT_EQ(
        cuMemcpyDtoDAsync(second.address(), first.address(), 400, stream),
        CUDA_SUCCESS);
    ASSERT_EQ(
        cuMemcpyAsync(third.address(), second.address(), 400, stream),
        CUDA_SUCCESS);
    ASSERT_EQ(
        cuMemcpyDtoHAsync(pinned, third.address(), 400, stream), CUDA_SUCCESS);
    ASSERT_EQ(
        cuMemcpyHtoDAsync(fourth.address(), pinned, 400, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(second.values()[99], 0);
    gate.open();
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(std::vector<int>(arrived, arrived + 100), values);
  EXPECT_EQ(fourth.values(), values);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
}

TEST_F(Memory, BytesGoFromDeviceToDevice) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  const auto there = std::make_unique<Array<int>>(100);
  ASSERT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  const auto values = ascending(100);
  const Array<int> here(values);
  const Array<int> back(100);
  ASSERT_EQ(
      cuMemcpyPeer(there->address(), other, here.address(), context, 400),
      CUDA_SUCCESS);
  EXPECT_EQ(there->values(), values);
  ASSERT_EQ(
      cuMemcpyPeerAsync(
          back.address(), context, there->address(), other, 400, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(back.values(), values);
  EXPECT_EQ(
      cuMemcpyPeer(there->address(), nullptr, here.address(), context, 400),
      CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(
      cuMemcpyPeerAsync(
          there->address(), other, here.address(), nullptr, 400, nullptr),
      CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Memory, PinnedMemoryHasTheSameAddressOnTheDevice) {
  void* pinned = nullptr;
  CUdeviceptr device = 0;
  ASSERT_EQ(
      cuMemHostAlloc(&pinned, 100, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  ASSERT_EQ(cuMemHostGetDevicePointer(&device, pinned, 0), CUDA_SUCCESS);
  EXPECT_EQ(device, address_of(pinned));
  ASSERT_EQ(cuMemsetD8(device, 3, 100), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(static_cast<char*>(pinned)[99], 3);
  EXPECT_EQ(
      cuMemHostGetDevicePointer(&device, pinned, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostAlloc(&pinned, 100, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemHostGetDevicePointer(&device, pinned, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, HostMemoryIsRegisteredOnce) {
  std::vector<char> host(10000);
  CUdeviceptr device = 0;
  ASSERT_EQ(cuMemHostRegister(host.data(), host.size(), 0), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemHostRegister(host.data(), host.size(), 0),
      CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  ASSERT_EQ(cuMemHostGetDevicePointer(&device, host.data(), 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(device, 6, host.size()), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(host.back(), 6);
  EXPECT_EQ(cuMemHostUnregister(host.data()), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemHostUnregister(host.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(Memory, ManagedMemoryIsTheHostsAndTheDevices) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocManaged(&memory, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  auto* host = reinterpret_cast<unsigned char*>(memory);
  host[0] = 1;
  ASSERT_EQ(cuMemsetD8(memory + 1, 2, 63), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(host[0] + host[63], 3);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocManaged(&memory, 64, 0), CUDA_ERROR_INVALID_VALUE);
}

template <typename T>
T attribute(CUpointer_attribute which, CUdeviceptr address) {
  T value{};
  EXPECT_EQ(cuPointerGetAttribute(&value, which, address), CUDA_SUCCESS);
  return value;
}

TEST_F(Memory, AnAddressHasAttributes) {
  const Array<int> array(100);
  const CUdeviceptr inside = array.address(50);
  EXPECT_EQ(
      attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside),
      unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(
      attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, inside), context);
  EXPECT_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside), 0);
  EXPECT_EQ(
      attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, inside),
      inside);
  EXPECT_EQ(
      attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside),
      array.address());
  EXPECT_EQ(
      attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside), 400u);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, inside), 0u);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MAPPED, inside), 1u);
  EXPECT_EQ(
      attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, inside),
      array.address());
  EXPECT_EQ(
      attribute<std::size_t>(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, inside), 400u);
  EXPECT_EQ(
      attribute<unsigned>(
          CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, inside),
      0u);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, inside), 3u);
  EXPECT_EQ(
      attribute<void*>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, inside), nullptr);
  EXPECT_EQ(
      attribute<unsigned>(static_cast<CUpointer_attribute>(21), inside), 0u);
  EXPECT_EQ(
      attribute<unsigned long long>(
          CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, inside),
      0u);
  void* host = nullptr;
  EXPECT_EQ(
      cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, inside),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MAPPED, inside),
      CUDA_ERROR_INVALID_VALUE);
}

// "Guaranteed to be unique across the process", even where an address is used
// again.
TEST_F(Memory, EachAllocationHasAnIdOfItsOwn) {
  unsigned long long before = 0;
  {
    const Array<int> array(100);
    before = attribute<unsigned long long>(
        CU_POINTER_ATTRIBUTE_BUFFER_ID, array.address());
  }
  const Array<int> array(100);
  EXPECT_NE(
      attribute<unsigned long long>(
          CU_POINTER_ATTRIBUTE_BUFFER_ID, array.address()),
      before);
}

TEST_F(Memory, PinnedMemoryIsTheHosts) {
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, 100), CUDA_SUCCESS);
  const CUdeviceptr address = address_of(pinned);
  EXPECT_EQ(
      attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
      unsigned{CU_MEMORYTYPE_HOST});
  EXPECT_EQ(
      attribute<void*>(CU_POINTER_ATTRIBUTE_HOST_POINTER, address + 1),
      static_cast<char*>(pinned) + 1);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
}

// "Unlike cuPointerGetAttribute, this function will not return an error when
// the ptr encountered is not a valid CUDA pointer."
TEST_F(Memory, AttributesOfForeignMemoryAreZeros) {
  CUpointer_attribute which[] = {
      CU_POINTER_ATTRIBUTE_RANGE_SIZE,
      CU_POINTER_ATTRIBUTE_HOST_POINTER,
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  std::size_t size = ~std::size_t{0};
  void* host = &size;
  unsigned type = 99;
  void* values[] = {&size, &host, &type};
  EXPECT_EQ(
      cuPointerGetAttribute(
          &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(&size)),
      CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(
      cuPointerGetAttributes(3, which, values, address_of(&size)),
      CUDA_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(host, nullptr);
  EXPECT_EQ(type, 0u);

  const Array<int> array(10);
  host = &size;
  ASSERT_EQ(
      cuPointerGetAttributes(3, which, values, array.address()), CUDA_SUCCESS);
  EXPECT_EQ(size, 40u);
  EXPECT_EQ(host, nullptr);
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(
      cuPointerGetAttributes(3, nullptr, values, array.address()),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuPointerGetAttributes(3, which, nullptr, array.address()),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, MemoryOfAStreamComesAndGoesInItsOrder) {
  const Stream stream;
  CUdeviceptr memory = 0;
  std::vector<int> back(4);
  ASSERT_EQ(cuMemAllocAsync(&memory, 16, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 6, 4, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync(back.data(), memory, 16, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(back, std::vector<int>(4, 6));
  EXPECT_EQ(cuMemFreeAsync(1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocAsync(nullptr, 16, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, SizesBeyondAllMemoryAreRefused) {
  // Those whose products wrap around to something small, too.
  const Array<std::uint8_t> array(16);
  const CUdeviceptr memory = array.address();
  constexpr std::size_t kMost = SIZE_MAX;
  EXPECT_EQ(cuMemsetD8(memory, 1, kMost), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(memory, 1, ~memory + 17), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD16(memory, 1, kMost / 2 + 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(memory, 1, kMost / 4 + 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemsetD32Async(memory, 1, kMost / 4 + 2, nullptr),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemsetD2D8(memory, std::size_t{1} << 63, 1, 4, 3),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemsetD2D32(memory, 8, 1, kMost / 4 + 2, 2), CUDA_ERROR_INVALID_VALUE);
  std::uint8_t host[16];
  EXPECT_EQ(cuMemcpyHtoD(memory, host, kMost), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(host, memory, kMost), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoD(memory, memory, kMost), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy(memory, memory, kMost), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr none = 0;
  EXPECT_EQ(cuMemAlloc(&none, kMost), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(array.values(), std::vector<std::uint8_t>(16));
}

} // namespace
} // namespace accelerator::driver::testing
