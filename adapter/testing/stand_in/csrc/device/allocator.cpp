// The caching allocator. Blocks are not split: one allocation of the device is
// one block.
#include <c10/util/Exception.h>

#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ATen/stand/StandEvent.h"
#include "adapter/testing/stand_in/csrc/device/held.h"
#include "c10/stand/StandCachingAllocator.h"

namespace c10::stand::StandCachingAllocator {
namespace {

constexpr size_t kRound = 512;
constexpr double kGiB = 1 << 30;

struct Block {
  void* address;
  size_t bytes; // of the allocation
  size_t used; // by the tensor, rounded
  size_t requested;
  DeviceIndex device;
  standStream_t stream;
  std::set<standStream_t> streams; // others that use it
  uint64_t hold; // the graph's that it was allocated for, or 0
};

struct Waiting {
  Block* block;
  std::vector<at::stand::StandEvent> events;
};

class Caching final : public c10::Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    const auto device = current_device();
    void* address = alloc(bytes, getCurrentStandStream(device));
    return {
        address, address, &raw_delete, Device(DeviceType::PrivateUse1, device)};
  }
  DeleterFnPtr raw_deleter() const override {
    return &raw_delete;
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    C10_STAND_CHECK(standMemcpyAsync(
        to, from, bytes, standMemcpyDefault, getCurrentStandStream()));
    getCurrentStandStream().synchronize();
  }

  void* alloc(size_t bytes, standStream_t stream) {
    if (bytes == 0) {
      return nullptr;
    }
    const auto device = current_device();
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    TORCH_CHECK_WITH(
        OutOfMemoryError,
        bytes < std::numeric_limits<int64_t>::max() / 2,
        "Stand-in out of memory. Tried to allocate more than the address "
        "space has.");
    const size_t rounded = (bytes + kRound - 1) / kRound * kRound;
    process_waiting();
    Block* block = take_cached(device, stream, rounded);
    if (!block) {
      block = make(device, stream, rounded);
    }
    block->used = rounded;
    block->hold = hold_;
    block->requested = bytes;
    auto& stats = stats_of(device);
    stats.allocation.add(1);
    stats.allocated_bytes.add(static_cast<int64_t>(rounded));
    stats.requested_bytes.add(static_cast<int64_t>(bytes));
    live_[block->address] = block;
    return block->address;
  }

