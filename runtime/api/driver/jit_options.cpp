#include "runtime/api/driver/jit_options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/core/status/status.h"

namespace accelerator::driver {
namespace {

// The number itself stands where a pointer would.
unsigned number(const void* value) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(value));
}

} // namespace

void JitLog::clear() {
  if (size != nullptr) {
    *size = nullptr;
  }
  if (buffer != nullptr && capacity > 0) {
    *buffer = '\0';
  }
}

void JitLog::write(const std::string& message) {
  if (buffer == nullptr || capacity == 0) {
    return;
  }
  const std::size_t length = std::min(message.size(), capacity - 1);
  std::memcpy(buffer, message.data(), length);
  buffer[length] = '\0';
  if (size != nullptr) {
    *size = reinterpret_cast<void*>(length + 1);
  }
}

JitOptions::JitOptions(
    unsigned count,
    const CUjit_option* names,
    void** values) {
  runtime::require(count == 0 || (names != nullptr && values != nullptr));
  for (unsigned i = 0; i < count; ++i) {
    switch (names[i]) {
      case CU_JIT_MAX_REGISTERS:
        max_registers = number(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        info.buffer = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER:
        error.buffer = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: {
        JitLog& log =
            names[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ? info : error;
        log.capacity = number(values[i]);
        log.size = &values[i];
        break;
      }
      default:
        break;
    }
  }
}

void JitOptions::clear_logs() {
  info.clear();
  error.clear();
}

} // namespace accelerator::driver
