#include "cudasim/device/streams/event.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "cudasim/device/ipc/shared_event.h"
#include "cudasim/device/streams/stream.h"

namespace cudasim::device {
namespace {

std::uint64_t next_id() {
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

Event::Event(Device& device, unsigned flags)
    : device_(device), flags_(flags), id_(next_id()) {
  if ((flags & cudaEventInterprocess) != 0) {
    // CUDA has no times across processes.
    require((flags & cudaEventDisableTiming) != 0);
    shared_ = create_shared_event();
  }
}

Event::Event(Device& device, SharedEvent* shared)
    : device_(device),
      flags_(cudaEventInterprocess | cudaEventDisableTiming),
      id_(next_id()),
      shared_(shared) {}

Event::~Event() {
  if (shared_ != nullptr) {
    release_shared_event(shared_);
  }
}

void Event::record(Stream& stream) {
  auto point = std::make_shared<Point>();
  {
    const std::lock_guard lock(mutex_);
    point_ = point;
  }
  if (shared_ != nullptr) {
    const std::uint64_t number = begin_shared_record(shared_);
    SharedEvent* shared = retain_shared_event(shared_);
    stream.enqueue(
        [] { return cudaSuccess; },
        true,
        [point = std::move(point), shared, number] {
          end_shared_record(shared, number);
          release_shared_event(shared);
          point->reach();
        });
    return;
  }
  stream.enqueue(
      [] { return cudaSuccess; },
      true,
      [point = std::move(point)] { point->reach(); });
}

void Event::record_now() {
  auto point = std::make_shared<Point>();
  point->reach();
  if (shared_ != nullptr) {
    end_shared_record(shared_, begin_shared_record(shared_));
  }
  const std::lock_guard lock(mutex_);
  point_ = std::move(point);
}

std::shared_ptr<Point> Event::point() const {
  const std::lock_guard lock(mutex_);
  return point_;
}

bool Event::reached() const {
  if (shared_ != nullptr) {
    const std::uint64_t last = shared_recorded(shared_);
    if (shared_lost(shared_, last)) {
      fail_lost();
    }
    return shared_reached(shared_, last);
  }
  const auto last = point();
  return last == nullptr || last->reached();
}

void Event::wait() const {
  if (shared_ != nullptr) {
    if (!wait_shared(shared_, shared_recorded(shared_))) {
      fail_lost();
    }
  } else if (const auto last = point()) {
    last->wait();
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
    return;
  }
  auto last = point();
  if (last == nullptr || last->reached()) {
    return;
  }
  stream.enqueue(
      [last = std::move(last)] {
        last->wait();
        return cudaSuccess;
      },
      true);
}

float Event::milliseconds_until(const Event& end) const {
  require(&device_ == &end.device_, cudaErrorInvalidResourceHandle);
  for (const Event* event : {this, &end}) {
    require(
        (event->flags_ & cudaEventDisableTiming) == 0 &&
            event->point() != nullptr,
        cudaErrorInvalidResourceHandle);
  }
  const auto from = point();
  const auto to = end.point();
  require(from->reached() && to->reached(), cudaErrorNotReady);
  return std::chrono::duration<float, std::milli>(to->when() - from->when())
      .count();
}

} // namespace cudasim::device
