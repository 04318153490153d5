#include "accelerator/runtime/core/graphs/graph_memory.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace accelerator::runtime {
namespace {

struct Addresses {
  std::mutex mutex;
  std::unordered_map<void*, GraphMemory*> of_graphs;
  std::unordered_map<const Device*, GraphMemoryUse> uses;
};

// Graphs that a program leaves behind are destroyed after everything else.
Addresses& addresses() {
  static auto* all = new Addresses;
  return *all;
}

// These are for who holds the mutex.

void reserve(const Device& device, std::uint64_t bytes) {
  GraphMemoryUse& use = addresses().uses[&device];
  use.reserved += bytes;
  use.reserved_high = std::max(use.reserved_high, use.reserved);
}

void revive(const Device& device, std::uint64_t bytes) {
  GraphMemoryUse& use = addresses().uses[&device];
  use.live += bytes;
  use.live_high = std::max(use.live_high, use.live);
}

} // namespace

GraphMemory::GraphMemory(std::shared_ptr<MemoryPool> pool, std::size_t bytes)
    : pool_(std::move(pool)), bytes_(bytes), address_(pool_->allocate(bytes_)) {
  const std::lock_guard lock(addresses().mutex);
  addresses().of_graphs[address_] = this;
  reserve(pool_->device(), bytes_);
}

GraphMemory::~GraphMemory() {
  {
    const std::lock_guard lock(addresses().mutex);
    addresses().of_graphs.erase(address_);
    GraphMemoryUse& use = addresses().uses[&pool_->device()];
    use.reserved -= bytes_;
    use.live -= live_ ? bytes_ : 0;
  }
  if (live_) {
    return;
  }
  try {
    pool_->release(address_);
  } catch (const Failure&) {
    // The device was reset.
  }
}

void GraphMemory::allocate() {
  const std::lock_guard lock(addresses().mutex);
  if (!live_) {
    revive(pool_->device(), bytes_);
  }
  live_ = true;
}

bool free_graph_memory(void* address) {
  const std::lock_guard lock(addresses().mutex);
  const auto found = addresses().of_graphs.find(address);
  if (found == addresses().of_graphs.end()) {
    return false;
  }
  GraphMemory& memory = *found->second;
  if (memory.live_) {
    addresses().uses[&memory.pool().device()].live -= memory.bytes();
  }
  memory.live_ = false;
  return true;
}

GraphMemoryUse graph_memory_use(const Device& device) {
  const std::lock_guard lock(addresses().mutex);
  return addresses().uses[&device];
}

void restart_live_high(const Device& device) {
  const std::lock_guard lock(addresses().mutex);
  GraphMemoryUse& use = addresses().uses[&device];
  use.live_high = use.live;
}

void restart_reserved_high(const Device& device) {
  const std::lock_guard lock(addresses().mutex);
  GraphMemoryUse& use = addresses().uses[&device];
  use.reserved_high = use.reserved;
}

} // namespace accelerator::runtime
