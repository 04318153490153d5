#include "device/nvidia/streams/mark.h"

#include <condition_variable>
#include <mutex>

#include "device/nvidia/driver/error.h"

namespace accelerator::nvidia {
namespace {

// Of all marks: few of them have to be waited for.
struct Giving {
  std::mutex mutex;
  std::condition_variable given;
};

Giving& giving() {
  static auto* all = new Giving;
  return *all;
}

} // namespace

Mark::Mark(Device& device, bool timing, bool given)
    : device_(device), given_(given) {
  if (device.fault() == ACCEL_OK) {
    const Current current(device);
    ACCEL_DRIVER(
        cuEventCreate,
        &native_,
        timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
  }
}

Mark::~Mark() {
  if (native_ == nullptr ||
      driver().cuCtxPushCurrent(device_.context()) != CUDA_SUCCESS) {
    return;
  }
  driver().cuEventDestroy(native_);
  driver().cuCtxPopCurrent(nullptr);
}

void Mark::give() {
  const std::lock_guard lock(giving().mutex);
  given_.store(true, std::memory_order_release);
  giving().given.notify_all();
}

void Mark::wait_until_given() const {
  if (is_given()) {
    return;
  }
  std::unique_lock lock(giving().mutex);
  const auto given = [this] { return is_given(); };
  while (!giving().given.wait_for(lock, kLookAtFaults, given) &&
         device_.fault() == ACCEL_OK) {
  }
}

} // namespace accelerator::nvidia
