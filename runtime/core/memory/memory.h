// The memory of one device, and the host memory that devices can reach.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

#include "runtime/core/backends/backends.h"
#include "runtime/core/memory/address_map.h"

namespace accelerator::runtime {

/// The global memory of a device. Thread-safe.
class Memory {
 public:
  /// @param map all memory, @param device its number, as the program counts,
  /// @param slot where the device comes from.
  Memory(AddressMap& map, int device, const Slot& slot)
      : map_(map), device_(device), slot_(slot) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Allocates, aligned to at least 256 bytes, and for arrays to 512.
  /// @param space kDevice or kArray.
  /// @throws Failure with cudaErrorMemoryAllocation.
  std::uint64_t allocate(std::uint64_t bytes, Space space = Space::kDevice);
  /// Frees what allocate() gave; false when it did not give that.
  bool release(std::uint64_t begin, Space space = Space::kDevice);
  /// Lets another device, as the program counts, use what begins there, or no
  /// longer.
  void share(std::uint64_t begin, int device, bool allowed) const;

  /// All memory, of which this is a part.
  AddressMap& addresses() const {
    return map_;
  }
  int device() const {
    return device_;
  }
  const Slot& slot() const {
    return slot_;
  }
  /// Bytes that could be allocated, and of all memory.
  struct Amount {
    std::uint64_t available;
    std::uint64_t total;
  };
  Amount amount() const;

 private:
  AddressMap& map_;
  int device_;
  Slot slot_;
};

/// Lets rights to memory pass that devices can be given: all or none.
/// @throws Failure: cudaErrorNotSupported for reading alone,
/// cudaErrorInvalidValue for what is none of CUDA's.
void require_access(cudaMemAccessFlags flags);

/// Allocates pinned (kHost) or managed memory, aligned to a page.
/// @param slot the device that it is taken for.
/// @throws Failure with cudaErrorMemoryAllocation.
void* allocate_host(
    AddressMap& map,
    std::size_t bytes,
    Space space,
    int device,
    const Slot& slot,
    unsigned flags);

/// Frees what allocate_host() gave.
/// @throws Failure with cudaErrorInvalidValue when it is something else.
void release_host(AddressMap& map, void* memory, Space space);

/// Makes a program's own memory known to the devices.
/// @throws Failure with cudaErrorHostMemoryAlreadyRegistered.
void register_host(
    AddressMap& map,
    void* memory,
    std::size_t bytes,
    int device,
    unsigned flags);

/// @throws Failure with cudaErrorHostMemoryNotRegistered.
void unregister_host(AddressMap& map, void* memory);

} // namespace accelerator::runtime
