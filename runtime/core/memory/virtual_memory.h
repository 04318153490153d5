// Virtual memory management: address space and memory apart from each other
// (CUDA driver API, chapter of that name).
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/core/memory/memory.h"

namespace accelerator::runtime {

/// Memory without an address.
class PhysicalMemory {
 public:
  /// @throws Failure: cudaErrorMemoryAllocation.
  /// @param handle_types what it may be exported as, CUmemAllocationHandleType.
  PhysicalMemory(Memory& memory, std::uint64_t bytes, unsigned handle_types);
  /// Takes memory that another process (or this one) gave as a file.
  /// @throws Failure: cudaErrorInvalidValue when the file is something else.
  PhysicalMemory(Memory& memory, int file);
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  /// Of the device that it is on.
  Memory& memory() const {
    return memory_;
  }
  const accel_api& api() const {
    return *memory_.slot().api;
  }
  accel_physical native() const {
    return native_;
  }
  std::uint64_t size() const {
    return size_;
  }
  /// Bits of CUmemAllocationHandleType.
  unsigned handle_types() const {
    return handle_types_;
  }
  /// A file descriptor, the caller's, that names it for other processes.
  int export_file() const;

 private:
  Memory& memory_;
  std::uint64_t size_ = 0;
  accel_physical native_ = nullptr;
  unsigned handle_types_;
  bool imported_;
};

/// What all sizes and offsets are multiples of, in bytes.
/// @throws Failure: cudaErrorNotSupported when the device has no virtual memory
/// management, as all that follows.
std::uint64_t virtual_granularity(const Memory& memory);

/// Reserves addresses without memory, for the devices of a library.
/// @param memory of one of them, @param alignment 0 for the granularity, @param
/// wish an address or 0.
/// @throws Failure: cudaErrorInvalidValue, cudaErrorMemoryAllocation.
std::uint64_t reserve_addresses(
    const Memory& memory,
    std::uint64_t size,
    std::uint64_t alignment,
    std::uint64_t wish);
/// @throws Failure: cudaErrorInvalidValue when it was not reserved like that.
void free_addresses(std::uint64_t begin, std::uint64_t size);

/// Puts memory behind reserved addresses; nobody may use it yet.
void map_memory(
    std::uint64_t begin,
    std::uint64_t size,
    std::uint64_t offset,
    std::shared_ptr<PhysicalMemory> memory);
void unmap_memory(std::uint64_t begin, std::uint64_t size);

/// Lets a device use what is mapped in the range, or no longer.
/// @param memory of the device.
void set_access(
    std::uint64_t begin,
    std::uint64_t size,
    const Memory& memory,
    bool allowed);
/// Whether that device may use the mapping at the address.
bool has_access(const AddressMap& addresses, std::uint64_t address, int device);

/// The memory mapped at an address.
/// @throws Failure: cudaErrorInvalidValue.
std::shared_ptr<PhysicalMemory> memory_behind(std::uint64_t address);

} // namespace accelerator::runtime
