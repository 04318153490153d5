// Streams and their capture. Each function is what the ones of that name in
// CUDA's runtime and driver do; it throws a Failure with the status that they
// answer.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace accelerator::runtime::operations {

/// cudaStreamCallback_t and CUstreamCallback, whose statuses have the same
/// numbers.
using StreamCallback =
    void (*)(cudaStream_t stream, cudaError_t status, void* data);

void stream_create_with_flags(cudaStream_t* stream, unsigned flags);
void stream_create_with_priority(
    cudaStream_t* stream,
    unsigned flags,
    int priority);
void stream_destroy(cudaStream_t handle);
void stream_synchronize(cudaStream_t handle);
void stream_query(cudaStream_t handle);
void stream_wait_event(cudaStream_t stream, cudaEvent_t event, unsigned flags);
void stream_add_callback(
    cudaStream_t handle,
    StreamCallback function,
    void* data,
    unsigned flags);
void launch_host_func(cudaStream_t stream, cudaHostFn_t function, void* data);

void stream_get_priority(cudaStream_t stream, int* priority);
void stream_get_flags(cudaStream_t stream, unsigned* flags);
void stream_get_id(cudaStream_t stream, unsigned long long* id);

void stream_get_attribute(
    cudaStream_t stream,
    cudaLaunchAttributeID id,
    cudaLaunchAttributeValue* value);
void stream_set_attribute(
    cudaStream_t stream,
    cudaLaunchAttributeID id,
    const cudaLaunchAttributeValue* value);
void stream_copy_attributes(cudaStream_t to, cudaStream_t from);
void stream_get_device(cudaStream_t stream, int* device);

void stream_begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
/// @param graph may be null: of a capture into a graph the program has it.
void stream_end_capture(cudaStream_t stream, cudaGraph_t* graph);
void stream_is_capturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
void stream_get_capture_info_v2(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    size_t* count);
void stream_get_capture_info_v3(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    const cudaGraphEdgeData** edges,
    size_t* count);
void stream_begin_capture_to_graph(
    cudaStream_t stream,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* edges,
    size_t count,
    cudaStreamCaptureMode mode);
void stream_update_capture_dependencies(
    cudaStream_t stream,
    cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* edges,
    size_t count,
    unsigned flags);
void thread_exchange_stream_capture_mode(cudaStreamCaptureMode* mode);

} // namespace accelerator::runtime::operations
