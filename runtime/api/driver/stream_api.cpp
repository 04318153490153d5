// Streams and events: the same objects as the runtime's.
// Source: CUDA driver API, stream and event management.
#include <chrono>
#include <cstdint>
#include <thread>

#include "runtime/api/driver/perform.h"
#include "runtime/core/graphs/capture.h"
#include "runtime/core/machine/contexts.h"
#include "runtime/core/operations/events.h"
#include "runtime/core/operations/streams.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::perform;

namespace {

bool is_there(CUdeviceptr address) {
  const auto piece = machine().addresses().find(address);
  return piece && address + sizeof(cuuint32_t) <= piece->end;
}

// Looks again and again, as the device does.
Status wait_for_value(CUdeviceptr address, cuuint32_t value, unsigned flags) {
  const auto reached = [&] {
    const cuuint32_t found = __atomic_load_n(
        reinterpret_cast<const cuuint32_t*>(address), __ATOMIC_ACQUIRE);
    switch (flags) {
      case CU_STREAM_WAIT_VALUE_GEQ:
        return static_cast<std::int32_t>(found - value) >= 0;
      case CU_STREAM_WAIT_VALUE_EQ:
        return found == value;
      case CU_STREAM_WAIT_VALUE_AND:
        return (found & value) != 0;
      default: // CU_STREAM_WAIT_VALUE_NOR
        return ~(found | value) != 0;
    }
  };
  while (is_there(address)) {
    if (reached()) {
      return cudaSuccess;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return cudaErrorIllegalAddress;
}

} // namespace

API_FUNCTION(2, cuStreamCreate, stream_create_with_flags)
API_FUNCTION(3, cuStreamCreateWithPriority, stream_create_with_priority)
API_FUNCTION(1, cuStreamDestroy, stream_destroy)
API_FUNCTION(1, cuStreamSynchronize, stream_synchronize)
API_FUNCTION(1, cuStreamQuery, stream_query)
API_FUNCTION(3, cuStreamWaitEvent, stream_wait_event)
API_FUNCTION(4, cuStreamAddCallback, stream_add_callback)
API_FUNCTION(3, cuLaunchHostFunc, launch_host_func)
API_FUNCTION(2, cuStreamGetPriority, stream_get_priority)
API_FUNCTION(2, cuStreamGetFlags, stream_get_flags)
API_FUNCTION(2, cuStreamGetId, stream_get_id)
API_FUNCTION(3, cuStreamGetAttribute, stream_get_attribute)
API_FUNCTION(3, cuStreamSetAttribute, stream_set_attribute)
API_FUNCTION(2, cuStreamCopyAttributes, stream_copy_attributes)
API_FUNCTION(2, cuStreamBeginCapture, stream_begin_capture)
API_FUNCTION(2, cuStreamEndCapture, stream_end_capture)
API_FUNCTION(2, cuStreamIsCapturing, stream_is_capturing)
API_FUNCTION(6, cuStreamGetCaptureInfo, stream_get_capture_info_v2)
API_FUNCTION(
    1,
    cuThreadExchangeStreamCaptureMode,
    thread_exchange_stream_capture_mode)

API_FUNCTION(2, cuEventCreate, event_create_with_flags)
API_FUNCTION(1, cuEventDestroy, event_destroy)
API_FUNCTION(2, cuEventRecord, event_record)
API_FUNCTION(3, cuEventRecordWithFlags, event_record_with_flags)
API_FUNCTION(1, cuEventQuery, event_query)
API_FUNCTION(1, cuEventSynchronize, event_synchronize)
API_FUNCTION(3, cuEventElapsedTime, event_elapsed_time)
API_FUNCTION(2, cuIpcGetEventHandle, ipc_get_event_handle)
API_FUNCTION(2, cuIpcOpenEventHandle, ipc_open_event_handle)

extern "C" {

CUresult cuStreamWaitValue32(
    CUstream stream,
    CUdeviceptr address,
    cuuint32_t value,
    unsigned flags) {
  return call([&] {
    require(address % sizeof(value) == 0 && is_there(address));
    require((flags & ~3u) == 0);
    const auto where = resolve_stream(stream);
    require_not_capturing(*where);
    where->enqueue(
        [address, value, flags] {
          return wait_for_value(address, value, flags);
        },
        false);
  });
}

CUresult cuStreamGetCaptureInfo_v3(
    CUstream stream,
    CUstreamCaptureStatus* status,
    cuuint64_t* id,
    CUgraph* graph,
    const CUgraphNode** dependencies,
    const CUgraphEdgeData** edges,
    size_t* count) {
  static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
  return call([&] {
    const cudaGraphEdgeData* of_edges = nullptr;
    stream_get_capture_info_v3(
        stream,
        reinterpret_cast<cudaStreamCaptureStatus*>(status),
        reinterpret_cast<unsigned long long*>(id),
        graph,
        dependencies,
        edges != nullptr ? &of_edges : nullptr,
        count);
    if (edges != nullptr) {
      *edges = reinterpret_cast<const CUgraphEdgeData*>(of_edges);
    }
  });
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return call([&] {
    const auto resolved = resolve_stream(stream);
    void* const own = resolved.get() == static_cast<void*>(stream)
        ? contexts().of(Contexts::Kind::kStream, stream)
        : thread_state().context; // a default stream
    store(
        context,
        static_cast<CUcontext>(own != nullptr ? own : &resolved->device()));
  });
}

} // extern "C"
