#include "device/nvidia/devices/ipc_exports.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "device/host/shared_file.h"
#include "device/nvidia/driver/error.h"

namespace accelerator::nvidia {
namespace {

constexpr std::uint32_t kMagic = 0x4956414e;
constexpr const char* kFileName = "accel_nvidia_ipc";
constexpr std::uint32_t kSlots = 8192;

struct Slot {
  std::atomic<std::uint64_t> key; // 0: there is nothing
  Export memory;
};

// The bytes of a handle, less the zeros behind.
struct Handle {
  std::uint32_t magic;
  std::int32_t process;
  std::int32_t file;
  std::uint32_t slot;
  std::uint64_t key;
};
static_assert(sizeof(Handle) <= sizeof(accel_ipc_handle));

accel_ipc_handle pack(const Handle& parts) {
  accel_ipc_handle handle{};
  std::memcpy(&handle, &parts, sizeof(parts));
  return handle;
}

struct Table {
  std::mutex mutex;
  int file = -1;
  Slot* slots = nullptr;
  std::map<void*, Handle> exports;
  std::vector<std::uint32_t> free;
};

Table& table() {
  static auto* all = new Table;
  return *all;
}

// With the mutex.
void make(Table& exports) {
  constexpr std::uint64_t bytes = kSlots * sizeof(Slot);
  const int file = host::create_shared_file(kFileName, bytes);
  void* mapping = file < 0
      ? MAP_FAILED
      : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapping == MAP_FAILED) {
    if (file >= 0) {
      close(file);
    }
    throw Error(
        ACCEL_NOT_SUPPORTED, "IPC handles need memfd_create on the host");
  }
  exports.file = file;
  exports.slots = static_cast<Slot*>(mapping);
  for (std::uint32_t slot = kSlots; slot > 0; --slot) {
    exports.free.push_back(slot - 1);
  }
}

} // namespace

accel_ipc_handle add_export(void* address, const Export& memory) {
  Table& exports = table();
  const std::lock_guard lock(exports.mutex);
  if (exports.slots == nullptr) {
    make(exports);
  }
  const auto known = exports.exports.find(address);
  if (known != exports.exports.end()) {
    return pack(known->second);
  }
  require(
      !exports.free.empty(),
      ACCEL_OUT_OF_MEMORY,
      "other processes can open " + std::to_string(kSlots) +
          " pieces of memory, not more");
  const std::uint32_t number = exports.free.back();
  const Handle handle{
      kMagic, getpid(), exports.file, number, host::random_key()};
  exports.exports[address] = handle;
  exports.free.pop_back();
  exports.slots[number].memory = memory;
  exports.slots[number].key.store(handle.key, std::memory_order_release);
  return pack(handle);
}

void withdraw_export(void* address) {
  Table& exports = table();
  const std::lock_guard lock(exports.mutex);
  const auto known = exports.exports.find(address);
  if (known == exports.exports.end()) {
    return;
  }
  exports.slots[known->second.slot].key = 0;
  exports.free.push_back(known->second.slot);
  exports.exports.erase(known);
}

Export read_export(const accel_ipc_handle& handle) {
  Handle parts{};
  std::memcpy(&parts, &handle, sizeof(parts));
  const accel_ipc_handle again = pack(parts);
  require(
      parts.magic == kMagic && parts.slot < kSlots &&
          std::memcmp(&again, &handle, sizeof(handle)) == 0,
      ACCEL_INVALID_ARGUMENT,
      "the handle is none that a process gave");
  std::uint64_t bytes = 0;
  const int file =
      host::open_shared_file(parts.process, parts.file, kFileName, &bytes);
  void* mapping = bytes != kSlots * sizeof(Slot)
      ? MAP_FAILED
      : mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  require(
      mapping != MAP_FAILED,
      ACCEL_INVALID_ARGUMENT,
      "the handle names a file that is none of memory");
  const Slot& slot = static_cast<const Slot*>(mapping)[parts.slot];
  const Export memory = slot.memory;
  std::atomic_thread_fence(std::memory_order_acquire);
  const bool there = parts.key != 0 && slot.key == parts.key;
  munmap(mapping, bytes);
  require(
      there,
      ACCEL_INVALID_ARGUMENT,
      "the handle names memory that its process does not share, or has freed");
  return memory;
}

} // namespace accelerator::nvidia
