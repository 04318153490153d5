// Events. Each function is what the ones of that name in CUDA's runtime and
// driver do; it throws a Failure with the status that they answer.
#pragma once

#include <driver_types.h>

namespace accelerator::runtime::operations {

void event_create_with_flags(cudaEvent_t* event, unsigned flags);
void event_destroy(cudaEvent_t event);
void event_record(cudaEvent_t event, cudaStream_t stream);
void event_record_with_flags(
    cudaEvent_t handle,
    cudaStream_t stream,
    unsigned flags);
/// Marks what all streams of a device have been given so far
/// (cuCtxRecordEvent).
void device_record_event(int device, cudaEvent_t event);
/// Lets all that a device is given from now on wait for an event
/// (cuCtxWaitEvent).
void device_wait_event(int device, cudaEvent_t event);
void event_query(cudaEvent_t handle);
void event_synchronize(cudaEvent_t handle);
void event_elapsed_time(
    float* milliseconds,
    cudaEvent_t start,
    cudaEvent_t end);

void ipc_get_event_handle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
void ipc_open_event_handle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

} // namespace accelerator::runtime::operations
