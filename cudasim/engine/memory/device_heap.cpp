#include "cudasim/engine/memory/device_heap.h"

#include <algorithm>
#include <new>

namespace cudasim::engine {

DeviceHeap& DeviceHeap::instance() {
  static DeviceHeap heap;
  return heap;
}

void DeviceHeap::set_limit(std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  limit_ = bytes;
}

void* DeviceHeap::allocate(std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes == 0 || bytes > limit_ - std::min(limit_, used_)) {
    return nullptr;
  }
  std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[bytes]);
  if (memory == nullptr) {
    return nullptr;
  }
  void* pointer = memory.get();
  used_ += bytes;
  blocks_[reinterpret_cast<std::uint64_t>(pointer)] = {
      bytes, std::move(memory)};
  return pointer;
}

bool DeviceHeap::free(void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pointer == nullptr) {
    return true;
  }
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == blocks_.end()) {
    return false;
  }
  used_ -= found->second.first;
  blocks_.erase(found);
  return true;
}

bool DeviceHeap::find(std::uint64_t address, Range* range) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) {
    return false;
  }
  --next;
  if (address >= next->first + next->second.first) {
    return false;
  }
  *range = {next->first, next->first + next->second.first, 0, false};
  return true;
}

} // namespace cudasim::engine
