#include "cudasim/engine/memory/device_heap.h"

#include <iterator>
#include <mutex>

#include <sys/mman.h>

namespace cudasim::engine {
namespace {

constexpr std::uint64_t kAlignment = 16;
// Behind every piece, so that running over its end is found out.
constexpr std::uint64_t kGap = 16;
// Gaps and holes make the heap spread over more addresses than it has bytes.
constexpr std::uint64_t kSpread = 4;
constexpr std::uint64_t kSmallestSpan = 1 << 20;
// Larger pieces give their pages back when they are freed.
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kDropFrom = 64 << 10;

std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace

DeviceHeap::~DeviceHeap() {
  end();
}

bool DeviceHeap::set_limit(std::uint64_t bytes) {
  const std::unique_lock lock(mutex_);
  if (arena_ != nullptr) {
    return false;
  }
  limit_ = bytes;
  return true;
}

std::uint64_t DeviceHeap::limit() const {
  const std::shared_lock lock(mutex_);
  return limit_;
}

/// Takes the addresses; false when the host has not that many.
bool DeviceHeap::begin() {
  if (limit_ > (std::uint64_t{1} << 46) / kSpread) {
    return false;
  }
  const std::uint64_t span = kSpread * limit_ + kSmallestSpan;
  void* arena = mmap(
      nullptr,
      span,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  if (arena == MAP_FAILED) {
    return false;
  }
  arena_ = arena;
  span_ = span;
  pieces_.emplace(reinterpret_cast<std::uint64_t>(arena), span, kGap);
  return true;
}

void DeviceHeap::end() {
  if (arena_ != nullptr) {
    munmap(arena_, span_);
    arena_ = nullptr;
  }
  pieces_.reset();
  sizes_.clear();
  used_ = 0;
}

void* DeviceHeap::allocate(std::uint64_t bytes) {
  const std::unique_lock lock(mutex_);
  if (bytes == 0 || bytes > limit_ - used_ || rounded(bytes) > limit_ - used_ ||
      (arena_ == nullptr && !begin())) {
    return nullptr;
  }
  const auto piece = pieces_->allocate(bytes, kAlignment);
  if (!piece) {
    return nullptr;
  }
  used_ += rounded(bytes);
  sizes_[*piece] = bytes;
  return reinterpret_cast<void*>(*piece);
}

bool DeviceHeap::free(void* pointer) {
  if (pointer == nullptr) {
    return true;
  }
  const std::unique_lock lock(mutex_);
  const auto begin = reinterpret_cast<std::uint64_t>(pointer);
  const auto found = sizes_.find(begin);
  if (found == sizes_.end()) {
    return false;
  }
  // Before the piece can be given to somebody else.
  generation_.fetch_add(1, std::memory_order_acq_rel);
  const std::uint64_t bytes = found->second;
  if (bytes >= kDropFrom) {
    const std::uint64_t first = (begin + kPage - 1) / kPage * kPage;
    const std::uint64_t last = (begin + bytes) / kPage * kPage;
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
  used_ -= rounded(bytes);
  sizes_.erase(found);
  pieces_->release(begin);
  return true;
}

bool DeviceHeap::find(std::uint64_t address, Range* range) const {
  const std::shared_lock lock(mutex_);
  const auto above = sizes_.upper_bound(address);
  if (above == sizes_.begin()) {
    return false;
  }
  const auto& [begin, bytes] = *std::prev(above);
  if (address - begin >= bytes) {
    return false;
  }
  *range = {begin, begin + bytes, 0, false};
  return true;
}

bool DeviceHeap::spans(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  return arena_ != nullptr &&
      address - reinterpret_cast<std::uint64_t>(arena_) < span_;
}

void DeviceHeap::reset() {
  const std::unique_lock lock(mutex_);
  end();
  limit_ = kDefaultLimit;
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

} // namespace cudasim::engine
