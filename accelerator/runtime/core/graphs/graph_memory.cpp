#include "accelerator/runtime/core/graphs/graph_memory.h"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace accelerator::runtime {
namespace {

struct Addresses {
  std::mutex mutex;
  std::unordered_map<void*, GraphMemory*> of_graphs;
};

// Graphs that a program leaves behind are destroyed after everything else.
Addresses& addresses() {
  static auto* all = new Addresses;
  return *all;
}

} // namespace

GraphMemory::GraphMemory(std::shared_ptr<MemoryPool> pool, std::size_t bytes)
    : pool_(std::move(pool)), bytes_(bytes), address_(pool_->allocate(bytes_)) {
  const std::lock_guard lock(addresses().mutex);
  addresses().of_graphs[address_] = this;
}

GraphMemory::~GraphMemory() {
  {
    const std::lock_guard lock(addresses().mutex);
    addresses().of_graphs.erase(address_);
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
  live_ = true;
}

bool free_graph_memory(void* address) {
  const std::lock_guard lock(addresses().mutex);
  const auto found = addresses().of_graphs.find(address);
  if (found == addresses().of_graphs.end()) {
    return false;
  }
  found->second->live_ = false;
  return true;
}

} // namespace accelerator::runtime
