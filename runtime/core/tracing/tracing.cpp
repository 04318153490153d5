#include "runtime/core/tracing/tracing.h"

#include <pthread.h>

namespace accelerator::runtime::tracing {

std::atomic<Observer*> the_observer{nullptr};

namespace {

/// What the calling thread is doing, from the outermost call on.
struct Current {
  Observer* observer = nullptr;
  std::uint32_t correlation = 0;
};
thread_local Current current;

std::uint32_t next_correlation() {
  static std::atomic<std::uint32_t> correlations{0};
  std::uint32_t next = 0;
  while (next == 0) { // 0 means unknown, also after 2^32 calls
    next = correlations.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return next;
}

} // namespace

void set_observer(Observer* observer) noexcept {
  // What another thread of the parent held of the observer is held for good in
  // a child.
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    the_observer = nullptr;
    current = {};
  });
  static_cast<void>(registered);
  the_observer = observer;
}

void Call::begin(
    Observer* observer,
    Interface interface,
    const char* function) noexcept {
  if (current.observer != nullptr) {
    return;
  }
  observer_ = observer;
  record_.interface = interface;
  record_.function = function;
  record_.correlation = next_correlation();
  current = {observer, record_.correlation};
  observer->begin(record_);
  record_.start = observer->now();
}

void Call::end() noexcept {
  record_.end = observer_->now();
  current = {};
  observer_->call(record_);
}

Origin origin_of_work(std::uint64_t stream) noexcept {
  Origin origin;
  origin.observer = current.observer;
  origin.correlation = current.correlation;
  origin.stream = stream;
  return origin;
}

Wait::Wait(
    WaitRecord::Kind kind,
    int device,
    std::uint64_t stream,
    std::uint64_t event) noexcept {
  if (current.observer == nullptr) {
    return;
  }
  observer_ = current.observer;
  record_.kind = kind;
  record_.device = device;
  record_.stream = stream;
  record_.event = event;
  record_.correlation = current.correlation;
  record_.start = observer_->now();
}

Wait::~Wait() {
  if (observer_ != nullptr) {
    record_.end = observer_->now();
    observer_->wait(record_);
  }
}

void event_recorded(
    int device,
    std::uint64_t stream,
    std::uint64_t event) noexcept {
  if (current.observer != nullptr) {
    current.observer->event({device, stream, event, current.correlation, 0});
  }
}

EventToTell::EventToTell(
    int device,
    std::uint64_t stream,
    std::uint64_t event) noexcept {
  if (current.observer != nullptr && current.observer->times_events()) {
    observer_ = current.observer;
    record_ = {device, stream, event, current.correlation, 0};
  }
}

void EventToTell::tell() noexcept {
  record_.reached = observer_->now();
  observer_->event(record_);
}

} // namespace accelerator::runtime::tracing
