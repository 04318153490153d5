#include "cudasim/device/ipc.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudasim/device/device.h"
#include "cudasim/device/event.h"
#include "cudasim/device/machine.h"
#include "cudasim/device/status.h"

namespace cudasim::device {

// What lies in the file of an interprocess event.
struct SharedEventState {
  std::atomic<std::uint64_t> recorded{0};
  std::atomic<std::uint64_t> reached{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct SharedEvent {
  SharedEventState* state;
  int file;
  std::atomic<int> users{1};
};

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMemoryMagic = 0x4d534443;
constexpr std::uint32_t kEventMagic = 0x45534443;

// The 64 bytes of cudaIpcMemHandle_t.
struct MemoryHandle {
  std::uint32_t magic;
  std::int32_t process;
  std::int32_t file;
  std::int32_t device; // on the machine
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t id; // of the allocation: addresses are used again
};
static_assert(sizeof(MemoryHandle) <= sizeof(cudaIpcMemHandle_t));

struct EventHandle {
  std::uint32_t magic;
  std::int32_t process;
  std::int32_t file;
};
static_assert(sizeof(EventHandle) <= sizeof(cudaIpcEventHandle_t));

// Memory of other processes, by address.
struct Import {
  std::tuple<std::int32_t, std::int32_t, std::uint64_t, std::uint64_t> key;
  void* mapping;
  std::uint64_t mapped;
  int users;
};
std::mutex imports_mutex;
std::map<std::uint64_t, Import>& imports() {
  static auto* map = new std::map<std::uint64_t, Import>;
  return *map;
}

int open_file_of(std::int32_t process, std::int32_t file) {
  const std::string path =
      "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  const int opened = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) {
    throw Failure(
        cudaErrorMapBufferObjectFailed,
        "cannot open " + path +
            " of the process that made an IPC handle: " + std::strerror(errno));
  }
  return opened;
}

SharedEvent* map_shared_event(int file) {
  void* state =
      mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (state == MAP_FAILED) {
    close(file);
    throw Failure(cudaErrorOperatingSystem);
  }
  // A new file is full of zeros, which is the state of an event never recorded.
  return new SharedEvent{static_cast<SharedEventState*>(state), file};
}

} // namespace

cudaIpcMemHandle_t export_memory(Machine& machine, const void* memory) {
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const auto piece = machine.addresses().find(address);
  require(piece && piece->begin == address && piece->space == Space::kDevice);
  Device& device = machine.device(piece->device);
  if (device.memory().file() < 0) {
    throw Failure(
        cudaErrorNotSupported, "IPC handles need memfd_create on the host");
  }
  const MemoryHandle parts{
      kMemoryMagic,
      getpid(),
      device.memory().file(),
      device.physical(),
      address - device.memory().base(),
      piece->size(),
      piece->id};
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, &parts, sizeof(parts));
  return handle;
}

void* import_memory(
    Machine& machine,
    Device& device,
    const cudaIpcMemHandle_t& handle) {
  MemoryHandle parts;
  std::memcpy(&parts, &handle, sizeof(parts));
  require(parts.magic == kMemoryMagic);
  require(parts.process != getpid(), cudaErrorDeviceUninitialized);
  const std::lock_guard lock(imports_mutex);
  const std::tuple key{parts.process, parts.file, parts.offset, parts.id};
  for (auto& [address, import] : imports()) {
    if (import.key == key) {
      ++import.users;
      return reinterpret_cast<void*>(address);
    }
  }
  const int file = open_file_of(parts.process, parts.file);
  const std::uint64_t first = parts.offset / kPage * kPage;
  const std::uint64_t lead = parts.offset - first;
  const std::uint64_t mapped = lead + parts.size;
  void* mapping = mmap(
      nullptr,
      mapped,
      PROT_READ | PROT_WRITE,
      MAP_SHARED,
      file,
      static_cast<off_t>(first));
  close(file);
  require(mapping != MAP_FAILED, cudaErrorMapBufferObjectFailed);
  Allocation allocation;
  allocation.begin = reinterpret_cast<std::uint64_t>(mapping) + lead;
  allocation.end = allocation.begin + parts.size;
  allocation.space = Space::kImported;
  allocation.device = device.ordinal();
  const std::uint64_t address = allocation.begin;
  machine.addresses().insert(std::move(allocation));
  imports()[address] = {key, mapping, mapped, 1};
  return reinterpret_cast<void*>(address);
}

void close_memory(Machine& machine, void* memory) {
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const std::lock_guard lock(imports_mutex);
  const auto found = imports().find(address);
  require(found != imports().end());
  if (--found->second.users > 0) {
    return;
  }
  machine.addresses().erase(address);
  munmap(found->second.mapping, found->second.mapped);
  imports().erase(found);
}

cudaIpcEventHandle_t export_event(const Event& event) {
  require(event.shared() != nullptr, cudaErrorInvalidResourceHandle);
  const EventHandle parts{kEventMagic, getpid(), event.shared()->file};
  cudaIpcEventHandle_t handle{};
  std::memcpy(&handle, &parts, sizeof(parts));
  return handle;
}

SharedEvent* import_event(const cudaIpcEventHandle_t& handle) {
  EventHandle parts;
  std::memcpy(&parts, &handle, sizeof(parts));
  require(parts.magic == kEventMagic);
  return map_shared_event(open_file_of(parts.process, parts.file));
}

SharedEvent* create_shared_event() {
  const int file = memfd_create("cudasim-event", MFD_CLOEXEC);
  require(file >= 0, cudaErrorOperatingSystem);
  if (ftruncate(file, kPage) != 0) {
    close(file);
    throw Failure(cudaErrorOperatingSystem);
  }
  return map_shared_event(file);
}

SharedEvent* retain_shared_event(SharedEvent* event) {
  ++event->users;
  return event;
}

void release_shared_event(SharedEvent* event) {
  if (--event->users == 0) {
    munmap(event->state, kPage);
    close(event->file);
    delete event;
  }
}

std::uint64_t begin_shared_record(SharedEvent* event) {
  return ++event->state->recorded;
}

void end_shared_record(SharedEvent* event, std::uint64_t number) {
  std::uint64_t before = event->state->reached;
  while (before < number &&
         !event->state->reached.compare_exchange_weak(before, number)) {
  }
}

std::uint64_t shared_recorded(const SharedEvent* event) {
  return event->state->recorded;
}

bool shared_reached(const SharedEvent* event, std::uint64_t number) {
  return event->state->reached >= number;
}

void wait_shared(const SharedEvent* event, std::uint64_t number) {
  // No condition variable survives the death of a process; looking again is
  // slow only for those who really wait.
  auto pause = std::chrono::microseconds(10);
  while (!shared_reached(event, number)) {
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds(1)) {
      pause *= 2;
    }
  }
}

} // namespace cudasim::device
