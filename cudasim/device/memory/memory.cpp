#include "cudasim/device/memory/memory.h"

#include <algorithm>
#include <cstdio>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudasim/device/ipc/export_table.h"
#include "cudasim/device/ipc/shared_file.h"
#include "cudasim/device/memory/ipc_memory.h"
#include "cudasim/device/status/status.h"
#include "cudasim/engine/memory/poison.h"

namespace cudasim::device {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kAlignment = 512;
// Behind every allocation; also what a stray index has to jump over.
constexpr std::uint64_t kGap = kPage;
// Smaller pieces keep their pages when they are freed.
constexpr std::uint64_t kDropFrom = 64 << 10;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

std::uint64_t host_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
      static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

} // namespace

Memory::Memory(
    AddressMap& map,
    int device,
    std::uint64_t capacity,
    bool poisoned)
    : map_(map),
      device_(device),
      capacity_(capacity),
      poisoned_(poisoned),
      span_(round_up(4 * capacity + (std::uint64_t{4} << 30), kPage)) {
  file_ = create_shared_file(
      kMemoryFileName + std::to_string(device), span_ + ExportTable::bytes());
  const int kind = file_ >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* arena = mmap(
      nullptr, span_, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE, file_, 0);
  if (arena == MAP_FAILED) {
    throw Failure(
        cudaErrorInitializationError,
        "the host gives no " + std::to_string(span_ >> 30) +
            " GiB of address space: set CUDASIM_MEMORY lower");
  }
  madvise(arena, span_, MADV_DONTDUMP);
  base_ = address_of(arena);
  pieces_.emplace(base_, span_, kGap);
  if (file_ >= 0) {
    exports_ = std::make_unique<ExportTable>(file_, span_);
  }
}

Memory::~Memory() {
  munmap(reinterpret_cast<void*>(base_), span_);
  if (file_ >= 0) {
    close(file_);
  }
}

std::uint64_t Memory::allocate(
    std::uint64_t bytes,
    std::uint64_t alignment,
    Space space,
    bool read_only,
    std::string name) {
  const std::uint64_t size =
      round_up(std::max<std::uint64_t>(bytes, 1), kAlignment);
  std::uint64_t begin = 0;
  {
    const std::lock_guard lock(mutex_);
    require(
        size >= bytes && size <= capacity_ - used_, cudaErrorMemoryAllocation);
    const auto piece = pieces_->allocate(size, std::max(alignment, kAlignment));
    require(piece.has_value(), cudaErrorMemoryAllocation);
    begin = *piece;
    used_ += size;
  }
  Allocation allocation;
  allocation.begin = begin;
  allocation.end = begin + std::max<std::uint64_t>(bytes, 1);
  allocation.space = space;
  allocation.device = device_;
  allocation.read_only = read_only;
  allocation.name = std::move(name);
  map_.insert(std::move(allocation));
  if (poisoned_ && space == Space::kDevice) {
    engine::poison(reinterpret_cast<void*>(begin), size);
  }
  return begin;
}

bool Memory::release(std::uint64_t begin) {
  if (begin < base_ || begin >= base_ + span_) {
    return false;
  }
  const auto piece = map_.erase(begin);
  if (!piece) {
    return false;
  }
  if (exports_ != nullptr) {
    exports_->remove(begin - base_);
  }
  const std::uint64_t size = round_up(piece->size(), kAlignment);
  drop_pages(begin, begin + size);
  const std::lock_guard lock(mutex_);
  pieces_->release(begin);
  used_ -= size;
  return true;
}

void Memory::drop_pages(std::uint64_t begin, std::uint64_t end) const {
  if (end - begin < kDropFrom) {
    return;
  }
  const std::uint64_t first = round_up(begin, kPage);
  const std::uint64_t last = end / kPage * kPage;
  if (file_ >= 0) {
    fallocate(
        file_,
        FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
        static_cast<off_t>(first - base_),
        static_cast<off_t>(last - first));
  } else {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
}

void Memory::charge(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  require(bytes <= capacity_ - used_, cudaErrorMemoryAllocation);
  used_ += bytes;
}

void Memory::refund(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

std::uint64_t Memory::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

void* allocate_host(
    AddressMap& map,
    std::size_t bytes,
    Space space,
    int device,
    unsigned flags) {
  // Address space is cheap, but nobody has more memory than the machine.
  require(bytes <= host_bytes(), cudaErrorMemoryAllocation);
  // One page more than needed stays without access: a guard.
  const std::uint64_t size = round_up(bytes, kPage);
  void* memory = mmap(
      nullptr,
      size + kGap,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  require(memory != MAP_FAILED, cudaErrorMemoryAllocation);
  mprotect(static_cast<char*>(memory) + size, kGap, PROT_NONE);
  Allocation allocation;
  allocation.begin = address_of(memory);
  allocation.end = allocation.begin + bytes;
  allocation.space = space;
  allocation.device = device;
  allocation.flags = flags;
  map.insert(std::move(allocation));
  return memory;
}

void release_host(AddressMap& map, void* memory, Space space) {
  const auto piece = map.find(address_of(memory));
  require(piece && piece->space == space && piece->begin == address_of(memory));
  require(map.erase(piece->begin).has_value()); // or another thread was first
  munmap(memory, round_up(piece->size(), kPage) + kGap);
}

void register_host(
    AddressMap& map,
    void* memory,
    std::size_t bytes,
    int device,
    unsigned flags) {
  require(memory != nullptr && bytes > 0 && bytes <= ~address_of(memory));
  Allocation allocation;
  allocation.begin = address_of(memory);
  allocation.end = allocation.begin + bytes;
  allocation.space = Space::kRegistered;
  allocation.device = device;
  allocation.flags = flags;
  require(
      !map.overlaps(allocation.begin, allocation.end),
      cudaErrorHostMemoryAlreadyRegistered);
  map.insert(std::move(allocation));
}

void unregister_host(AddressMap& map, void* memory) {
  const auto piece = map.find(address_of(memory));
  require(
      piece && piece->space == Space::kRegistered &&
          piece->begin == address_of(memory),
      cudaErrorHostMemoryNotRegistered);
  map.erase(piece->begin);
}

} // namespace cudasim::device
