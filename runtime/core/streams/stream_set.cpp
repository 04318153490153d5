#include "runtime/core/streams/stream_set.h"

#include <driver_types.h>

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/core/streams/event.h"

namespace accelerator::runtime {

StreamSet::StreamSet(
    Device& device,
    const Slot& slot,
    HandleTable<Stream>& handles,
    bool calls_in_callbacks)
    : device_(device),
      handles_(handles),
      slot_(slot),
      calls_in_callbacks_(calls_in_callbacks) {
  streams_.push_back(
      std::make_shared<Stream>(*this, Stream::Kind::kLegacy, 0, 0));
}

Stream& StreamSet::default_stream() const {
  return *streams_.front(); // there from the beginning and never replaced
}

std::shared_ptr<Stream> StreamSet::create(unsigned flags, int priority) {
  const auto kind = (flags & cudaStreamNonBlocking) != 0
      ? Stream::Kind::kNonBlocking
      : Stream::Kind::kBlocking;
  auto stream = std::make_shared<Stream>(*this, kind, flags, priority);
  std::shared_ptr<Event> gate;
  {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
    gate = gate_;
  }
  if (gate != nullptr) {
    gate->make_wait(*stream);
  }
  if (kind == Stream::Kind::kBlocking) {
    had_blocking_.store(true, std::memory_order_release);
  }
  handles_.add(stream);
  return stream;
}

void StreamSet::remove(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(
      streams_.begin(), streams_.end(), [&](const auto& candidate) {
        return candidate.get() == &stream;
      });
  if (found == streams_.end() || found == streams_.begin()) {
    return;
  }
  // One with work left stays in view of the default stream until it is idle;
  // those that have become idle since go now.
  streams_.erase(
      std::remove_if(
          streams_.begin() + 1,
          streams_.end(),
          [&](const auto& candidate) {
            return candidate->idle() &&
                (candidate.get() == &stream ||
                 !handles_.contains(candidate.get()));
          }),
      streams_.end());
}

void StreamSet::let_wait(std::shared_ptr<Event> event) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(mutex_);
    gate_ = event;
    streams = streams_;
  }
  for (const auto& stream : streams) {
    event->make_wait(*stream);
  }
}

std::vector<std::shared_ptr<Stream>> StreamSet::all() const {
  const std::lock_guard lock(mutex_);
  return streams_;
}

void StreamSet::synchronize() const {
  for (const auto& stream : all()) {
    stream->synchronize();
  }
}

Status StreamSet::fault() const {
  const Status own = fault_.load(std::memory_order_acquire);
  if (own != cudaSuccess) {
    return own;
  }
  const accel_status found = slot_.api->device_status(slot_.index);
  // Code at fault is told of by who runs it; a device that is lost ran none.
  if (found == ACCEL_DEVICE_LOST && !told_.exchange(true)) {
    report(
        std::string("a device of ") + slot_.api->name +
        " is lost: " + slot_.api->last_error());
  }
  return status_of(found);
}

void StreamSet::forget_fault() {
  fault_ = cudaSuccess;
  told_ = false;
}

void StreamSet::set_host_fault(Status status) {
  Status well = cudaSuccess;
  fault_.compare_exchange_strong(well, status);
}

void StreamSet::set_fault(Status status) {
  Status well = cudaSuccess;
  if (fault() == cudaSuccess && fault_.compare_exchange_strong(well, status) &&
      slot_.api->device_fail != nullptr) {
    slot_.api->device_fail(slot_.index, fault_of(status));
  }
}

} // namespace accelerator::runtime
