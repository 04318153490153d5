// Virtual memory management: address space and memory apart from each other
// (CUDA driver API, chapter of that name).
#pragma once

#include <cstdint>
#include <memory>

namespace cudasim::backend {

class Memory;

/// All sizes and offsets are multiples of this many bytes.
constexpr std::uint64_t kVirtualGranularity = 2 << 20;

/// Memory without an address: a file without a name.
class PhysicalMemory {
 public:
  /// @throws Error: ACCEL_OUT_OF_MEMORY.
  PhysicalMemory(Memory& memory, std::uint64_t bytes);
  /// Takes memory that another process (or this one) gave as a file.
  /// @throws Error: ACCEL_INVALID_ARGUMENT when the file is something else.
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
/// @throws Error: ACCEL_INVALID_ARGUMENT, ACCEL_OUT_OF_MEMORY.
std::uint64_t reserve_addresses(
    std::uint64_t size,
    std::uint64_t alignment,
    std::uint64_t wish);
/// @throws Error: ACCEL_INVALID_ARGUMENT when it was not reserved like that.
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

} // namespace cudasim::backend
