#include "runtime/core/streams/event.h"

#include <atomic>
#include <thread>
#include <utility>

#include "runtime/core/backends/api_status.h"
#include "runtime/core/ipc/shared_event.h"
#include "runtime/core/streams/stream.h"

namespace accelerator::runtime {
namespace {

std::uint64_t next_event_id() {
  static std::atomic<std::uint64_t> ids{1};
  return ids++;
}

// The work before the record was another process's, and is not done.
[[noreturn]] void fail_lost() {
  throw Failure(
      cudaErrorExternalDevice,
      "the process that recorded an interprocess event ended before the event "
      "was reached");
}

} // namespace

Event::Event(Device& device, const Slot& slot, unsigned flags)
    : device_(device), slot_(slot), flags_(flags), id_(next_event_id()) {
  const bool timed = (flags & cudaEventDisableTiming) == 0;
  // CUDA has no times across processes.
  require((flags & cudaEventInterprocess) == 0 || !timed);
  check(api(), api().event_create(slot.index, timed ? 1 : 0, &native_));
  if ((flags & cudaEventInterprocess) != 0) {
    shared_ = create_shared_event();
  }
}

Event::Event(Device& device, const Slot& slot, SharedEvent* shared)
    : Event(device, slot, cudaEventDisableTiming) {
  flags_ |= cudaEventInterprocess;
  shared_ = shared;
}

Event::~Event() {
  api().event_destroy(native_);
  if (shared_ != nullptr) {
    release_shared_event(shared_);
  }
}

bool Event::host_times() const {
  return api().event_elapsed == nullptr &&
      (flags_ & cudaEventDisableTiming) == 0;
}

void Event::record(Stream& stream) {
  if (shared_ != nullptr) {
    const std::uint64_t number = begin_shared_record(shared_);
    SharedEvent* shared = retain_shared_event(shared_);
    stream.enqueue(
        [shared, number] {
          end_shared_record(shared, number);
          release_shared_event(shared);
          return cudaSuccess;
        },
        true);
  }
  if (host_times()) {
    auto when = std::make_shared<Clock::time_point>();
    {
      const std::lock_guard lock(mutex_);
      when_ = when;
    }
    stream.enqueue(
        [when = std::move(when)] {
          *when = Clock::now();
          return cudaSuccess;
        },
        true);
  }
  stream.give([this](accel_stream native) {
    return api().event_record(native_, native);
  });
  recorded_ = true;
  captured = false;
}

bool Event::reached() const {
  if (shared_ != nullptr) {
    const std::uint64_t last = shared_recorded(shared_);
    if (shared_lost(shared_, last)) {
      fail_lost();
    }
    return shared_reached(shared_, last);
  }
  return api().event_query(native_) != ACCEL_NOT_READY;
}

void Event::wait() const {
  if (shared_ != nullptr) {
    if (!wait_shared(shared_, shared_recorded(shared_))) {
      fail_lost();
    }
  } else {
    // A fault is the device's, and asked for there.
    api().event_synchronize(native_);
  }
}

void Event::make_wait(Stream& stream) const {
  if (shared_ != nullptr) {
    SharedEvent* shared = retain_shared_event(shared_);
    const std::uint64_t number = shared_recorded(shared_);
    stream.enqueue(
        [shared, number] {
          const bool reached = wait_shared(shared, number);
          release_shared_event(shared);
          if (!reached) {
            fail_lost();
          }
          return cudaSuccess;
        },
        true);
  } else if (api().event_query(native_) == ACCEL_NOT_READY) {
    if (&stream.api() == &api()) {
      stream.give([this](accel_stream native) {
        return api().stream_wait_event(native, native_);
      });
    } else {
      // Another library's stream knows nothing of this event.
      stream.enqueue(
          [self = shared_from_this()] {
            self->wait();
            return cudaSuccess;
          },
          true);
    }
  }
}

float Event::milliseconds_until(const Event& end) const {
  require(&device_ == &end.device_, cudaErrorInvalidResourceHandle);
  for (const Event* event : {this, &end}) {
    require(
        (event->flags_ & cudaEventDisableTiming) == 0 && event->recorded_,
        cudaErrorInvalidResourceHandle);
  }
  require(reached() && end.reached(), cudaErrorNotReady);
  if (!host_times()) {
    float milliseconds = 0;
    check(api(), api().event_elapsed(native_, end.native_, &milliseconds));
    return milliseconds;
  }
  const auto when = [](const Event& event) {
    const std::lock_guard lock(event.mutex_);
    return *event.when_;
  };
  return std::chrono::duration<float, std::milli>(when(end) - when(*this))
      .count();
}

} // namespace accelerator::runtime
