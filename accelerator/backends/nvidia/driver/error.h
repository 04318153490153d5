// What the functions of the ABI answer, and the border where exceptions end.
#pragma once

#include <cuda.h>

#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "accelerator/abi/device_api.h"
#include "accelerator/backends/nvidia/driver/driver.h"
#include "accelerator/host/host_error.h"

namespace accelerator::nvidia {

/// A call that cannot be carried out.
class Error : public std::exception {
 public:
  Error(accel_status status, std::string message)
      : status_(status), message_(std::move(message)) {}
  accel_status status() const {
    return status_;
  }
  const char* what() const noexcept override {
    return message_.c_str();
  }

 private:
  accel_status status_;
  std::string message_;
};

/// Throws an Error unless the condition holds.
inline void require(
    bool condition,
    accel_status status,
    const std::string& message) {
  if (!condition) {
    throw Error(status, message);
  }
}

/// Throws ACCEL_INVALID_ARGUMENT with an argument's name and value unless the
/// condition holds.
/// @param needed what the argument has to be.
template <typename Value>
void require_argument(
    bool condition,
    const char* name,
    Value value,
    const char* needed) {
  if (!condition) {
    throw Error(
        ACCEL_INVALID_ARGUMENT,
        std::string(name) + " is " + std::to_string(value) + ", needed is " +
            needed);
  }
}

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
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return ACCEL_OK;
    } else {
      return body();
    }
  } catch (const Error& error) {
    return fail(error.status(), function, error.what());
  } catch (const host::HostError& error) {
    return fail(
        error.kind() == host::HostError::Kind::kEnded ? ACCEL_OTHER_ENDED
                                                      : ACCEL_INVALID_ARGUMENT,
        function,
        error.what());
  } catch (const std::bad_alloc&) {
    return fail(ACCEL_OUT_OF_MEMORY, function, "the host has no memory left");
  } catch (const std::exception& error) {
    return fail(ACCEL_UNKNOWN, function, error.what());
  }
}

/// The same for what frees and destroys, which still works on a device at
/// fault: the driver has let go of everything itself then.
template <typename Body>
accel_status call_to_free(const char* function, Body&& body) noexcept {
  const accel_status status = call(function, std::forward<Body>(body));
  return ACCEL_IS_FAULT(status) ? ACCEL_OK : status;
}

} // namespace accelerator::nvidia
