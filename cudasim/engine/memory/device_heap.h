// The heap of malloc and free in kernels. Source: CUDA programming guide,
// "Dynamic global memory allocation".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "cudasim/engine/memory/address_space.h"

namespace cudasim::engine {

class DeviceHeap {
 public:
  /// The process's heap. All devices share it.
  static DeviceHeap& instance();

  /// Bytes that may be allocated at the same time (cudaLimitMallocHeapSize).
  void set_limit(std::uint64_t bytes);
  /// 16-byte aligned memory; null when the limit is reached.
  void* allocate(std::uint64_t bytes);
  /// Whether `pointer` came from allocate (null is fine too).
  bool free(void* pointer);
  bool find(std::uint64_t address, Range* range) const;

 private:
  mutable std::mutex mutex_;
  std::
      map<std::uint64_t, std::pair<std::uint64_t, std::unique_ptr<std::byte[]>>>
          blocks_; // begin -> size, memory
  std::uint64_t limit_ = 8u << 20;
  std::uint64_t used_ = 0;
};

} // namespace cudasim::engine
