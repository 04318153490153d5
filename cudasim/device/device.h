// One simulated device: figures, memory, streams and the state of its health.
#pragma once

#include <driver_types.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "cudasim/device/memory.h"
#include "cudasim/device/status.h"
#include "cudasim/device/stream.h"
#include "cudasim/engine/program.h"

namespace cudasim::device {

class MemoryPool;
struct Settings;

class Device {
 public:
  /// @param ordinal as the program counts, @param physical on the machine.
  Device(
      int ordinal,
      int physical,
      const Settings& settings,
      AddressMap& addresses);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int ordinal() const {
    return ordinal_;
  }
  int physical() const {
    return physical_;
  }
  const cudaDeviceProp& properties() const {
    return properties_;
  }
  /// 80 for compute capability 8.0.
  unsigned capability() const {
    return static_cast<unsigned>(properties_.major * 10 + properties_.minor);
  }
  Memory& memory() {
    return memory_;
  }
  /// What a launch is told of the device.
  engine::DeviceView view() const;

  /// The legacy default stream.
  Stream& default_stream();
  /// Makes a stream and enters it into the machine's table.
  std::shared_ptr<Stream> create_stream(unsigned flags, int priority);
  /// Forgets a stream; it ends when its work is done.
  void remove_stream(const Stream& stream);
  /// All streams that live.
  std::vector<std::shared_ptr<Stream>> streams() const;
  /// Held while a stream joins the order given by the legacy default stream.
  std::mutex& order_mutex() {
    return order_mutex_;
  }
  /// Waits for all work of all streams.
  void synchronize();

  /// The error that every call answers since something went wrong on the
  /// device; cudaSuccess while it is well.
  Status fault() const {
    return fault_.load(std::memory_order_acquire);
  }
  /// The first fault stays.
  void set_fault(Status status);
  /// @throws Failure with the fault, if there is one.
  void require_health() const {
    require(fault() == cudaSuccess, fault());
  }
  /// cudaDeviceReset: waits, forgets the fault, frees what cudaMalloc gave.
  void reset();

  /// Whether the primary context is alive: something has used the device.
  bool active() const {
    return active_;
  }
  void activate() {
    active_ = true;
  }
  void deactivate() {
    active_ = false;
  }

  /// cudaDeviceSetLimit; the heap's size goes to the engine, the others are
  /// kept.
  std::size_t limit(cudaLimit which) const;
  void set_limit(cudaLimit which, std::size_t value);

  /// cudaSetDeviceFlags; only kept.
  unsigned flags = 0;
  /// Read by MemoryPool's functions.
  std::shared_ptr<MemoryPool> default_pool;
  std::shared_ptr<MemoryPool> current_pool;

 private:
  int ordinal_;
  int physical_;
  cudaDeviceProp properties_;
  AddressMap& addresses_;
  Memory memory_;
  mutable std::mutex streams_mutex_;
  std::mutex order_mutex_;
  std::vector<std::shared_ptr<Stream>> streams_; // the first is the default
  std::atomic<Status> fault_{cudaSuccess};
  std::atomic<bool> active_{false};
  std::array<std::atomic<std::size_t>, 8> limits_;
};

} // namespace cudasim::device
