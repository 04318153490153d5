// Virtual memory: addresses are reserved, memory is made, and the one is mapped
// to the other.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

class VirtualMemory : public KernelTest {
 protected:
  VirtualMemory() {
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_EQ(
        cuMemGetAllocationGranularity(
            &unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressReserve(&base, 4 * unit, 0, 0, 0), CUDA_SUCCESS);
  }
  ~VirtualMemory() override {
    EXPECT_EQ(cuMemAddressFree(base, 4 * unit), CUDA_SUCCESS);
  }
  CUmemGenericAllocationHandle made(std::size_t size) const {
    CUmemGenericAllocationHandle memory = 0;
    EXPECT_EQ(cuMemCreate(&memory, size, &properties, 0), CUDA_SUCCESS);
    return memory;
  }
  static unsigned word(CUdeviceptr address) {
    unsigned value = 0;
    EXPECT_EQ(cuMemcpyDtoH(&value, address, sizeof(value)), CUDA_SUCCESS);
    return value;
  }
  unsigned long long rights(CUdeviceptr address) const {
    unsigned long long flags = 99;
    EXPECT_EQ(
        cuMemGetAccess(&flags, &properties.location, address), CUDA_SUCCESS);
    return flags;
  }

  CUmemAllocationProp properties{};
  CUmemAccessDesc access{};
  std::size_t unit = 0;
  CUdeviceptr base = 0;
};

TEST_F(VirtualMemory, MemoryIsMappedWhereAddressesAreReserved) {
  const auto memory = made(2 * unit);
  ASSERT_EQ(cuMemMap(base + unit, 2 * unit, 0, memory, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemSetAccess(base + unit, 2 * unit, &access, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(base + unit, 1, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(word(base + 3 * unit - 4), 0x01010101u);
  EXPECT_EQ(cuMemsetD8(base, 1, unit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(base, 4 * unit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(base + unit, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemUnmap(base + unit, 2 * unit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, OneMemoryAtTwoPlacesHasTheSameBytes) {
  const auto memory = made(unit);
  ASSERT_EQ(cuMemMap(base, unit, 0, memory, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(base + unit, unit, 0, memory, 0), CUDA_SUCCESS);
  // The mappings keep the memory.
  ASSERT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(base, 2 * unit, &access, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(base + 8, 77, 1), CUDA_SUCCESS);
  EXPECT_EQ(word(base + unit + 8), 77u);
  EXPECT_EQ(cuMemUnmap(base, 2 * unit), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, ADeviceHasAccessOnceItIsGiven) {
  const auto memory = made(unit);
  ASSERT_EQ(cuMemMap(base, unit, 0, memory, 0), CUDA_SUCCESS);
  EXPECT_EQ(rights(base), CU_MEM_ACCESS_FLAGS_PROT_NONE);
  ASSERT_EQ(cuMemSetAccess(base, unit, &access, 1), CUDA_SUCCESS);
  EXPECT_EQ(rights(base), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CUdeviceptr place = base + 16;
  unsigned value = 5;
  void* arguments[] = {&place, &value};
  ASSERT_EQ(
      cuLaunchKernel(
          kernel("store"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(word(place), 5u);
  // No device can be let read alone: its kernels would write as before.
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  EXPECT_EQ(cuMemSetAccess(base, unit, &access, 1), CUDA_ERROR_NOT_SUPPORTED);
  access.flags = static_cast<CUmemAccess_flags>(2);
  EXPECT_EQ(cuMemSetAccess(base, unit, &access, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(rights(base), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  ASSERT_EQ(cuMemSetAccess(base, unit, &access, 1), CUDA_SUCCESS);
  EXPECT_EQ(rights(base), CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_EQ(cuMemSetAccess(base, unit, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemSetAccess(base, 2 * unit, &access, 1), CUDA_ERROR_INVALID_VALUE);
  unsigned long long flags = 0;
  EXPECT_EQ(
      cuMemGetAccess(&flags, &properties.location, base + unit),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(base, unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, MemoryIsFoundBehindItsAddress) {
  const auto memory = made(unit);
  CUmemGenericAllocationHandle again = 0;
  CUmemAllocationProp found{};
  const auto inside = [&](CUdeviceptr address) {
    return reinterpret_cast<void*>(address);
  };
  ASSERT_EQ(cuMemMap(base, unit, 0, memory, 0), CUDA_SUCCESS);
  ASSERT_EQ(
      cuMemRetainAllocationHandle(&again, inside(base + unit - 1)),
      CUDA_SUCCESS);
  EXPECT_EQ(again, memory) << "the same memory";
  ASSERT_EQ(
      cuMemGetAllocationPropertiesFromHandle(&found, again), CUDA_SUCCESS);
  EXPECT_EQ(found.type, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(found.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(found.location.id, 0);
  EXPECT_EQ(
      cuMemRetainAllocationHandle(&again, inside(base + unit)),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(base, unit), CUDA_SUCCESS);
  // "The handle must be released once for each retain".
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemGetAllocationPropertiesFromHandle(&found, memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemGetAllocationPropertiesFromHandle(&found, memory),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, AnAddressSaysWhatItsMemoryMayBeExportedAs) {
  const auto at = [&](CUdeviceptr address) {
    unsigned long long types = 99;
    EXPECT_EQ(
        cuPointerGetAttribute(
            &types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address),
        CUDA_SUCCESS);
    return types;
  };
  const auto closed = made(unit);
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const auto open = made(unit);
  ASSERT_EQ(cuMemMap(base, unit, 0, closed, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(base + unit, unit, 0, open, 0), CUDA_SUCCESS);
  EXPECT_EQ(at(base), unsigned{CU_MEM_HANDLE_TYPE_NONE});
  EXPECT_EQ(
      at(base + unit + 5), unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR});
  EXPECT_EQ(cuMemUnmap(base, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(closed), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(open), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, MemoryGoesThroughAFileDescriptor) {
  const auto closed = made(unit);
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const auto memory = made(unit);
  CUmemAllocationProp found{};
  CUmemGenericAllocationHandle imported = 0;
  int file = -1;
  EXPECT_EQ(
      cuMemExportToShareableHandle(
          &file, closed, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      CUDA_ERROR_INVALID_VALUE)
      << "was not asked for";
  EXPECT_EQ(cuMemRelease(closed), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemGetAllocationPropertiesFromHandle(&found, memory), CUDA_SUCCESS);
  EXPECT_EQ(found.requestedHandleTypes, properties.requestedHandleTypes);
  ASSERT_EQ(
      cuMemExportToShareableHandle(
          &file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuMemImportFromShareableHandle(
          &imported,
          reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
      CUDA_SUCCESS);
  EXPECT_EQ(close(file), 0);
  ASSERT_EQ(cuMemMap(base, unit, 0, memory, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(base + unit, unit, 0, imported, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(base, 2 * unit, &access, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(base, 31, 1), CUDA_SUCCESS);
  EXPECT_EQ(word(base + unit), 31u);
  EXPECT_EQ(cuMemUnmap(base, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(imported), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemExportToShareableHandle(
          &file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, SizesAreMultiplesOfTheGranularity) {
  CUmemGenericAllocationHandle memory = 0;
  CUdeviceptr address = 0;
  EXPECT_EQ(
      cuMemCreate(&memory, unit + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemCreate(&memory, unit << 24, &properties, 0),
      CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemCreate(&memory, unit, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemAddressReserve(&address, unit + 1, 0, 0, 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemAddressReserve(&address, unit, 3 * unit, 0, 0),
      CUDA_ERROR_INVALID_VALUE)
      << "an alignment that is no power of two";
  properties.location.id = 2;
  EXPECT_EQ(
      cuMemCreate(&memory, unit, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(VirtualMemory, AddressesAreAligned) {
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAddressReserve(&address, unit, 64 * unit, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(address % (64 * unit), 0u);
  EXPECT_EQ(cuMemAddressFree(address, 2 * unit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(address, unit), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, NothingIsMappedTwiceOrOutside) {
  const auto memory = made(unit);
  ASSERT_EQ(cuMemMap(base, unit, 0, memory, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(base, unit, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemMap(base + unit, 2 * unit, 0, memory, 0), CUDA_ERROR_NOT_SUPPORTED)
      << "more than there is";
  const auto large = made(2 * unit);
  EXPECT_EQ(cuMemMap(base + unit, unit, 0, large, 0), CUDA_ERROR_NOT_SUPPORTED)
      << "less than there is";
  EXPECT_EQ(
      cuMemMap(base + unit, unit, unit, large, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRelease(large), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemMap(base + 4 * unit, unit, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(base, unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, SizesThatWrapAroundAreRefused) {
  const std::size_t most = ~(unit - 1); // a multiple of the granularity
  CUdeviceptr address = 0;
  EXPECT_NE(cuMemAddressReserve(&address, most, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_NE(
      cuMemAddressReserve(&address, unit, std::size_t{1} << 63, 0, 0),
      CUDA_SUCCESS);
  const auto memory = made(unit);
  EXPECT_EQ(
      cuMemMap(base, 2 * unit, most, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(base, most, unit, memory, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemMap(base, unit, 0, memory, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemUnmap(base, most), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemSetAccess(base, most, &access, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(base, most), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(base, unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, OnlyFilesOfDevicesMemoryAreTaken) {
  const auto taken = [](int file) {
    CUmemGenericAllocationHandle memory = 0;
    return cuMemImportFromShareableHandle(
        &memory,
        reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  };
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int ordinary = fileno(std::tmpfile());
  ASSERT_EQ(ftruncate(ordinary, static_cast<off_t>(unit)), 0);
  // One that gets shorter takes the memory away under the program.
  const int other = memfd_create("accel-virtual", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(other, static_cast<off_t>(unit)), 0);
  for (const int file : {-1, 1 << 20, ends[0], ordinary, other}) {
    EXPECT_EQ(taken(file), CUDA_ERROR_INVALID_VALUE) << file;
  }
  for (const int file : {ends[0], ends[1], other}) {
    close(file);
  }
}

} // namespace
} // namespace accelerator::driver::testing
