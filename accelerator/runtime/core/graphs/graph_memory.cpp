#include "accelerator/runtime/core/graphs/graph_memory.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace accelerator::runtime {
namespace {

// What was in use when its graph went.
struct Left {
  const Device* device;
  std::uint64_t bytes;
};

struct Addresses {
  std::mutex mutex;
  std::unordered_map<void*, GraphMemory*> of_graphs;
  std::unordered_map<void*, Left> left;
  std::unordered_map<const Device*, GraphMemoryUse> uses;
};

// Graphs that a program leaves behind are destroyed after everything else.
Addresses& addresses() {
  static auto* all = new Addresses;
  return *all;
}

// For who holds the mutex.
void map(const Device& device, std::uint64_t bytes) {
  GraphMemoryUse& use = addresses().uses[&device];
  use.mapped += bytes;
  use.used_high = std::max(use.used_high, use.mapped);
  use.reserved_high = std::max(use.reserved_high, use.mapped);
}

} // namespace

GraphMemory::GraphMemory(std::shared_ptr<MemoryPool> pool, std::size_t bytes)
    : pool_(std::move(pool)), bytes_(bytes), address_(pool_->allocate(bytes_)) {
  const std::lock_guard lock(addresses().mutex);
  addresses().of_graphs[address_] = this;
  // Whoever had the address before has lost it, by a reset of the device.
  addresses().left.erase(address_);
}

GraphMemory::~GraphMemory() {
  {
    const std::lock_guard lock(addresses().mutex);
    addresses().of_graphs.erase(address_);
    const Device& device = pool_->device();
    if (live_) {
      addresses().left[address_] = {&device, bytes_};
    } else if (mapped_) {
      addresses().uses[&device].unused += bytes_;
    }
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
  if (!mapped_) {
    map(pool_->device(), bytes_);
  }
  mapped_ = true;
  live_ = true;
}

bool free_graph_memory(void* address) {
  const std::lock_guard lock(addresses().mutex);
  const auto found = addresses().of_graphs.find(address);
  if (found != addresses().of_graphs.end()) {
    found->second->live_ = false;
    return true;
  }
  const auto left = addresses().left.find(address);
  if (left != addresses().left.end()) {
    addresses().uses[left->second.device].unused += left->second.bytes;
    addresses().left.erase(left);
  }
  return false;
}

GraphMemoryUse graph_memory_use(const Device& device) {
  const std::lock_guard lock(addresses().mutex);
  return addresses().uses[&device];
}

void restart_used_high(const Device& device) {
  const std::lock_guard lock(addresses().mutex);
  GraphMemoryUse& use = addresses().uses[&device];
  use.used_high = use.mapped;
}

void restart_reserved_high(const Device& device) {
  const std::lock_guard lock(addresses().mutex);
  GraphMemoryUse& use = addresses().uses[&device];
  use.reserved_high = use.mapped;
}

void trim_graph_memory(const Device& device) {
  const std::lock_guard lock(addresses().mutex);
  GraphMemoryUse& use = addresses().uses[&device];
  use.mapped -= use.unused;
  use.unused = 0;
  for (const auto& [address, memory] : addresses().of_graphs) {
    if (&memory->pool().device() == &device && memory->mapped_ &&
        !memory->live_) {
      memory->mapped_ = false;
      use.mapped -= memory->bytes();
    }
  }
}

} // namespace accelerator::runtime
