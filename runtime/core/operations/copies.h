// Copies, at once or in a stream. Each function is what the ones of that name
// in CUDA's runtime and driver do; it throws a Failure with the status that
// they answer.
#pragma once

#include <driver_types.h>

#include <cstddef>

#include "runtime/core/memory/copy.h"

namespace accelerator::runtime::operations {

/// Puts a copy into a stream and, with pageable memory or when asked to, waits.
void copy(cudaStream_t handle, CopyWork work, bool wait);

/// Puts a fill into a stream and, when asked to, waits where CUDA does: for
/// memory of the host.
void fill(cudaStream_t handle, const FillWork& work, bool wait);

void mem_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
void mem_copy_async(
    void* to,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind,
    cudaStream_t stream);
void mem_copy_2d_async(
    void* to,
    size_t to_pitch,
    const void* from,
    size_t from_pitch,
    size_t width,
    size_t height,
    cudaMemcpyKind kind,
    cudaStream_t stream);
void mem_copy_peer(
    void* to,
    int to_device,
    const void* from,
    int from_device,
    size_t bytes);
void mem_copy_peer_async(
    void* to,
    int to_device,
    const void* from,
    int from_device,
    size_t bytes,
    cudaStream_t stream);

} // namespace accelerator::runtime::operations
