#include "cudasim/engine/memory/range_allocator.h"

#include <iterator>

namespace cudasim::engine {

RangeAllocator::RangeAllocator(
    std::uint64_t begin,
    std::uint64_t size,
    std::uint64_t gap)
    : gap_(gap) {
  add_free(begin, size);
}

std::optional<std::uint64_t> RangeAllocator::allocate(
    std::uint64_t bytes,
    std::uint64_t alignment) {
  const std::uint64_t mask = alignment - 1;
  const std::uint64_t size = ((bytes + mask) & ~mask) + gap_;
  if (size < bytes) {
    return std::nullopt;
  }
  for (auto at = by_size_.lower_bound({size, 0}); at != by_size_.end(); ++at) {
    const auto [free_size, free_begin] = *at;
    const std::uint64_t begin = (free_begin + mask) & ~mask;
    const std::uint64_t lead = begin - free_begin;
    if (begin < free_begin || lead > free_size || size > free_size - lead) {
      continue;
    }
    remove_free(free_.find(free_begin));
    if (lead > 0) {
      add_free(free_begin, lead);
    }
    if (lead + size < free_size) {
      add_free(begin + size, free_size - lead - size);
    }
    used_[begin] = size;
    return begin;
  }
  return std::nullopt;
}

bool RangeAllocator::release(std::uint64_t begin) {
  const auto piece = used_.find(begin);
  if (piece == used_.end()) {
    return false;
  }
  std::uint64_t size = piece->second;
  used_.erase(piece);
  const auto above = free_.find(begin + size);
  if (above != free_.end()) {
    size += above->second;
    remove_free(above);
  }
  const auto after = free_.lower_bound(begin);
  if (after != free_.begin()) {
    const auto below = std::prev(after);
    if (below->first + below->second == begin) {
      begin = below->first;
      size += below->second;
      remove_free(below);
    }
  }
  add_free(begin, size);
  return true;
}

void RangeAllocator::add_free(std::uint64_t begin, std::uint64_t size) {
  free_[begin] = size;
  by_size_.insert({size, begin});
}

void RangeAllocator::remove_free(
    std::map<std::uint64_t, std::uint64_t>::iterator piece) {
  by_size_.erase({piece->second, piece->first});
  free_.erase(piece);
}

} // namespace cudasim::engine
