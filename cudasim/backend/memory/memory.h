// The memory of one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "cudasim/backend/memory/address_map.h"
#include "cudasim/engine/memory/range_allocator.h"

namespace cudasim::backend {

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
  /// @param padded whether kernels may read what is behind the end of an
  /// allocation in its last 512 bytes (CUDASIM_PADDING=read).
  Memory(
      AddressMap& map,
      int device,
      std::uint64_t capacity,
      bool poisoned,
      bool padded);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Allocates, aligned to at least 512 bytes.
  /// @param variable a module's, which reset() leaves alone and which is not
  /// poisoned; @param read_only for kernels.
  /// @throws Error with ACCEL_OUT_OF_MEMORY.
  std::uint64_t allocate(
      std::uint64_t bytes,
      std::uint64_t alignment,
      bool variable = false,
      bool read_only = false);
  /// Frees what allocate() gave; false when it did not give that.
  bool release(std::uint64_t begin);
  /// Frees all but modules' variables.
  void reset();

  /// Counts memory that lies elsewhere (virtual memory) against the capacity.
  /// @throws Error with ACCEL_OUT_OF_MEMORY.
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
  bool padded_;
  std::uint64_t span_; // bytes of address space
  int file_ = -1;
  std::uint64_t base_ = 0;
  std::unique_ptr<ExportTable> exports_;
  mutable std::mutex mutex_;
  std::optional<engine::RangeAllocator> pieces_;
  std::uint64_t used_ = 0;
  std::set<std::uint64_t> given_; // what reset() frees
};

} // namespace cudasim::backend
