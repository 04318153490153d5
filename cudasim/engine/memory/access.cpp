#include "cudasim/engine/memory/access.h"

#include <utility>

#include "cudasim/engine/memory/address_space.h"
#include "cudasim/engine/memory/device_heap.h"

namespace cudasim::engine {
namespace {

/// Whether [begin, end) lies in the `bytes` bytes from `first`.
bool is_inside(
    std::uint64_t begin,
    std::uint64_t end,
    std::uint64_t first,
    std::uint64_t bytes) {
  return begin <= end && begin >= first && end - first <= bytes;
}

bool find_in_heap(
    const DeviceHeap& heap,
    RangeCache& cache,
    std::uint64_t begin,
    std::uint64_t end) {
  // Asked for first: what is found is not younger than that.
  const std::uint64_t generation = heap.generation();
  if (cache.heap_generation != generation || begin < cache.heap_begin ||
      end > cache.heap_end) {
    Range range;
    if (!heap.find(begin, &range)) {
      return false;
    }
    cache.heap_begin = range.begin;
    cache.heap_end = range.end;
    cache.heap_generation = generation;
  }
  return end <= cache.heap_end;
}

} // namespace

void clear(RangeCache& cache) {
  cache = RangeCache{};
}

bool find_range(
    Warp& warp,
    std::uint64_t begin,
    std::uint64_t end,
    bool is_write) {
  if (end < begin) {
    return false; // around the end of the address space
  }
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
  const Block& block = *warp.block;
  if (is_inside(begin, end, block.workspace, block.workspace_bytes)) {
    return true;
  }
  const auto* memory = static_cast<const AddressSpace*>(block.memory);
  if (memory == nullptr) {
    return false;
  }
  Range range;
  const bool found = memory->find(begin, &range);
  if (!found && find_in_heap(memory->heap(), cache, begin, end)) {
    return true;
  }
  if (!found || end > range.end) {
    return !is_write && memory->may_read_padding(begin, end, block.kernel_name);
  }
  if (is_write && range.read_only) {
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

bool is_readable(
    Warp& warp,
    int lane,
    std::uint64_t address,
    std::uint64_t size) {
  const std::uint64_t end = address + size;
  const Block& block = *warp.block;
  const auto place = [](const std::byte* memory) {
    return reinterpret_cast<std::uint64_t>(memory);
  };
  const std::uint64_t local = place(warp.local_base) +
      static_cast<std::uint64_t>(lane) * warp.local_size;
  return is_inside(address, end, place(block.shared), block.shared_bytes) ||
      is_inside(address, end, local, warp.local_size) ||
      is_inside(address, end, place(block.parameters), block.parameter_bytes) ||
      find_range(warp, address, end, false);
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
