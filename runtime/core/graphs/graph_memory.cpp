#include "runtime/core/graphs/graph_memory.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "runtime/core/machine/device.h"
#include "runtime/core/memory/address_map.h"

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
  open(false);
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

void GraphMemory::open(bool to_kernels) const {
  Device& device = pool_->device();
  try {
    device.memory().share(address_of(address_), device.ordinal(), to_kernels);
  } catch (const Failure&) {
    // The device was reset, or cannot keep its own kernels out.
  }
}

void GraphMemory::allocate() {
  open(true);
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
    found->second->open(false);
    return true;
  }
  const auto left = addresses().left.find(address);
  if (left != addresses().left.end()) {
    addresses().uses[left->second.device].unused += left->second.bytes;
    addresses().left.erase(left);
  }
  return false;
}

void note_launch(const std::vector<MemoryStep>& steps, bool free_first) {
  const std::lock_guard lock(addresses().mutex);
  std::unordered_map<GraphMemory*, bool> allocated; // what the launch changes
  const auto is_allocated = [&](GraphMemory* memory) {
    const auto changed = allocated.find(memory);
    return changed != allocated.end() ? changed->second : memory->allocated_;
  };
  for (const MemoryStep& step : steps) {
    GraphMemory* memory = step.allocates;
    if (memory != nullptr) {
      if (is_allocated(memory) && !free_first) {
        throw Failure(
            cudaErrorInvalidValue,
            "memory that an earlier launch of the graph has allocated is not "
            "freed: free it, or instantiate the graph with "
            "cudaGraphInstantiateFlagAutoFreeOnLaunch");
      }
      allocated[memory] = true;
      continue;
    }
    const auto found = addresses().of_graphs.find(step.frees);
    if (found != addresses().of_graphs.end()) {
      memory = found->second;
      require(is_allocated(memory));
      allocated[memory] = false;
    }
  }
  for (const auto& [memory, now] : allocated) {
    memory->allocated_ = now;
  }
}

void note_free(void* address) {
  const std::lock_guard lock(addresses().mutex);
  const auto found = addresses().of_graphs.find(address);
  if (found != addresses().of_graphs.end()) {
    require(found->second->allocated_);
    found->second->allocated_ = false;
  }
}

void require_allocated(const AddressMap& map, const void* address) {
  const std::lock_guard lock(addresses().mutex);
  if (addresses().of_graphs.empty()) {
    return;
  }
  const auto piece = map.find(address_of(address));
  if (!piece) {
    return;
  }
  const auto found =
      addresses().of_graphs.find(reinterpret_cast<void*>(piece->begin));
  require(found == addresses().of_graphs.end() || found->second->allocated_);
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
