#include "runtime/core/ipc/shared_event.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include "device/host/host_error.h"
#include "device/host/process.h"
#include "device/host/shared_file.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime {

using accelerator::host::HostError;
using accelerator::host::ProcessId;

// Records whose recorders are known.
constexpr std::uint64_t kRecorders = 64;

// Who asked for a record. While it is written the record has no number.
struct Recorder {
  std::atomic<std::uint64_t> number;
  std::atomic<ProcessId> process;
};

// What lies in the file of an interprocess event.
struct SharedEventState {
  std::uint64_t key; // of its handle
  std::atomic<std::uint64_t> claimed; // numbers that were given to recorders
  std::atomic<std::uint64_t> recorded;
  std::atomic<std::uint64_t> reached;
  Recorder recorders[kRecorders]; // of the last ones, by number
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct SharedEvent {
  SharedEventState* state;
  int file;
  std::atomic<int> users{1};
};

namespace {

constexpr std::uint64_t kPage = 4096;
static_assert(sizeof(SharedEventState) <= kPage);
constexpr std::uint32_t kEventMagic = 0x45534444;
const char* const kFileName = "accel-event";
// How often a wait looks whether it will end.
constexpr auto kPatience = std::chrono::milliseconds(50);

struct EventHandle {
  std::uint32_t magic;
  std::int32_t process;
  std::int32_t file;
  std::uint32_t zero;
  std::uint64_t key;
};
static_assert(sizeof(EventHandle) <= sizeof(cudaIpcEventHandle_t));

// Takes the file.
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

// Makes a number at least so great, whoever else does the same.
void raise_to(std::atomic<std::uint64_t>& number, std::uint64_t least) {
  std::uint64_t before = number;
  while (before < least && !number.compare_exchange_weak(before, least)) {
  }
}

cudaIpcEventHandle_t handle_of(const EventHandle& parts) {
  cudaIpcEventHandle_t handle{};
  std::memcpy(&handle, &parts, sizeof(parts));
  return handle;
}

} // namespace

cudaIpcEventHandle_t export_event(const SharedEvent* event) {
  require(event != nullptr, cudaErrorInvalidResourceHandle);
  return handle_of({kEventMagic, getpid(), event->file, 0, event->state->key});
}

SharedEvent* import_event(const cudaIpcEventHandle_t& handle) {
  EventHandle parts;
  std::memcpy(&parts, &handle, sizeof(parts));
  const cudaIpcEventHandle_t right =
      handle_of({kEventMagic, parts.process, parts.file, 0, parts.key});
  require(std::memcmp(&handle, &right, sizeof(handle)) == 0);
  std::uint64_t bytes = 0;
  int file = -1;
  try {
    file = accelerator::host::open_shared_file(
        parts.process, parts.file, kFileName, &bytes);
  } catch (const HostError& error) {
    const bool ended = error.kind() == HostError::Kind::kEnded;
    throw Failure(
        ended ? cudaErrorMapBufferObjectFailed : cudaErrorInvalidValue,
        ended ? error.what() : "");
  }
  if (bytes != kPage) {
    close(file);
    throw Failure(cudaErrorInvalidValue);
  }
  SharedEvent* event = map_shared_event(file);
  if (event->state->key != parts.key) {
    release_shared_event(event);
    throw Failure(cudaErrorInvalidValue);
  }
  return event;
}

SharedEvent* create_shared_event() {
  const int file = accelerator::host::create_shared_file(kFileName, kPage);
  require(file >= 0, cudaErrorOperatingSystem);
  SharedEvent* event = map_shared_event(file);
  event->state->key = accelerator::host::random_key();
  return event;
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
  static const ProcessId self = accelerator::host::this_process();
  SharedEventState& state = *event->state;
  // The number is this record's alone, and nobody sees it before its recorder
  // is written. One who ends in between leaves a number that nobody waits for.
  const std::uint64_t number = ++state.claimed;
  Recorder& recorder = state.recorders[number % kRecorders];
  recorder.number = 0;
  recorder.process = self;
  recorder.number = number;
  raise_to(state.recorded, number);
  return number;
}

void end_shared_record(SharedEvent* event, std::uint64_t number) {
  raise_to(event->state->reached, number);
}

std::uint64_t shared_recorded(const SharedEvent* event) {
  return event->state->recorded;
}

bool shared_reached(const SharedEvent* event, std::uint64_t number) {
  return event->state->reached >= number;
}

bool shared_lost(const SharedEvent* event, std::uint64_t number) {
  const Recorder& recorder = event->state->recorders[number % kRecorders];
  const ProcessId process = recorder.process;
  if (number == 0 || recorder.number != number) {
    return false; // its recorder is not known any more
  }
  // It may have got there just before it ended.
  return accelerator::host::has_ended(process) &&
      !shared_reached(event, number);
}

bool wait_shared(const SharedEvent* event, std::uint64_t number) {
  // No condition variable survives the death of a process; looking again is
  // slow only for those who really wait.
  auto pause = std::chrono::microseconds(10);
  auto waited = std::chrono::microseconds(0);
  while (!shared_reached(event, number)) {
    if (waited >= kPatience) {
      if (shared_lost(event, number)) {
        return false;
      }
      waited = std::chrono::microseconds(0);
    }
    std::this_thread::sleep_for(pause);
    waited += pause;
    if (pause < std::chrono::milliseconds(1)) {
      pause *= 2;
    }
  }
  return true;
}

} // namespace accelerator::runtime
