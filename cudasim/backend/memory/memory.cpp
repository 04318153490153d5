#include "cudasim/backend/memory/memory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudasim/backend/memory/export_table.h"
#include "cudasim/backend/memory/ipc_memory.h"
#include "cudasim/backend/status/error.h"
#include "cudasim/engine/memory/poison.h"
#include "device/host/shared_file.h"

namespace cudasim::backend {
namespace {

constexpr std::uint64_t kAlignment = 512;
// From this size on CUDA gives memory in pages of this size.
constexpr std::uint64_t kLargePage = 2 << 20;
// Behind every allocation; also what a stray index has to jump over.
constexpr std::uint64_t kGap = kPage;
// Smaller pieces keep their pages when they are freed.
constexpr std::uint64_t kDropFrom = 64 << 10;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Where memory of that size begins. CUDA has 2 MiB pages and gives parts of one
// for less, at multiples of 512 bytes; programs that manage memory themselves
// rely on the first of a page. With a gap behind each piece, whole pages of the
// host's take no more memory than parts of them.
std::uint64_t alignment_of(std::uint64_t bytes) {
  return bytes >= kLargePage ? kLargePage : kPage;
}

} // namespace

Memory::Memory(
    AddressMap& map,
    int device,
    std::uint64_t capacity,
    bool poisoned,
    bool padded)
    : map_(map),
      device_(device),
      capacity_(capacity),
      poisoned_(poisoned),
      padded_(padded),
      span_(round_up(4 * capacity + (std::uint64_t{4} << 30), kPage)) {
  file_ = accelerator::host::create_shared_file(
      kMemoryFileName + std::to_string(device), span_ + ExportTable::bytes());
  const int kind = file_ >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* arena = mmap(
      nullptr, span_, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE, file_, 0);
  if (arena == MAP_FAILED) {
    throw Error(
        ACCEL_OUT_OF_MEMORY,
        "the host gives no " + std::to_string(span_ >> 30) +
            " GiB of address space: set CUDASIM_MEMORY lower");
  }
  madvise(arena, span_, MADV_DONTDUMP);
  base_ = reinterpret_cast<std::uint64_t>(arena);
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
    bool variable,
    bool read_only) {
  const std::uint64_t size =
      round_up(std::max<std::uint64_t>(bytes, 1), kAlignment);
  std::uint64_t begin = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto piece = size >= bytes && size <= capacity_ - used_
        ? pieces_->allocate(
              size,
              std::max(alignment, variable ? kAlignment : alignment_of(size)))
        : std::nullopt;
    if (!piece) {
      throw Error(
          ACCEL_OUT_OF_MEMORY,
          "device " + std::to_string(device_) + " has no " +
              std::to_string(bytes) + " bytes left; free are " +
              std::to_string(capacity_ - used_) + " of " +
              std::to_string(capacity_));
    }
    begin = *piece;
    used_ += size;
    if (!variable) {
      given_.insert(begin);
    }
  }
  Allocation allocation;
  allocation.begin = begin;
  allocation.end = begin + std::max<std::uint64_t>(bytes, 1);
  allocation.device = device_;
  allocation.read_only = read_only;
  allocation.padding = padded_ ? begin + size - allocation.end : 0;
  map_.insert(allocation);
  if (poisoned_ && !variable) {
    // Not the word of which a part is behind the end: written in part, it may
    // still look like its poison.
    const std::uint64_t whole =
        allocation.size() / engine::kPoisonWord * engine::kPoisonWord;
    auto* const memory = reinterpret_cast<std::byte*>(begin);
    engine::poison(memory, whole);
    std::memset(memory + whole, 0, size - whole);
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
  given_.erase(begin);
  return true;
}

void Memory::reset() {
  std::set<std::uint64_t> given;
  {
    const std::lock_guard lock(mutex_);
    given = given_;
  }
  for (const std::uint64_t begin : given) {
    release(begin);
  }
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
  require(
      bytes <= capacity_ - used_, ACCEL_OUT_OF_MEMORY, "out of device memory");
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

} // namespace cudasim::backend
