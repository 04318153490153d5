// Streams, capture of streams, and host functions in them.
// Source: CUDA runtime API, stream management.
#include "runtime/api/cudart/call.h"
#include "runtime/api/cudart/versions.h"
#include "runtime/core/operations/streams.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;
using accelerator::cudart::perform;

API_FUNCTION(2, cudaStreamCreateWithFlags, stream_create_with_flags)
API_FUNCTION(3, cudaStreamCreateWithPriority, stream_create_with_priority)
API_FUNCTION(1, cudaStreamDestroy, stream_destroy)
API_FUNCTION(1, cudaStreamSynchronize, stream_synchronize)
API_FUNCTION(1, cudaStreamQuery, stream_query)
API_FUNCTION(3, cudaStreamWaitEvent, stream_wait_event)
API_FUNCTION(4, cudaStreamAddCallback, stream_add_callback)
API_FUNCTION(3, cudaLaunchHostFunc, launch_host_func)
API_FUNCTION(2, cudaStreamGetPriority, stream_get_priority)
API_FUNCTION(2, cudaStreamGetFlags, stream_get_flags)
API_FUNCTION(2, cudaStreamGetId, stream_get_id)
API_FUNCTION(3, cudaStreamGetAttribute, stream_get_attribute)
API_FUNCTION(3, cudaStreamSetAttribute, stream_set_attribute)
API_FUNCTION(2, cudaStreamCopyAttributes, stream_copy_attributes)
API_FUNCTION(2, cudaStreamBeginCapture, stream_begin_capture)
API_FUNCTION(2, cudaStreamEndCapture, stream_end_capture)
API_FUNCTION(2, cudaStreamIsCapturing, stream_is_capturing)
#if CUDART_VERSION >= 13000
API_FUNCTION(2, cudaStreamGetDevice, stream_get_device)
API_FUNCTION(7, cudaStreamGetCaptureInfo, stream_get_capture_info_v3)
#else
API_FUNCTION(6, cudaStreamGetCaptureInfo_v2, stream_get_capture_info_v2)
API_FUNCTION(7, cudaStreamGetCaptureInfo_v3, stream_get_capture_info_v3)
#endif
API_FUNCTION(6, cudaStreamBeginCaptureToGraph, stream_begin_capture_to_graph)
API_FUNCTION(
    5,
    ACCEL_SECOND(cudaStreamUpdateCaptureDependencies),
    stream_update_capture_dependencies)
API_FUNCTION(
    1,
    cudaThreadExchangeStreamCaptureMode,
    thread_exchange_stream_capture_mode)

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

#if CUDART_VERSION < 13000
cudaError_t cudaStreamUpdateCaptureDependencies(
    cudaStream_t stream,
    cudaGraphNode_t* dependencies,
    size_t count,
    unsigned flags) {
  return call([&] {
    stream_update_capture_dependencies(
        stream, dependencies, nullptr, count, flags);
  });
}
#endif

} // extern "C"
