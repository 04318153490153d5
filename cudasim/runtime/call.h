// What the functions of the runtime have in common.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cudasim/device/machine/machine.h"
#include "cudasim/device/machine/thread_state.h"
#include "cudasim/device/status/guarded.h"
#include "cudasim/device/tracing/tracing.h"

namespace cudasim::runtime {

/// Runs the body of a function: its outcome is returned, and remembered for
/// cudaGetLastError unless it is a success.
/// @param function its name, for profilers: that of the caller.
template <typename Body>
cudaError_t call(
    Body&& body,
    const char* function = __builtin_FUNCTION()) noexcept {
  device::tracing::Call traced(device::tracing::Interface::kRuntime, function);
  const cudaError_t status = device::guarded(std::forward<Body>(body));
  traced.set_result(status);
  if (status != cudaSuccess) {
    device::thread_state().last_error = status;
  }
  return status;
}

/// Stores a result where the caller wants it.
/// @throws device::Failure: cudaErrorInvalidValue for a null pointer.
template <typename T, typename Value>
void store(T* place, Value&& value) {
  device::require(place != nullptr);
  *place = std::forward<Value>(value);
}

} // namespace cudasim::runtime
