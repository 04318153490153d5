// The simulated machine: its devices, and the memory that they share.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "cudasim/backend/machine/device.h"
#include "cudasim/backend/machine/settings.h"
#include "cudasim/backend/memory/address_map.h"

namespace cudasim::backend {

class Machine {
 public:
  explicit Machine(Settings settings);

  const Settings& settings() const {
    return settings_;
  }
  int device_count() const {
    return settings_.devices;
  }
  /// Made when it is first asked for.
  /// @throws Error: ACCEL_NO_DEVICE.
  Device& device(int ordinal);
  /// Throws an Error with ACCEL_NO_DEVICE unless there is such a device.
  void require_device(int ordinal) const;
  AddressMap& addresses() {
    return addresses_;
  }
  /// Drops what waits in streams; what runs gets a moment to end.
  void stop();

 private:
  static constexpr std::size_t kMostDevices = 16;

  Settings settings_;
  AddressMap addresses_;
  std::mutex mutex_;
  std::array<std::unique_ptr<Device>, kMostDevices> devices_;
  std::array<std::atomic<Device*>, kMostDevices> made_{};
};

/// The machine of this process.
/// @throws Error before initialize().
Machine& machine();

/// Makes it.
/// @throws Error when there is one, std::invalid_argument for wrong settings.
void make_machine(const std::string& options);

} // namespace cudasim::backend
