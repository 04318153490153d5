// One simulated device: figures, memory, streams and its fault.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "cudasim/backend/machine/stream.h"
#include "cudasim/backend/memory/memory.h"
#include "cudasim/engine/launch/launch.h"
#include "device/abi/device_api.h"

namespace cudasim::backend {

struct Settings;

class Device {
 public:
  Device(int ordinal, const Settings& settings, AddressMap& addresses);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int ordinal() const {
    return ordinal_;
  }
  const accel_properties& properties() const {
    return properties_;
  }
  bool synchronous() const {
    return properties_.synchronous != 0;
  }
  Memory& memory() {
    return memory_;
  }
  /// What kernels' malloc takes from.
  engine::DeviceHeap& heap() const;
  /// What kernels read by coordinates.
  engine::TextureTable& textures() const;
  /// What a launch is told of the device.
  engine::DeviceView view() const;

  std::shared_ptr<Stream> create_stream();
  /// Forgets a stream; it ends when its work is done.
  void remove_stream(const Stream& stream);
  /// All streams that live, or have work left.
  std::vector<std::shared_ptr<Stream>> streams() const;
  /// Waits for all work of all streams.
  void synchronize() const;

  /// The error of the first task that failed, which ends all that follows.
  accel_status fault() const {
    return fault_.load(std::memory_order_acquire);
  }
  /// @throws Error: the fault, when there is one.
  void require_health() const;
  /// The first fault stays.
  void set_fault(accel_status status);
  /// Waits, forgets the fault and all textures, frees all memory but modules'
  /// variables.
  void reset();

 private:
  int ordinal_;
  accel_properties properties_;
  AddressMap& addresses_;
  Memory memory_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::vector<std::shared_ptr<Stream>> ending_; // removed, with work left
  std::atomic<accel_status> fault_{ACCEL_OK};
};

} // namespace cudasim::backend
