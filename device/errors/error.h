// What goes wrong in the functions of a device's library that is written in
// C++: an exception, and the border where it becomes the ABI's status.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "device/abi/device_api.h"
#include "device/host/host_error.h"

namespace accelerator::backends {

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
template <typename Message>
void require(bool condition, accel_status status, const Message& message) {
  if (!condition) {
    throw Error(status, message);
  }
}

/// The same with ACCEL_INVALID_ARGUMENT.
inline void require(bool condition, const char* message) {
  require(condition, ACCEL_INVALID_ARGUMENT, message);
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

/// Runs the body of a function of the ABI; what it throws becomes its status.
/// @param body returns nothing, or a status that is no error.
/// @param fail is called with the status and a text, keeps it for
/// `last_error`, and returns the status.
template <typename Body, typename Fail>
accel_status status_of(Body&& body, Fail&& fail) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return ACCEL_OK;
    } else {
      return body();
    }
  } catch (const Error& error) {
    return fail(error.status(), error.what());
  } catch (const host::HostError& error) {
    return fail(
        error.kind() == host::HostError::Kind::kEnded ? ACCEL_OTHER_ENDED
                                                      : ACCEL_INVALID_ARGUMENT,
        error.what());
  } catch (const std::bad_alloc&) {
    return fail(ACCEL_OUT_OF_MEMORY, "the host has no memory left");
  } catch (const std::exception& error) {
    return fail(ACCEL_UNKNOWN, error.what());
  }
}

} // namespace accelerator::backends
