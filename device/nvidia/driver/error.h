// What the functions of the ABI answer, and the border where exceptions end.
#pragma once

#include <cuda.h>

#include <string>
#include <utility>

#include "device/abi/device_api.h"
#include "device/errors/error.h"
#include "device/nvidia/driver/driver.h"

namespace accelerator::nvidia {

using backends::Error;
using backends::require;
using backends::require_argument;

/// The status that says what an answer of the driver says.
accel_status status_of(CUresult result);

/// Throws an Error for what is not success.
/// @param function the driver's, for the message.
void check(CUresult result, const char* function);

/// Calls a function of the driver and checks its answer.
#define ACCEL_DRIVER(function, ...) \
  ::accelerator::nvidia::check(     \
      ::accelerator::nvidia::driver().function(__VA_ARGS__), #function)

/// Devices that there can be.
constexpr int kMostDevices = 64;

/// A device's fault, or ACCEL_OK; the first one stays.
accel_status known_fault(int device) noexcept;
void note_fault(int device, accel_status fault) noexcept;

/// Says that the calling thread's function is about a device: messages name it,
/// and a fault is its.
void concern(int device) noexcept;

/// What last_error answers to the calling thread.
std::string& last_error() noexcept;

/// Begins a function: it is about no device yet.
void begin() noexcept;
/// Ends it: keeps "nvidia: function: device N: message" for the calling thread,
/// and a fault for the device.
accel_status fail(
    accel_status status,
    const char* function,
    const char* message) noexcept;

/// Runs the body of a function; what it throws becomes its status.
/// @param function its name; the body returns nothing, or a status that is no
/// error.
template <typename Body>
accel_status call(const char* function, Body&& body) noexcept {
  begin();
  return backends::status_of(
      std::forward<Body>(body), [&](accel_status status, const char* message) {
        return fail(status, function, message);
      });
}

/// The same for what frees and destroys, which still works on a device at
/// fault: the driver has let go of everything itself then.
template <typename Body>
accel_status call_to_free(const char* function, Body&& body) noexcept {
  const accel_status status = call(function, std::forward<Body>(body));
  return ACCEL_IS_FAULT(status) ? ACCEL_OK : status;
}

} // namespace accelerator::nvidia