  void free(void* address) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const auto at = live_.find(address);
    TORCH_CHECK(
        at != live_.end(),
        "invalid device pointer: the stand-in did not "
        "allocate it");
    Block* block = at->second;
    live_.erase(at);
    auto& stats = stats_of(block->device);
    stats.allocation.add(-1);
    stats.allocated_bytes.add(-static_cast<int64_t>(block->used));
    stats.requested_bytes.add(-static_cast<int64_t>(block->requested));
    if (const auto hold = hold_ != 0 ? hold_ : block->hold) {
      held_[hold].push_back(block);
      return;
    }
    retire(block);
  }

  std::vector<torch_stand_in::LiveBlock> live() {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    std::vector<torch_stand_in::LiveBlock> blocks;
    for (const auto& entry : live_) {
      blocks.push_back({entry.first, entry.second->used});
    }
    return blocks;
  }

  uint64_t begin_hold() {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    hold_ = ++last_hold_;
    return hold_;
  }

  void end_hold() {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    hold_ = 0;
  }

  void release_hold(uint64_t hold) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    for (auto& entry : live_) {
      if (entry.second->hold == hold) {
        entry.second->hold = 0;
      }
    }
    const auto at = held_.find(hold);
    if (at != held_.end()) {
      for (auto* block : at->second) {
        retire(block);
      }
      held_.erase(at);
    }
  }

  void record(const DataPtr& data, StandStream stream) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const auto at = live_.find(data.get_context());
    if (at != live_.end() && data.get_context() &&
        at->second->stream != stream.stream()) {
      at->second->streams.insert(stream.stream());
    }
  }

  void empty() {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    for (auto& waiting : waiting_) {
      for (auto& event : waiting.events) {
        event.synchronize();
      }
    }
    process_waiting();
    for (auto& entry : cached_) {
      give_back(entry.second);
    }
    cached_.clear();
  }

  DeviceStats stats(DeviceIndex device) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    return stats_of(device);
  }

  template <class Change>
  void change_stats(DeviceIndex device, const Change& change) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    auto& stats = stats_of(device);
    for (auto* stat :
         {&stats.allocation,
          &stats.segment,
          &stats.allocated_bytes,
          &stats.reserved_bytes,
          &stats.requested_bytes}) {
      change(*stat);
    }
  }

  void limit(double fraction, DeviceIndex device) {
    TORCH_CHECK(
        fraction >= 0 && fraction <= 1,
        "invalid fraction: ",
        fraction,
        ". Please set within [0, 1].");
    const auto total = at::stand::getDeviceProperties(device)->totalGlobalMem;
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    limits_[device] =
        static_cast<size_t>(fraction * static_cast<double>(total));
  }

 private:
  using Pool = std::multimap<size_t, Block*>;

  DeviceStats& stats_of(DeviceIndex device) {
    return stats_[device];
  }

  // Nobody uses it any more, once other streams are done with it.
  void retire(Block* block) {
    if (block->streams.empty()) {
      cache(block);
      return;
    }
    Waiting waiting{block, {}};
    for (auto* stream : block->streams) {
      at::stand::StandEvent event;
      event.record(getStreamFromExternal(stream, block->device));
      waiting.events.push_back(std::move(event));
    }
    block->streams.clear();
    waiting_.push_back(std::move(waiting));
  }

  void cache(Block* block) {
    cached_[{block->device, block->stream}].emplace(block->bytes, block);
  }

  Block* take_cached(DeviceIndex device, standStream_t stream, size_t bytes) {
    const auto at = cached_.find({device, stream});
    if (at == cached_.end()) {
      return nullptr;
    }
    // Blocks are not split, so one that is much larger stays for others.
    const auto fit = at->second.lower_bound(bytes);
    if (fit == at->second.end() || fit->first > 2 * bytes) {
      return nullptr;
    }
    Block* block = fit->second;
    at->second.erase(fit);
    return block;
  }

  bool within_limit(DeviceIndex device, size_t bytes) {
    const auto at = limits_.find(device);
    return at == limits_.end() ||
        stats_of(device).reserved_bytes.current + bytes <= at->second;
  }

  Block* make(DeviceIndex device, standStream_t stream, size_t bytes) {
    void* address = try_make(device, bytes);
    if (!address) {
      ++stats_of(device).num_alloc_retries;
      empty();
      address = try_make(device, bytes);
    }
    if (!address) {
      ++stats_of(device).num_ooms;
      out_of_memory(device, bytes);
    }
    stats_of(device).segment.add(1);
    stats_of(device).reserved_bytes.add(static_cast<int64_t>(bytes));
    return new Block{address, bytes, 0, 0, device, stream, {}, 0};
  }

  void* try_make(DeviceIndex device, size_t bytes) {
    void* address = nullptr;
    if (!within_limit(device, bytes)) {
      return nullptr;
    }
    const auto error = standMalloc(&address, bytes);
    if (error == standErrorMemoryAllocation) {
      (void)standGetLastError();
      return nullptr;
    }
    C10_STAND_CHECK(error);
    return address;
  }

  [[noreturn]] void out_of_memory(DeviceIndex device, size_t bytes) {
    size_t available = 0, total = 0;
    (void)standMemGetInfo(&available, &total);
    const auto& stats = stats_of(device);
    const auto gib = [](auto amount) {
      return c10::str(static_cast<double>(amount) / kGiB, " GiB");
    };
    TORCH_CHECK_WITH(
        OutOfMemoryError,
        false,
        "Stand-in out of memory. Tried to allocate ",
        gib(bytes),
        ". Device ",
        static_cast<int>(device),
        " has a total capacity of ",
        gib(total),
        " of which ",
        gib(available),
        " is free. Of the allocated memory ",
        gib(stats.allocated_bytes.current),
        " is allocated by PyTorch, and ",
        gib(stats.reserved_bytes.current - stats.allocated_bytes.current),
        " is reserved by PyTorch but unallocated.");
  }

  void give_back(const Pool& pool) {
    for (const auto& entry : pool) {
      Block* block = entry.second;
      (void)standFree(block->address);
      stats_of(block->device).segment.add(-1);
      stats_of(block->device)
          .reserved_bytes.add(-static_cast<int64_t>(block->bytes));
      delete block;
    }
  }

  void process_waiting() {
    std::vector<Waiting> left;
    for (auto& waiting : waiting_) {
      bool done = true;
      for (auto& event : waiting.events) {
        done = done && event.query();
      }
      if (done) {
        cache(waiting.block);
      } else {
        left.push_back(std::move(waiting));
      }
    }
    waiting_ = std::move(left);
  }

  std::recursive_mutex mutex_;
  std::unordered_map<void*, Block*> live_;
  std::map<std::pair<DeviceIndex, standStream_t>, Pool> cached_;
  std::vector<Waiting> waiting_;
  std::map<DeviceIndex, DeviceStats> stats_;
  std::map<DeviceIndex, size_t> limits_;
  std::unordered_map<uint64_t, std::vector<Block*>> held_;
  uint64_t hold_ = 0; // the one that is open, or 0
  uint64_t last_hold_ = 0;
};

// Never destroyed: tensors are freed until the process ends.
Caching& instance() {
  static auto* caching = new Caching;
  return *caching;
}

[[maybe_unused]] const bool allocator_registered = [] {
  c10::SetAllocator(DeviceType::PrivateUse1, &instance());
  return true;
}();

} // namespace

Allocator* get() {
  return &instance();
}

void* raw_alloc(size_t bytes) {
  return instance().alloc(bytes, getCurrentStandStream());
}

void* raw_alloc_with_stream(size_t bytes, standStream_t stream) {
  return instance().alloc(bytes, stream);
}

void raw_delete(void* address) {
  if (address) {
    instance().free(address);
  }
}

void emptyCache() {
  instance().empty();
}

void recordStream(const DataPtr& data, StandStream stream) {
  instance().record(data, stream);
}

DeviceStats getDeviceStats(DeviceIndex device) {
  return instance().stats(device);
}

void resetAccumulatedStats(DeviceIndex device) {
  instance().change_stats(
      device, [](Stat& stat) { stat.allocated = stat.freed = 0; });
}

void resetPeakStats(DeviceIndex device) {
  instance().change_stats(device, [](Stat& stat) { stat.peak = stat.current; });
}

void setMemoryFraction(double fraction, DeviceIndex device) {
  instance().limit(fraction, device);
}

} // namespace c10::stand::StandCachingAllocator

namespace torch_stand_in {

std::vector<LiveBlock> live_blocks() {
  return c10::stand::StandCachingAllocator::instance().live();
}

uint64_t begin_hold() {
  return c10::stand::StandCachingAllocator::instance().begin_hold();
}

void end_hold() {
  c10::stand::StandCachingAllocator::instance().end_hold();
}

void release_hold(uint64_t hold) {
  c10::stand::StandCachingAllocator::instance().release_hold(hold);
}

} // namespace torch_stand_in
