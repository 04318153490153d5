// The memory of one device, and the host memory that devices can reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cudasim/device/memory/address_map.h"
#include "cudasim/engine/memory/range_allocator.h"

namespace cudasim::device {

class ExportTable;

/// The global memory of a device: a stretch of the host's address space, larger
/// than the device's memory so that fragmentation does not show, of which only
/// what is allocated counts. It is backed by a file without a name, which other
/// processes can open (IPC handles). Thread-safe.
class Memory {
 public:
  /// @param capacity bytes that may be allocated at a time.
  /// @param poisoned whether fresh memory is filled as
  /// the engine's checks want it (CUDASIM_CHECK=1).
  Memory(AddressMap& map, int device, std::uint64_t capacity, bool poisoned);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Allocates, aligned to at least 512 bytes.
  /// @throws Failure with cudaErrorMemoryAllocation.
  std::uint64_t allocate(
      std::uint64_t bytes,
      std::uint64_t alignment = 512,
      Space space = Space::kDevice,
      bool read_only = false,
      std::string name = {});
  /// Frees what allocate() gave; false when it did not give that.
  bool release(std::uint64_t begin);

  /// Counts memory that lies elsewhere (virtual memory) against the capacity.
  /// @throws Failure with cudaErrorMemoryAllocation.
  void charge(std::uint64_t bytes);
  void refund(std::uint64_t bytes);

  /// All memory, of which this is a part.
  AddressMap& addresses() const {
    return map_;
  }
  /// The device's number, as the program counts.
  int device() const {
    return device_;
  }
  std::uint64_t capacity() const {
    return capacity_;
  }
  std::uint64_t used() const;

  /// The file behind the arena; -1 when the host has none to give.
  int file() const {
    return file_;
  }
  /// Which memory other processes may open; null without a file.
  ExportTable* exports() const {
    return exports_.get();
  }
  /// The first address of the arena, at which the file's first byte lies.
  std::uint64_t base() const {
    return base_;
  }

 private:
  void drop_pages(std::uint64_t begin, std::uint64_t end) const;

  AddressMap& map_;
  int device_;
  std::uint64_t capacity_;
  bool poisoned_;
  std::uint64_t span_; // bytes of address space
  int file_ = -1;
  std::uint64_t base_ = 0;
  std::unique_ptr<ExportTable> exports_;
  mutable std::mutex mutex_;
  std::optional<engine::RangeAllocator> pieces_;
  std::uint64_t used_ = 0;
};

/// Allocates pinned (kHost) or managed memory, aligned to a page.
/// @throws Failure with cudaErrorMemoryAllocation.
void* allocate_host(
    AddressMap& map,
    std::size_t bytes,
    Space space,
    int device,
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

} // namespace cudasim::device
