// Guards: the current device and stream, until the end of a block.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>

#include "c10/stand/StandStream.h"

namespace c10::stand {

class StandGuard {
 public:
  explicit StandGuard(DeviceIndex device)
      : guard_(Device(DeviceType::PrivateUse1, device)) {}
  explicit StandGuard(Device device) : guard_(device) {}

  void set_device(Device device) {
    guard_.reset_device(device);
  }
  void set_index(DeviceIndex device) {
    guard_.set_index(device);
  }
  Device original_device() const {
    return guard_.original_device();
  }
  Device current_device() const {
    return guard_.current_device();
  }

 private:
  DeviceGuard guard_;
};

class OptionalStandGuard {
 public:
  OptionalStandGuard() = default;
  explicit OptionalStandGuard(std::optional<Device> device) : guard_(device) {}
  explicit OptionalStandGuard(std::optional<DeviceIndex> device) {
    if (device) {
      set_index(*device);
    }
  }

  void set_device(Device device) {
    guard_.reset_device(device);
  }
  void set_index(DeviceIndex device) {
    guard_.reset_device(Device(DeviceType::PrivateUse1, device));
  }
  std::optional<Device> original_device() const {
    return guard_.original_device();
  }
  std::optional<Device> current_device() const {
    return guard_.current_device();
  }

 private:
  OptionalDeviceGuard guard_;
};

class StandStreamGuard {
 public:
  explicit StandStreamGuard(Stream stream) : guard_(stream) {}

  void reset_stream(Stream stream) {
    guard_.reset_stream(stream);
  }
  StandStream original_stream() const {
    return StandStream(guard_.original_stream());
  }
  StandStream current_stream() const {
    return StandStream(guard_.current_stream());
  }
  Device original_device() const {
    return guard_.original_device();
  }
  Device current_device() const {
    return guard_.current_device();
  }

 private:
  StreamGuard guard_;
};

class OptionalStandStreamGuard {
 public:
  OptionalStandStreamGuard() = default;
  explicit OptionalStandStreamGuard(std::optional<Stream> stream)
      : guard_(stream) {}

  void reset_stream(Stream stream) {
    guard_.reset_stream(stream);
  }
  void reset() {
    guard_.reset();
  }

 private:
  OptionalStreamGuard guard_;
};

} // namespace c10::stand

// As at::cuda has all that c10::cuda has (c10/macros/Macros.h).
namespace at::stand {
using namespace c10::stand;
} // namespace at::stand
