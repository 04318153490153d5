// Managed memory: what programs say of it. Each function is what the ones of
// that name in CUDA's runtime and driver do; it throws a Failure with the
// status that they answer.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace accelerator::runtime::operations {

/// A location as it was named before CUDA 12.2.
/// @param device or cudaCpuDeviceId.
cudaMemLocation location_of(int device);

void mem_advise(
    const void* memory,
    size_t bytes,
    cudaMemoryAdvise advice,
    cudaMemLocation location);
void mem_prefetch_async(
    const void* memory,
    size_t bytes,
    cudaMemLocation location,
    unsigned flags,
    cudaStream_t stream);
void mem_range_get_attribute(
    void* data,
    size_t size,
    cudaMemRangeAttribute attribute,
    const void* memory,
    size_t bytes);
void mem_range_get_attributes(
    void** data,
    size_t* sizes,
    cudaMemRangeAttribute* attributes,
    size_t count,
    const void* memory,
    size_t bytes);
void stream_attach_mem_async(
    cudaStream_t stream,
    void* memory,
    size_t bytes,
    unsigned flags);

} // namespace accelerator::runtime::operations
