// What the functions of the driver have in common.
#pragma once

#include <cuda.h>

#include <utility>

#include "runtime/core/machine/machine.h"
#include "runtime/core/machine/thread_state.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/tracing/tracing.h"

namespace accelerator::driver {

/// The driver's number of a status: those that only the runtime has become the
/// one that the driver answers in that case.
CUresult result_of(runtime::Status status) noexcept;

/// Runs the body of a function that may come before cuInit.
/// @param function its name, for profilers: that of the caller.
template <typename Body>
CUresult call_before_init(
    Body&& body,
    const char* function = __builtin_FUNCTION()) noexcept {
  runtime::tracing::Call traced(runtime::tracing::Interface::kDriver, function);
  const CUresult result = result_of(runtime::guarded(std::forward<Body>(body)));
  traced.set_result(result);
  return result;
}

/// Runs the body of any other function: CUDA_ERROR_NOT_INITIALIZED before
/// cuInit, which the first use of the runtime calls too.
template <typename Body>
CUresult call(
    Body&& body,
    const char* function = __builtin_FUNCTION()) noexcept {
  if (!runtime::machine_exists()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  return call_before_init(std::forward<Body>(body), function);
}

/// The calling thread's device, which has to have been made current.
/// @throws runtime::Failure: CUDA_ERROR_INVALID_CONTEXT, or the device's fault.
runtime::Device& current_context();

/// The device that a context stands for.
/// @throws runtime::Failure: CUDA_ERROR_INVALID_CONTEXT.
runtime::Device& resolve_context(CUcontext context);

inline void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

} // namespace accelerator::driver
