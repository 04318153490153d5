// The heap of malloc and free in kernels. Source: CUDA programming guide,
// "Dynamic global memory allocation".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "cudasim/engine/memory/range.h"
#include "cudasim/engine/memory/range_allocator.h"

namespace cudasim::engine {

/// The heap of one device. It lies in a stretch of addresses of its own, which
/// stays until reset(): a write that comes too late for a free is lost there,
/// and reaches nothing of the host's. Thread-safe.
class DeviceHeap {
 public:
  static constexpr std::uint64_t kDefaultLimit = 8 << 20;

  DeviceHeap() = default;
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  /// Sets the bytes that may be allocated at a time (cudaLimitMallocHeapSize).
  /// @returns false once a kernel has used the heap, for then its size is
  /// fixed, as CUDA has it.
  bool set_limit(std::uint64_t bytes);
  std::uint64_t limit() const;

  /// 16-byte aligned memory; null when the limit is reached.
  void* allocate(std::uint64_t bytes);
  /// Whether `pointer` came from allocate (null is fine too).
  bool free(void* pointer);
  /// The piece that holds the address; false when none does.
  bool find(std::uint64_t address, Range* range) const;
  /// Whether an address is one of the heap's, given or not.
  bool spans(std::uint64_t address) const;
  /// Changes with every free: what was found earlier holds only while this
  /// stays the same.
  std::uint64_t generation() const {
    return generation_.load(std::memory_order_acquire);
  }

  /// Frees everything and goes back to the default limit. No kernel may run.
  void reset();

 private:
  bool begin();
  void end();

  mutable std::shared_mutex mutex_;
  std::uint64_t limit_ = kDefaultLimit;
  std::uint64_t used_ = 0;
  void* arena_ = nullptr; // null until a kernel asks for memory
  std::size_t span_ = 0; // bytes of it
  std::optional<RangeAllocator> pieces_;
  std::map<std::uint64_t, std::uint64_t> sizes_; // begin, bytes asked for
  std::atomic<std::uint64_t> generation_{1};
};

} // namespace cudasim::engine
