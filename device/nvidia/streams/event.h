// Events: each is the mark of its last record.
#pragma once

#include <memory>
#include <mutex>

#include "device/abi/device_api.h"
#include "device/nvidia/devices/device.h"
#include "device/nvidia/streams/mark.h"

struct accel_event_object {
 public:
  /// @throws accelerator::nvidia::Error
  accel_event_object(accelerator::nvidia::Device& device, bool timing)
      : device(device),
        timing(timing),
        mark_(
            std::make_shared<accelerator::nvidia::Mark>(device, timing, true)) {
  }

  /// The last record's.
  std::shared_ptr<accelerator::nvidia::Mark> mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
  }
  /// From now on the event has this one; who waits for the one before keeps it.
  void replace(std::shared_ptr<accelerator::nvidia::Mark> mark) {
    const std::lock_guard lock(mutex_);
    mark_ = std::move(mark);
  }

  accelerator::nvidia::Device& device;
  const bool timing;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<accelerator::nvidia::Mark> mark_;
};
