// What the functions of the ABI answer, and the border where exceptions end.
#pragma once

#include <string>
#include <utility>

#include "device/abi/device_api.h"
#include "device/errors/error.h"

namespace cudasim::backend {

using accelerator::backends::Error;
using accelerator::backends::require;
using accelerator::backends::require_argument;

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
  return accelerator::backends::status_of(
      std::forward<Body>(body), [&](accel_status status, const char* message) {
        return fail(status, function, message);
      });
}

/// Writes a message to stderr, each line with the prefix "cudasim: ".
void report(const std::string& message) noexcept;

} // namespace cudasim::backend
