#include "cudasim/device/ipc/shared_event.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include "cudasim/device/ipc/peer_file.h"
#include "cudasim/device/status/status.h"

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
constexpr std::uint32_t kEventMagic = 0x45534443;

struct EventHandle {
  std::uint32_t magic;
  std::int32_t process;
  std::int32_t file;
};
static_assert(sizeof(EventHandle) <= sizeof(cudaIpcEventHandle_t));

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

cudaIpcEventHandle_t export_event(const SharedEvent* event) {
  require(event != nullptr, cudaErrorInvalidResourceHandle);
  const EventHandle parts{kEventMagic, getpid(), event->file};
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
