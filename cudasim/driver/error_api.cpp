// Errors. Source: CUDA driver API, error handling.
#include "cudasim/device/status/status_texts.h"
#include "cudasim/driver/call.h"

namespace cudasim::driver {

CUresult result_of(device::Status status) noexcept {
  switch (status) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_NOT_FOUND;
    default:
      return static_cast<CUresult>(status);
  }
}

device::Device& current_context() {
  device::machine();
  device::require(device::thread_state().bound, cudaErrorDeviceUninitialized);
  return device::current_device();
}

} // namespace cudasim::driver

using cudasim::device::status_text;

extern "C" {

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto* known = status_text(error);
  *text = known != nullptr && known->driver_name != nullptr ? known->message
                                                            : nullptr;
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto* known = status_text(error);
  *name = known != nullptr ? known->driver_name : nullptr;
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // extern "C"
