// One device: figures, memory, streams and the state of its health.
#pragma once

#include <driver_types.h>

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "device/abi/device_api.h"
#include "runtime/core/backends/backends.h"
#include "runtime/core/machine/properties.h"
#include "runtime/core/memory/memory.h"
#include "runtime/core/status/handles.h"
#include "runtime/core/status/status.h"
#include "runtime/core/streams/stream.h"
#include "runtime/core/streams/stream_set.h"

namespace accelerator::runtime {

class MemoryPool;

class Device {
 public:
  /// @param ordinal as the program counts, @param physical on the machine,
  /// @param slot where it comes from.
  Device(
      int ordinal,
      int physical,
      const Slot& slot,
      AddressMap& addresses,
      HandleTable<Stream>& stream_handles);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int ordinal() const {
    return ordinal_;
  }
  int physical() const {
    return physical_;
  }
  const Properties& properties() const {
    return properties_;
  }
  /// 80 for compute capability 8.0.
  unsigned capability() const {
    return static_cast<unsigned>(properties_.major * 10 + properties_.minor);
  }
  const Slot& slot() const {
    return slot_;
  }
  const accel_api& api() const {
    return *slot_.api;
  }
  /// Bits of accel_capability.
  std::uint64_t capabilities() const {
    return figures_.capabilities;
  }
  bool can(accel_capability capability) const {
    return (figures_.capabilities & capability) != 0;
  }
  /// Whether it runs code of that kind.
  bool runs(accel_code_format format) const {
    return can(ACCEL_CAP_CODE) && (figures_.code_formats & format) != 0;
  }
  /// Whether work is done before the call that gives it returns.
  bool synchronous() const {
    return figures_.synchronous != 0;
  }
  Memory& memory() {
    return memory_;
  }

  /// What memory pools are made with.
  StreamSet& stream_set() {
    return streams_;
  }
  /// The legacy default stream.
  Stream& default_stream() {
    return streams_.default_stream();
  }
  /// Makes a stream and enters it into the machine's table.
  std::shared_ptr<Stream> create_stream(unsigned flags, int priority) {
    return streams_.create(flags, priority);
  }
  /// Forgets a stream; it ends when its work is done.
  void remove_stream(const Stream& stream) {
    streams_.remove(stream);
  }
  /// All streams that live.
  std::vector<std::shared_ptr<Stream>> streams() const {
    return streams_.all();
  }
  /// Waits for all work of all streams.
  void synchronize() {
    streams_.synchronize();
  }

  /// The error that every call answers since something went wrong on the
  /// device; cudaSuccess while it is well.
  Status fault() const {
    return streams_.fault();
  }
  /// The first fault stays.
  void set_fault(Status status) {
    streams_.set_fault(status);
  }
  /// @throws Failure with the fault, if there is one.
  void require_health() const {
    require(fault() == cudaSuccess, fault());
  }
  /// cudaDeviceReset: waits, forgets the fault, frees what cudaMalloc,
  /// cudaMallocArray and kernels' malloc gave, ends texture objects, and sets
  /// the limits back.
  void reset();

  /// Whether the primary context is alive: something has used the device.
  bool active() const {
    return active_;
  }
  void activate() {
    if (!active_) {
      set_active(true);
    }
  }

  /// cudaDeviceSetLimit. The heap of kernels' malloc has the size that it says;
  /// the other limits are only kept.
  std::size_t limit(cudaLimit which) const;
  void set_limit(cudaLimit which, std::size_t value);

  /// cudaSetDeviceFlags; only kept.
  unsigned flags = 0;
  /// cudaMallocAsync takes from the current one, which cudaDeviceSetMemPool
  /// changes.
  std::shared_ptr<MemoryPool> default_pool;
  std::shared_ptr<MemoryPool> current_pool;

 private:
  void set_active(bool active);
  void set_default_limits();

  int ordinal_;
  int physical_;
  Slot slot_;
  accel_properties figures_;
  Properties properties_;
  AddressMap& addresses_;
  Memory memory_;
  StreamSet streams_;
  std::atomic<bool> active_{false};
  std::array<std::atomic<std::size_t>, 8> limits_;
};

} // namespace accelerator::runtime
