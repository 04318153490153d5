// Devices and errors.
#include <c10/util/Exception.h>

#include <mutex>
#include <unordered_map>

#include "ATen/stand/StandContext.h"
#include "c10/stand/StandFunctions.h"

namespace c10::stand {

void check_error(standError_t error, const char* file, int line) {
  if (C10_LIKELY(error == standSuccess)) {
    return;
  }
  const std::string message = standGetLastErrorMessage();
  (void)standGetLastError();
  throw c10::Error(
      {"check_error", file, static_cast<uint32_t>(line)},
      c10::str(
          "stand-in error: ",
          standGetErrorString(error),
          " (",
          standGetErrorName(error),
          "): ",
          message));
}

DeviceIndex device_count() noexcept {
  int count = 0;
  if (standGetDeviceCount(&count) != standSuccess) {
    (void)standGetLastError();
  }
  return static_cast<DeviceIndex>(count);
}

DeviceIndex current_device() {
  int device = 0;
  C10_STAND_CHECK(standGetDevice(&device));
  return static_cast<DeviceIndex>(device);
}

void set_device(DeviceIndex device) {
  C10_STAND_CHECK(standSetDevice(device));
}

DeviceIndex exchange_device(DeviceIndex device) {
  const auto before = current_device();
  if (device >= 0 && device != before) {
    set_device(device);
  }
  return before;
}

void device_synchronize() {
  C10_STAND_CHECK(standDeviceSynchronize());
}

DeviceIndex device_or_current(DeviceIndex device) {
  return device >= 0 ? device : current_device();
}

} // namespace c10::stand

namespace at::stand {

standDeviceProp* getDeviceProperties(c10::DeviceIndex device) {
  static auto* mutex = new std::mutex;
  static auto* all = new std::unordered_map<c10::DeviceIndex, standDeviceProp>;
  device = c10::stand::device_or_current(device);
  standDeviceProp properties;
  C10_STAND_CHECK(standGetDeviceProperties(&properties, device));
  const std::lock_guard<std::mutex> lock(*mutex);
  return &all->try_emplace(device, properties).first->second;
}

standDeviceProp* getCurrentDeviceProperties() {
  return getDeviceProperties(-1);
}

} // namespace at::stand
