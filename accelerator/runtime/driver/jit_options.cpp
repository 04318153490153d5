#include "accelerator/runtime/driver/jit_options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "accelerator/runtime/core/status/status.h"

namespace accelerator::driver {
namespace {

// The number itself stands where a pointer would.
unsigned number(const void* value) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(value));
}

} // namespace

JitLog::JitLog(unsigned count, const CUjit_option* options, void** values) {
  runtime::require(count == 0 || (options != nullptr && values != nullptr));
  char* info = nullptr; // there is never more than its end
  std::size_t info_capacity = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) {
      buffer_ = static_cast<char*>(values[i]);
    } else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      size_ = &values[i];
      capacity_ = number(values[i]);
      values[i] = nullptr;
    } else if (options[i] == CU_JIT_INFO_LOG_BUFFER) {
      info = static_cast<char*>(values[i]);
    } else if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) {
      info_capacity = number(values[i]);
      values[i] = nullptr;
    }
  }
  if (info != nullptr && info_capacity > 0) {
    *info = '\0';
  }
  if (buffer_ != nullptr && capacity_ > 0) {
    *buffer_ = '\0';
  }
}

void JitLog::error(const std::string& message) {
  if (buffer_ == nullptr || capacity_ == 0) {
    return;
  }
  const std::size_t length = std::min(message.size(), capacity_ - 1);
  std::memcpy(buffer_, message.data(), length);
  buffer_[length] = '\0';
  if (size_ != nullptr) {
    *size_ = reinterpret_cast<void*>(length + 1);
  }
}

unsigned max_registers(
    unsigned count,
    const CUjit_option* options,
    void* const* values) {
  runtime::require(count == 0 || (options != nullptr && values != nullptr));
  unsigned most = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_MAX_REGISTERS) {
      most = number(values[i]);
    }
  }
  return most;
}

} // namespace accelerator::driver
