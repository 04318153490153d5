// Events: made when they are first recorded, on the stream's device.
#pragma once

#include <utility>

#include "ATen/stand/StandContext.h"
#include "c10/stand/StandGuard.h"

namespace at::stand {

class StandEvent {
 public:
  explicit StandEvent(unsigned int flags = standEventDisableTiming) noexcept
      : flags_(flags) {}
  ~StandEvent() {
    if (event_) {
      (void)standEventDestroy(event_);
    }
  }
  StandEvent(const StandEvent&) = delete;
  StandEvent& operator=(const StandEvent&) = delete;
  StandEvent(StandEvent&& other) noexcept
      : flags_(other.flags_),
        device_(other.device_),
        event_(std::exchange(other.event_, nullptr)) {}
  StandEvent& operator=(StandEvent&& other) noexcept {
    std::swap(flags_, other.flags_);
    std::swap(device_, other.device_);
    std::swap(event_, other.event_);
    return *this;
  }

  operator standEvent_t() const {
    return event();
  }
  standEvent_t event() const {
    return event_;
  }
  bool isCreated() const {
    return event_ != nullptr;
  }
  c10::DeviceIndex device_index() const {
    return device_;
  }

  /// Whether all work before the last record is done; true without one.
  bool query() const {
    if (!event_) {
      return true;
    }
    const auto error = standEventQuery(event_);
    if (error == standErrorNotReady) {
      (void)standGetLastError();
      return false;
    }
    C10_STAND_CHECK(error);
    return true;
  }
  void record() {
    record(getCurrentStandStream());
  }
  void record(const StandStream& stream) {
    const c10::stand::StandGuard guard(stream.device_index());
    if (!event_) {
      C10_STAND_CHECK(standEventCreateWithFlags(&event_, flags_));
      device_ = stream.device_index();
    }
    C10_STAND_CHECK(standEventRecord(event_, stream));
  }
  void block(const StandStream& stream) {
    if (event_) {
      C10_STAND_CHECK(standStreamWaitEvent(stream, event_, 0));
    }
  }
  void synchronize() const {
    if (event_) {
      C10_STAND_CHECK(standEventSynchronize(event_));
    }
  }
  /// Milliseconds to another event.
  float elapsed_time(const StandEvent& other) const {
    float milliseconds = 0;
    C10_STAND_CHECK(standEventElapsedTime(&milliseconds, event_, other.event_));
    return milliseconds;
  }

 private:
  unsigned int flags_;
  c10::DeviceIndex device_ = -1;
  standEvent_t event_ = nullptr;
};

} // namespace at::stand
