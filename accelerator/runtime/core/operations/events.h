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
void event_query(cudaEvent_t handle);
void event_synchronize(cudaEvent_t handle);
void event_elapsed_time(
    float* milliseconds,
    cudaEvent_t start,
    cudaEvent_t end);

} // namespace accelerator::runtime::operations
