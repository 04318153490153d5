// Errors. Source: CUDA driver API, error handling.
#include "runtime/api/driver/call.h"
#include "runtime/core/status/status_texts.h"

namespace accelerator::driver {

CUresult result_of(runtime::Status status) noexcept {
  switch (status) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidFilterSetting:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_NOT_FOUND;
    default:
      return static_cast<CUresult>(status);
  }
}

runtime::Device& current_context() {
  runtime::machine();
  runtime::require(runtime::thread_state().bound, cudaErrorDeviceUninitialized);
  return runtime::current_device();
}

} // namespace accelerator::driver

using accelerator::runtime::status_text;

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
