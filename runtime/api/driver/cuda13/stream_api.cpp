// Streams and events, in the forms that CUDA 13 adds.
// Source: CUDA driver API, stream and event management.
#include "runtime/api/driver/perform.h"
#include "runtime/core/operations/events.h"
#include "runtime/core/operations/streams.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::perform;

API_FUNCTION(2, cuStreamGetDevice, stream_get_device)
API_FUNCTION(3, cuEventElapsedTime, event_elapsed_time)

extern "C" {

/// How the device waits for the host's tasks, CUDA decides as well.
CUresult cuLaunchHostFunc_v2(
    CUstream stream,
    CUhostFn function,
    void* data,
    unsigned mode) {
  return call([&] {
    require(mode == CU_HOST_TASK_BLOCKING || mode == CU_HOST_TASK_SPINWAIT);
    launch_host_func(stream, function, data);
  });
}

/// No stream is of a part of a device.
CUresult cuStreamGetCtx_v2(
    CUstream stream,
    CUcontext* context,
    CUgreenCtx* green) {
  return call([&] {
    require(context != nullptr && green != nullptr);
    *context = reinterpret_cast<CUcontext>(&resolve_stream(stream)->device());
    *green = nullptr;
  });
}

} // extern "C"

PER_THREAD(2, cuStreamGetDevice, _ptsz)
PER_THREAD(4, cuLaunchHostFunc_v2, _ptsz)
PER_THREAD(3, cuStreamGetCtx_v2, _ptsz)
