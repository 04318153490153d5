#include "cudasim/backend/status/error.h"

#include <cstdio>

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
  try {
    std::string text;
    std::size_t begin = 0;
    while (begin < message.size()) {
      const std::size_t end =
          std::min(message.find('\n', begin), message.size());
      text += "cudasim: ";
      text.append(message, begin, end - begin);
      text += '\n';
      begin = end + 1;
    }
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("cudasim: a report was lost: out of host memory\n", stderr);
  }
}

} // namespace cudasim::backend
