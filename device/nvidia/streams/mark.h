// What a record of an event leaves behind: an event of the driver's, which may
// have to wait until the driver is given the record.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>

#include "device/nvidia/devices/device.h"

namespace accelerator::nvidia {

/// How often who waits looks whether the device is at fault.
constexpr auto kLookAtFaults = std::chrono::milliseconds(10);

class Mark {
 public:
  /// @param given whether the driver has all that it will be given of it; if
  /// not, somebody calls give().
  /// @throws Error
  Mark(Device& device, bool timing, bool given);
  /// What waits for it in the driver still does.
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  /// Null: made on a device at fault.
  CUevent native() const {
    return native_;
  }
  /// Whether the driver can be asked about it.
  bool is_given() const {
    return given_.load(std::memory_order_acquire);
  }
  void give();
  /// Until it is given, or its device is at fault.
  void wait_until_given() const;

 private:
  Device& device_;
  CUevent native_ = nullptr;
  std::atomic<bool> given_;
};

} // namespace accelerator::nvidia
