// Driver functions that are runtime functions under another name. Streams,
// events, graphs and addresses are the same in both.
#pragma once

#include "cudasim/device/machine/thread_state.h"
#include "cudasim/driver/call.h"

namespace cudasim::driver {

/// Calls a function of the runtime without leaving a trace in what
/// cudaGetLastError answers.
template <typename Function, typename... Arguments>
CUresult runtime(Function function, Arguments... arguments) {
  if (!device::machine_exists()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  const device::Status before = device::thread_state().last_error;
  const device::Status status = function(arguments...);
  device::thread_state().last_error = before;
  return result_of(status);
}

} // namespace cudasim::driver
