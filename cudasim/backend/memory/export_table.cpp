#include "cudasim/backend/memory/export_table.h"

#include <atomic>

#include <sys/mman.h>

#include "cudasim/backend/status/error.h"
#include "device/host/shared_file.h"

namespace cudasim::backend {

// The form in the file. Slots without an entry have the key 0.
struct ExportTable::Slot {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint64_t> offset;
  std::atomic<std::uint64_t> size;
  std::atomic<std::uint64_t> unused;
};

namespace {

constexpr std::uint64_t kSlots = 32768;

} // namespace

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

std::uint64_t ExportTable::bytes() {
  return kSlots * sizeof(Slot);
}

ExportTable::ExportTable(int file, std::uint64_t begin) {
  void* table = mmap(
      nullptr,
      bytes(),
      PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_NORESERVE,
      file,
      static_cast<off_t>(begin));
  require(
      table != MAP_FAILED,
      ACCEL_UNKNOWN,
      "the host cannot map the table of what is shared");
  slots_ = static_cast<Slot*>(table);
}

ExportTable::~ExportTable() {
  munmap(slots_, bytes());
}

Export ExportTable::enter(std::uint64_t offset, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = exports_.find(offset);
  if (found != exports_.end()) {
    return found->second;
  }
  Export entry{accelerator::host::random_key(), offset, size, exports_.size()};
  if (!free_.empty()) {
    entry.slot = free_.back();
    free_.pop_back();
  }
  require(
      entry.slot < kSlots,
      ACCEL_OUT_OF_MEMORY,
      "too much memory is shared with other processes");
  Slot& slot = slots_[entry.slot];
  slot.offset = offset;
  slot.size = size;
  slot.key = entry.key;
  exports_[offset] = entry;
  return entry;
}

void ExportTable::remove(std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto found = exports_.find(offset);
  if (found != exports_.end()) {
    slots_[found->second.slot].key = 0;
    free_.push_back(found->second.slot);
    exports_.erase(found);
  }
}

bool ExportTable::has(int file, std::uint64_t bytes, const Export& wanted) {
  if (bytes < ExportTable::bytes() || wanted.slot >= kSlots ||
      wanted.key == 0) {
    return false;
  }
  const std::uint64_t memory = bytes - ExportTable::bytes();
  if (wanted.offset > memory || wanted.size > memory - wanted.offset) {
    return false;
  }
  void* table = mmap(
      nullptr,
      ExportTable::bytes(),
      PROT_READ,
      MAP_SHARED,
      file,
      static_cast<off_t>(memory));
  if (table == MAP_FAILED) {
    return false;
  }
  const Slot& slot = static_cast<const Slot*>(table)[wanted.slot];
  const bool there = slot.key == wanted.key && slot.offset == wanted.offset &&
      slot.size == wanted.size && slot.key == wanted.key;
  munmap(table, ExportTable::bytes());
  return there;
}

} // namespace cudasim::backend
