// What the functions of the runtime have in common.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "runtime/core/machine/machine.h"
#include "runtime/core/machine/thread_state.h"
#include "runtime/core/operations/api_functions.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/tracing/tracing.h"

namespace accelerator::cudart {

/// Runs the body of a function: its outcome is returned, and remembered for
/// cudaGetLastError unless it is a success.
/// @param function its name, for profilers: that of the caller.
template <typename Body>
cudaError_t call(
    Body&& body,
    const char* function = __builtin_FUNCTION()) noexcept {
  runtime::tracing::Call traced(
      runtime::tracing::Interface::kRuntime, function);
  const cudaError_t status = runtime::guarded(std::forward<Body>(body));
  traced.set_result(status);
  if (status != cudaSuccess) {
    runtime::thread_state().last_error = status;
  }
  return status;
}

/// Carries out an operation that the driver has, too.
template <typename... Parameters, typename... Arguments>
cudaError_t perform(
    const char* function,
    void (*operation)(Parameters...),
    Arguments... arguments) noexcept {
  return call([&] { operation(arguments...); }, function);
}

/// An operation that needs no context, of which CUDA's runtime makes one
/// current all the same.
template <typename... Parameters>
struct InContext {
  void (*operation)(Parameters...);
};
template <typename... Parameters>
InContext(void (*)(Parameters...)) -> InContext<Parameters...>;

template <typename... Parameters, typename... Arguments>
cudaError_t perform(
    const char* function,
    InContext<Parameters...> wanted,
    Arguments... arguments) noexcept {
  return call(
      [&] {
        runtime::current_device();
        wanted.operation(arguments...);
      },
      function);
}

} // namespace accelerator::cudart
