// Streams of the driver, and the host's work in them.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "accelerator/abi/device_api.h"
#include "accelerator/backends/nvidia/devices/device.h"
#include "accelerator/backends/nvidia/streams/host_block.h"

namespace accelerator::nvidia {

class Callbacks;

/// Made on a device at fault it has nothing of the driver's, and takes
/// callbacks only.
class Stream {
 public:
  /// @throws Error
  Stream(Device& device, int priority);
  /// Its work is still done.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const {
    return device_;
  }
  /// @throws Error: the device's fault.
  CUstream native() const {
    device_.require_health();
    return native_;
  }
  /// Held while work is put in that belongs together.
  std::mutex& mutex() {
    return mutex_;
  }

  /// Puts in a program's callback, also on a device at fault. A context is not
  /// needed.
  /// @throws Error
  void add_callback(accel_callback callback, void* data);
  /// Puts in a short piece of the library's own work on the host, which waits
  /// for nothing and calls nothing of the driver. A context is current.
  /// @throws Error
  void add_host_work(std::function<void()> function);
  /// Pinned memory for copies of this stream, used in its order; with the
  /// mutex, and a current context.
  const std::shared_ptr<HostBlock>& block();

 private:
  Device& device_;
  CUstream native_ = nullptr;
  std::mutex mutex_;
  std::shared_ptr<HostBlock> block_;
  std::shared_ptr<Callbacks> callbacks_;
  std::uint32_t given_ = 0; // callbacks
};

} // namespace accelerator::nvidia

struct accel_stream_object {
  accelerator::nvidia::Stream stream;
};

namespace accelerator::nvidia {

/// The stream of a handle, whose device the calling function is about.
Stream& stream_of(accel_stream stream);

} // namespace accelerator::nvidia
