// Of the ABI: the library, devices and their faults.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "cudasim/backend/api/api.h"
#include "cudasim/backend/machine/gpu_models.h"
#include "cudasim/backend/machine/machine.h"
#include "cudasim/backend/status/error.h"

namespace cudasim::backend {
namespace {

const char* get_last_error() {
  return last_error().c_str();
}

accel_status initialize(const char* options) {
  return call("initialize", [&] {
    require(options != nullptr, "options is null");
    try {
      make_machine(options);
    } catch (const std::invalid_argument& wrong) {
      throw Error(ACCEL_INVALID_ARGUMENT, wrong.what());
    }
  });
}

accel_status finalize() {
  return call("finalize", [] { machine().stop(); });
}

accel_status device_count(std::int32_t* count) {
  return call("device_count", [&] {
    require(count != nullptr, "count is null");
    *count = machine().device_count();
  });
}

accel_status device_properties(
    std::int32_t device,
    accel_properties* properties) {
  return call("device_properties", [&] {
    require(
        properties != nullptr && properties->struct_size >= sizeof(std::size_t),
        "properties is null or has no size");
    machine().require_device(device);
    // Asked before a process forks as well: the device itself is not made.
    const accel_properties all = make_properties(machine().settings(), device);
    const std::size_t size = std::min(properties->struct_size, sizeof(all));
    const std::size_t asked = properties->struct_size;
    std::memcpy(properties, &all, size);
    properties->struct_size = asked;
  });
}

accel_status device_synchronize(std::int32_t device) {
  return call("device_synchronize", [&] {
    Device& chosen = machine().device(device);
    chosen.synchronize();
    chosen.require_health();
  });
}

accel_status device_status(std::int32_t device) {
  return call(
      "device_status", [&] { machine().device(device).require_health(); });
}

accel_status device_reset(std::int32_t device) {
  return call("device_reset", [&] { machine().device(device).reset(); });
}

accel_status device_fail(std::int32_t device, accel_status fault) {
  return call("device_fail", [&] {
    require(ACCEL_IS_FAULT(fault), "the status is not a fault");
    machine().device(device).set_fault(fault);
  });
}

} // namespace

void add_devices(accel_api* api) {
  api->last_error = get_last_error;
  api->initialize = initialize;
  api->finalize = finalize;
  api->device_count = device_count;
  api->device_properties = device_properties;
  api->device_synchronize = device_synchronize;
  api->device_status = device_status;
  api->device_reset = device_reset;
  api->device_fail = device_fail;
}

} // namespace cudasim::backend
