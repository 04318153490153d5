#include "cudasim/backend/status/error.h"

#include <new>

#include "device/host/report.h"

namespace cudasim::backend {

std::string& last_error() noexcept {
  thread_local std::string message;
  return message;
}

accel_status fail(
    accel_status status,
    const char* function,
    const char* message) noexcept {
  try {
    // What is wrong with code is the program's, whoever found it.
    const bool of_code = status == ACCEL_INVALID_CODE ||
        status == ACCEL_NOT_SUPPORTED || status == ACCEL_NOT_FOUND ||
        status == ACCEL_NO_IMAGE_FOR_DEVICE || status == ACCEL_OTHER_ENDED;
    last_error() = (of_code ? "" : std::string(function) + ": ") + message;
  } catch (const std::bad_alloc&) {
    last_error().clear();
  }
  return status;
}

void report(const std::string& message) noexcept {
  accelerator::host::report("cudasim: ", message);
}

} // namespace cudasim::backend
