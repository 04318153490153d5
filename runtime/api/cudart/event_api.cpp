// Events. Source: CUDA runtime API, event management.
#include "runtime/api/cudart/call.h"
#include "runtime/core/operations/events.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;
using accelerator::cudart::perform;

API_FUNCTION(2, cudaEventCreateWithFlags, event_create_with_flags)
API_FUNCTION(1, cudaEventDestroy, event_destroy)
API_FUNCTION(2, cudaEventRecord, event_record)
API_FUNCTION(3, cudaEventRecordWithFlags, event_record_with_flags)
API_FUNCTION(1, cudaEventQuery, event_query)
API_FUNCTION(1, cudaEventSynchronize, event_synchronize)
API_FUNCTION(3, cudaEventElapsedTime, event_elapsed_time)
API_FUNCTION(2, cudaIpcGetEventHandle, ipc_get_event_handle)
API_FUNCTION(2, cudaIpcOpenEventHandle, ipc_open_event_handle)

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

} // extern "C"
