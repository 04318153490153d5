// Virtual memory management: address space and memory apart from each other
// (CUDA driver API, chapter of that name).
#pragma once

#include <cstdint>
#include <memory>

namespace cudasim::device {

class AddressMap;
class Memory;

/// All sizes and offsets are multiples of this many bytes.
constexpr std::uint64_t kVirtualGranularity = 2 << 20;

/// Memory without an address: a file without a name.
class PhysicalMemory {
 public:
  /// @throws Failure: cudaErrorMemoryAllocation.
  PhysicalMemory(Memory& memory, std::uint64_t bytes);
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
  std::uint64_t size() const {
    return size_;
  }
  int file() const {
    return file_;
  }

 private:
  Memory& memory_;
  std::uint64_t size_ = 0;
  int file_ = -1;
  bool charged_ = false;
};

/// Reserves addresses without memory.
/// @param alignment 0 for the granularity, @param wish an address or 0.
/// @throws Failure: cudaErrorInvalidValue, cudaErrorMemoryAllocation.
std::uint64_t reserve_addresses(
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
void set_access(
    std::uint64_t begin,
    std::uint64_t size,
    int device,
    bool allowed);
/// Whether that device may use the mapping at the address.
bool has_access(const AddressMap& addresses, std::uint64_t address, int device);

/// The memory mapped at an address.
/// @throws Failure: cudaErrorInvalidValue.
std::shared_ptr<PhysicalMemory> memory_behind(std::uint64_t address);

} // namespace cudasim::device
