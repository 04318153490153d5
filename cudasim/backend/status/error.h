// What the functions of the ABI answer, and the border where exceptions end.
#pragma once

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "accelerator/abi/device_api.h"
#include "accelerator/host/host_error.h"

namespace cudasim::backend {

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
inline void require(bool condition, accel_status status, const char* message) {
  if (!condition) {
    throw Error(status, message);
  }
}

/// The same with ACCEL_INVALID_ARGUMENT.
inline void require(bool condition, const char* message) {
  require(condition, ACCEL_INVALID_ARGUMENT, message);
}

/// Throws an Error with ACCEL_INVALID_ARGUMENT, and the argument's value in its
/// message, unless the condition holds.
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

/// What last_error answers to the calling thread.
std::string& last_error() noexcept;

/// Keeps "function: message" for the calling thread.
accel_status fail(
    accel_status status,
    const char* function,
    const char* message) noexcept;

/// Runs the body of a function; what it throws becomes its status.
/// @param function its name, for the message; the body returns nothing, or a
/// status that is no error.
template <typename Body>
accel_status call(const char* function, Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return ACCEL_OK;
    } else {
      return body();
    }
  } catch (const Error& error) {
    return fail(error.status(), function, error.what());
  } catch (const accelerator::host::HostError& error) {
    return fail(
        error.kind() == accelerator::host::HostError::Kind::kEnded
            ? ACCEL_OTHER_ENDED
            : ACCEL_INVALID_ARGUMENT,
        function,
        error.what());
  } catch (const std::bad_alloc&) {
    return fail(ACCEL_OUT_OF_MEMORY, function, "the host has no memory left");
  } catch (const std::exception& error) {
    return fail(ACCEL_UNKNOWN, function, error.what());
  }
}

/// Writes a message to stderr, each line with the prefix "cudasim: ".
void report(const std::string& message) noexcept;

} // namespace cudasim::backend
