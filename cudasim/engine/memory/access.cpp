#include "cudasim/engine/memory/access.h"

#include <utility>

#include "cudasim/engine/memory/address_space.h"
#include "cudasim/engine/memory/device_heap.h"

namespace cudasim::engine {

void clear(RangeCache& cache) {
  cache = RangeCache{};
}

bool find_range(
    Warp& warp,
    std::uint64_t begin,
    std::uint64_t end,
    bool is_write) {
  RangeCache& cache = *warp.ranges;
  for (int i = 0; i < RangeCache::kEntries; ++i) {
    if (begin >= cache.begin[i] && end <= cache.end[i] &&
        !(is_write && cache.read_only[i])) {
      if (i != 0) {
        std::swap(cache.begin[0], cache.begin[i]);
        std::swap(cache.end[0], cache.end[i]);
        std::swap(cache.read_only[0], cache.read_only[i]);
      }
      return true;
    }
  }
  Range range;
  const auto* memory = static_cast<const AddressSpace*>(warp.block->memory);
  if (memory == nullptr || !memory->find(begin, &range)) {
    if (!DeviceHeap::instance().find(begin, &range)) {
      return false;
    }
  }
  if (end > range.end || (is_write && range.read_only)) {
    return false;
  }
  for (int i = RangeCache::kEntries - 1; i > 0; --i) {
    cache.begin[i] = cache.begin[i - 1];
    cache.end[i] = cache.end[i - 1];
    cache.read_only[i] = cache.read_only[i - 1];
  }
  cache.begin[0] = range.begin;
  cache.end[0] = range.end;
  cache.read_only[0] = range.read_only;
  return true;
}

bool is_constant(Warp& warp, std::uint64_t address) {
  if (!find_range(warp, address, address + 1, false)) {
    return false;
  }
  const RangeCache& cache = *warp.ranges;
  for (int i = 0; i < RangeCache::kEntries; ++i) {
    if (address >= cache.begin[i] && address < cache.end[i]) {
      return cache.read_only[i];
    }
  }
  return false;
}

Flow access_fault(
    Warp& warp,
    const Inst& inst,
    FaultKind kind,
    int lane,
    std::uint64_t address,
    std::uint32_t size,
    bool is_write) {
  warp.fault.kind = kind;
  warp.fault.lane = static_cast<std::uint8_t>(lane);
  warp.fault.address = address;
  warp.fault.size = size;
  warp.fault.is_write = is_write;
  warp.fault.line = inst.line;
  return Flow::kFault;
}

} // namespace cudasim::engine
