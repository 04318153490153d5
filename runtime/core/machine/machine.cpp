#include "runtime/core/machine/machine.h"

#include <cstdlib>
#include <utility>

#include <unistd.h>

#include "runtime/core/machine/contexts.h"
#include "runtime/core/machine/thread_state.h"
#include "runtime/core/machine/usage.h"

namespace accelerator::runtime {
namespace {

std::mutex creation_mutex;
std::atomic<Machine*> the_machine{nullptr};
std::atomic<pid_t> owner{0};

// A kernel that still runs while the process takes itself down would use what
// is gone.
void stop_devices() {
  if (the_machine != nullptr && owner == getpid()) {
    stop_showing_work();
    finalize_libraries();
  }
}

std::vector<Slot> slots_of(const std::vector<int>& numbers) {
  std::vector<Slot> slots;
  for (const int number : numbers) {
    slots.push_back(all_devices()[static_cast<std::size_t>(number)]);
  }
  return slots;
}

// Threads do not live on in a forked child. Remembering the owner in an atomic
// that the child's fork handler clears is cheaper than asking for the process
// on every call.
std::atomic<bool> forked{false};

void after_fork_in_child() {
  if (the_machine.load() != nullptr) {
    forked = true;
  }
}

} // namespace

Machine::Machine(Settings settings)
    : settings_(std::move(settings)), addresses_(slots_of(settings_.visible)) {
  int ordinal = 0;
  for (const int physical : settings_.visible) {
    devices_.push_back(std::make_unique<Device>(
        ordinal, physical, addresses_.slot(ordinal), addresses_, streams_));
    ++ordinal;
    pools_.add(devices_.back()->default_pool);
  }
}

Device& Machine::device(int ordinal) {
  require(!devices_.empty(), cudaErrorNoDevice);
  require(ordinal >= 0 && ordinal < device_count(), cudaErrorInvalidDevice);
  return *devices_[static_cast<std::size_t>(ordinal)];
}

Device& Machine::device_of(const void* memory) {
  const auto piece = addresses_.find(reinterpret_cast<std::uint64_t>(memory));
  require(piece.has_value());
  return device(piece->device);
}

void Machine::synchronize_users(const Allocation& piece) {
  for (const auto& device : devices_) {
    if (addresses_.visible(piece, device->ordinal())) {
      device->synchronize();
    }
  }
}

Machine& machine() {
  require(!forked, cudaErrorInitializationError);
  Machine* made = the_machine.load(std::memory_order_acquire);
  if (made != nullptr) {
    return *made;
  }
  const std::lock_guard lock(creation_mutex);
  if (the_machine == nullptr) {
    // Every call finds the environment wrong; one message is enough.
    static bool told = false;
    try {
      the_machine = new Machine(read_settings());
    } catch (const Failure& failure) {
      throw Failure(
          failure.status(), std::exchange(told, true) ? "" : failure.message());
    }
    owner = getpid();
    std::atexit(stop_devices);
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
  }
  return *the_machine;
}

bool machine_exists() noexcept {
  return the_machine.load(std::memory_order_acquire) != nullptr;
}

Device& selected_device() {
  return machine().device(thread_state().device);
}

Device& current_device() {
  Device& device = selected_device();
  device.require_health();
  ThreadState& thread = thread_state();
  if (thread.context == nullptr) {
    device.activate();
  } else {
    require(!thread.context->destroyed, cudaErrorContextIsDestroyed);
  }
  thread.bound = true;
  return device;
}

std::shared_ptr<Stream> resolve_stream(cudaStream_t handle) {
  ThreadState& thread = thread_state();
  if (handle == nullptr) {
    handle =
        thread.per_thread_default > 0 ? cudaStreamPerThread : cudaStreamLegacy;
  }
  if (handle == cudaStreamLegacy) {
    return current_device().default_stream().shared_from_this();
  }
  if (handle == cudaStreamPerThread) {
    Device& device = current_device();
    const auto index = static_cast<std::size_t>(device.ordinal());
    if (thread.streams.size() <= index) {
      thread.streams.resize(index + 1);
    }
    if (thread.streams[index] == nullptr) {
      thread.streams[index] = device.create_stream(0, 0);
    }
    return thread.streams[index];
  }
  auto stream = machine().streams().get(handle);
  stream->device().require_health();
  return stream;
}

} // namespace accelerator::runtime
