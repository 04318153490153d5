// The memory of a device as the engine sees it: allocations that may be read
// and written. cudasim/backend/memory has and changes them; a kernel only asks.
// A device address is the address of the host's memory behind it.
#pragma once

#include <atomic>
#include <cstdint>

#include "cudasim/engine/memory/device_heap.h"
#include "cudasim/engine/memory/range.h"
#include "cudasim/engine/memory/texture_table.h"

namespace cudasim::engine {

class AddressSpace {
 public:
  virtual ~AddressSpace() = default;

  /// The range that holds `address`; false when none does. Thread-safe.
  virtual bool find(std::uint64_t address, Range* range) const = 0;

  /// Changes with every allocation and free: what was found earlier holds only
  /// while this stays the same.
  std::uint64_t generation() const {
    return generation_.load(std::memory_order_acquire);
  }

  /// What malloc in kernels takes from. It has no part in find().
  DeviceHeap& heap() const {
    return heap_;
  }

  /// What kernels read by coordinates.
  TextureTable& textures() const {
    return textures_;
  }

  /// Whether a kernel may read [begin, end), which is in no range, all the
  /// same: the bytes behind an allocation that a GPU gives it, too. Reports
  /// that it did. Thread-safe.
  /// @param kernel its name.
  virtual bool may_read_padding(
      std::uint64_t /*begin*/,
      std::uint64_t /*end*/,
      const char* /*kernel*/) const {
    return false;
  }

  /// The nearest range below and above an address, for reports.
  virtual void neighbours(std::uint64_t address, Range* below, Range* above)
      const = 0;

 protected:
  std::atomic<std::uint64_t> generation_{1};

 private:
  mutable DeviceHeap heap_;
  mutable TextureTable textures_;
};

} // namespace cudasim::engine
