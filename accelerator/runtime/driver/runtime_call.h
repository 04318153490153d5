// Driver functions that are runtime functions under another name. Streams,
// events, graphs and addresses are the same in both.
#pragma once

#include "accelerator/runtime/core/machine/thread_state.h"
#include "accelerator/runtime/driver/call.h"

namespace accelerator::driver {

/// A function of the driver that calls one of the runtime's.
class RuntimeCall {
 public:
  explicit RuntimeCall(const char* name) : name_(name) {}

  /// Calls a function of the runtime without leaving a trace in what
  /// cudaGetLastError answers.
  template <typename Function, typename... Arguments>
  CUresult operator()(Function function, Arguments... arguments) const {
    if (!runtime::machine_exists()) {
      return CUDA_ERROR_NOT_INITIALIZED;
    }
    runtime::tracing::Call traced(runtime::tracing::Interface::kDriver, name_);
    const runtime::Status before = runtime::thread_state().last_error;
    const runtime::Status status = function(arguments...);
    runtime::thread_state().last_error = before;
    const CUresult result = result_of(status);
    traced.set_result(result);
    return result;
  }

 private:
  const char* name_;
};

/// What `runtime()(cudaFunction, arguments…)` is written with.
/// @param function the driver's, for profilers: that of the caller.
inline RuntimeCall runtime(const char* function = __builtin_FUNCTION()) {
  return RuntimeCall(function);
}

} // namespace accelerator::driver
