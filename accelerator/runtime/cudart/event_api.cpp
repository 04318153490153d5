// Events. Source: CUDA runtime API, event management.
#include <memory>

#include "accelerator/runtime/core/ipc/shared_event.h"
#include "accelerator/runtime/core/operations/events.h"
#include "accelerator/runtime/core/streams/event.h"
#include "accelerator/runtime/cudart/call.h"

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

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaIpcGetEventHandle(
    cudaIpcEventHandle_t* handle,
    cudaEvent_t event) {
  return call([&] {
    store(handle, export_event(machine().events().get(event)->shared()));
  });
}

cudaError_t cudaIpcOpenEventHandle(
    cudaEvent_t* event,
    cudaIpcEventHandle_t handle) {
  return call([&] {
    Device& device = current_device();
    auto made =
        std::make_shared<Event>(device, device.slot(), import_event(handle));
    store(
        event,
        reinterpret_cast<cudaEvent_t>(machine().events().add(std::move(made))));
  });
}

} // extern "C"
