// Errors: the last one of a thread, names and descriptions.
// Source: CUDA runtime API, error handling.
#include "runtime/api/cudart/call.h"
#include "runtime/core/status/status_texts.h"

using accelerator::runtime::machine;
using accelerator::runtime::status_text;
using accelerator::runtime::thread_state;

namespace {

// A fault of the device is every call's error until the device is reset.
cudaError_t sticky_error() {
  cudaError_t fault = cudaSuccess;
  accelerator::runtime::guarded([&] {
    const int device = thread_state().device;
    if (device < machine().device_count()) {
      fault = machine().device(device).fault();
    }
  });
  return fault;
}

} // namespace

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t last = thread_state().last_error;
  thread_state().last_error = cudaSuccess;
  const cudaError_t sticky = sticky_error();
  return sticky != cudaSuccess ? sticky : last;
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t sticky = sticky_error();
  return sticky != cudaSuccess ? sticky : thread_state().last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  const auto* text = status_text(error);
  return text != nullptr ? text->runtime_name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const auto* text = status_text(error);
  return text != nullptr ? text->message : "unrecognized error code";
}

} // extern "C"
