// The devices: their primary contexts, the memory that was given of them, and
// their faults.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/abi/device_api.h"
#include "device/nvidia/devices/backlog.h"
#include "device/nvidia/devices/late_work.h"

namespace accelerator::nvidia {

class Device {
 public:
  Device(int number, CUdevice handle);

  int number() const {
    return number_;
  }
  CUdevice handle() const {
    return handle_;
  }
  int attribute(CUdevice_attribute which) const;
  std::uint64_t total_memory() const;

  /// The primary context, retained when it is first asked for.
  /// @throws Error
  CUcontext context();
  /// Whether it has been asked for: without it the device has no work.
  bool has_context() const {
    return context_.load() != nullptr;
  }

  /// The fault; asks the driver when none is known.
  accel_status fault();
  /// @throws Error: the fault, when one is known.
  void require_health() const;

  /// @throws Error: ACCEL_OUT_OF_MEMORY, a fault.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment);
  /// @throws Error: ACCEL_INVALID_ARGUMENT for what allocate() did not give.
  void release(void* address);
  void release_all();
  /// Where the driver's memory begins that holds an address of allocate();
  /// 0: there is none.
  CUdeviceptr find(void* address);
  /// The bytes that such an address was asked for with; 0: there are none.
  std::uint64_t size_of(void* address);

  /// For calls of the driver that wait for the device.
  LateWork& late() {
    return late_;
  }

  /// A stream whose work the driver does not have all of, and one no more.
  void add_behind(std::shared_ptr<Backlog> stream);
  void remove_behind(const Backlog* stream);
  /// The context's stream without a program's work.
  CUstream probe() const {
    return probe_;
  }

  /// Unloads a module when all work that may use it is done.
  void retire(CUmodule module);
  /// Waits for all work of the context, and of streams that are behind.
  void synchronize();

 private:
  struct Piece {
    CUdeviceptr base = 0; // what the driver gave for it
    std::uint64_t bytes = 0;
  };

  Piece take_out(void* address);
  Piece piece_at(void* address);

  const int number_;
  const CUdevice handle_;
  std::mutex mutex_;
  std::atomic<CUcontext> context_{nullptr};
  CUstream probe_ = nullptr; // allocates at most; tells of faults
  std::map<void*, Piece> memory_;
  std::vector<CUmodule> retired_;
  std::vector<std::shared_ptr<Backlog>> behind_;
  LateWork late_;
};

/// Makes a device's context the calling thread's, to the end of a scope.
class Current {
 public:
  /// @throws Error
  explicit Current(Device& device);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

/// Finds the driver's devices, once.
/// @param most how many of them at most; -1: all.
void find_devices(int most);
int device_number();
/// The device of that number, which the calling function is about.
/// @throws Error: ACCEL_NO_DEVICE.
Device& device_of(std::int32_t number);
/// For who has no device at hand: the first one.
Device& any_device();

} // namespace accelerator::nvidia
