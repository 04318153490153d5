#include "device/nvidia/driver/error.h"

#include <atomic>

namespace accelerator::nvidia {
namespace {

constexpr std::pair<CUresult, accel_status> kStatuses[] = {
    {CUDA_SUCCESS, ACCEL_OK},
    {CUDA_ERROR_NOT_READY, ACCEL_NOT_READY},
    {CUDA_ERROR_INVALID_VALUE, ACCEL_INVALID_ARGUMENT},
    {CUDA_ERROR_INVALID_HANDLE, ACCEL_INVALID_ARGUMENT},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, ACCEL_INVALID_ARGUMENT},
    {CUDA_ERROR_OUT_OF_MEMORY, ACCEL_OUT_OF_MEMORY},
    {CUDA_ERROR_NOT_SUPPORTED, ACCEL_NOT_SUPPORTED},
    {CUDA_ERROR_NO_DEVICE, ACCEL_NO_DEVICE},
    {CUDA_ERROR_INVALID_DEVICE, ACCEL_NO_DEVICE},
    {CUDA_ERROR_NOT_FOUND, ACCEL_NOT_FOUND},
    {CUDA_ERROR_INVALID_IMAGE, ACCEL_INVALID_IMAGE},
    {CUDA_ERROR_INVALID_PTX, ACCEL_INVALID_CODE},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, ACCEL_INVALID_CODE},
    {CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, ACCEL_INVALID_CODE},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, ACCEL_NO_IMAGE_FOR_DEVICE},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, ACCEL_ALREADY},
    {CUDA_ERROR_MAP_FAILED, ACCEL_OTHER_ENDED},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, ACCEL_DEVICE_LOST},
    {CUDA_ERROR_ECC_UNCORRECTABLE, ACCEL_DEVICE_LOST},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, ACCEL_DEVICE_LOST},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, ACCEL_DEVICE_LOST},
    {CUDA_ERROR_ILLEGAL_ADDRESS, ACCEL_ILLEGAL_ADDRESS},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, ACCEL_ILLEGAL_ADDRESS},
    {CUDA_ERROR_MISALIGNED_ADDRESS, ACCEL_MISALIGNED_ADDRESS},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, ACCEL_ILLEGAL_INSTRUCTION},
    {CUDA_ERROR_INVALID_PC, ACCEL_ILLEGAL_INSTRUCTION},
    {CUDA_ERROR_ASSERT, ACCEL_ASSERT},
    {CUDA_ERROR_LAUNCH_FAILED, ACCEL_LAUNCH_FAILURE},
    {CUDA_ERROR_LAUNCH_TIMEOUT, ACCEL_LAUNCH_TIMEOUT},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, ACCEL_STACK_OVERFLOW},
};

std::atomic<int> faults[kMostDevices]; // none

// The device that the thread's function is about; -1: none.
thread_local int concerned = -1;

} // namespace

accel_status status_of(CUresult result) {
  for (const auto& [of_driver, of_api] : kStatuses) {
    if (of_driver == result) {
      return of_api;
    }
  }
  return ACCEL_UNKNOWN;
}

void check(CUresult result, const char* function) {
  if (result == CUDA_SUCCESS) {
    return;
  }
  const char* name = nullptr;
  const char* text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  throw Error(
      status_of(result),
      std::string(function) + " answers " +
          (name != nullptr ? name : std::to_string(result).c_str()) + " (" +
          (text != nullptr ? text : "no text") + ")");
}

accel_status known_fault(int device) noexcept {
  return static_cast<accel_status>(faults[device].load());
}

void note_fault(int device, accel_status fault) noexcept {
  int none = ACCEL_OK;
  faults[device].compare_exchange_strong(none, fault);
}

void concern(int device) noexcept {
  concerned = device;
}

std::string& last_error() noexcept {
  thread_local std::string message = "nvidia: no error";
  return message;
}

void begin() noexcept {
  concerned = -1;
}

accel_status fail(
    accel_status status,
    const char* function,
    const char* message) noexcept {
  if (concerned >= 0 && ACCEL_IS_FAULT(status)) {
    note_fault(concerned, status);
  }
  try {
    last_error() = std::string("nvidia: ") + function + ": " +
        (concerned < 0 ? "" : "device " + std::to_string(concerned) + ": ") +
        message;
  } catch (const std::bad_alloc&) {
    last_error().clear();
  }
  return status;
}

} // namespace accelerator::nvidia
