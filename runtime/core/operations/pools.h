// Memory pools and allocation in the order of a stream. Each function is what
// the ones of that name in CUDA's runtime and driver do; it throws a Failure
// with the status that they answer.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace accelerator::runtime::operations {

void mem_alloc_async(void** memory, size_t bytes, cudaStream_t handle);
void mem_alloc_from_pool_async(
    void** memory,
    size_t bytes,
    cudaMemPool_t pool,
    cudaStream_t stream);
void mem_free_async(void* memory, cudaStream_t handle);
void device_get_default_mem_pool(cudaMemPool_t* pool, int device);
void device_get_mem_pool(cudaMemPool_t* pool, int device);
void device_set_mem_pool(int device, cudaMemPool_t pool);
/// Of a place: devices have pools of pinned memory, all places of managed
/// memory.
void mem_get_default_mem_pool(
    cudaMemPool_t* pool,
    cudaMemLocation* location,
    cudaMemAllocationType type);
void mem_get_mem_pool(
    cudaMemPool_t* pool,
    cudaMemLocation* location,
    cudaMemAllocationType type);
void mem_set_mem_pool(
    cudaMemLocation* location,
    cudaMemAllocationType type,
    cudaMemPool_t pool);
void mem_pool_create(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
void mem_pool_destroy(cudaMemPool_t handle);
void mem_pool_export_to_shareable_handle(
    void* shareable,
    cudaMemPool_t pool,
    cudaMemAllocationHandleType type,
    unsigned flags);
void mem_pool_import_from_shareable_handle(
    cudaMemPool_t* pool,
    void* shareable,
    cudaMemAllocationHandleType type,
    unsigned flags);
void mem_pool_export_pointer(cudaMemPoolPtrExportData* data, void* memory);
void mem_pool_import_pointer(
    void** memory,
    cudaMemPool_t pool,
    cudaMemPoolPtrExportData* data);
void mem_pool_trim_to(cudaMemPool_t pool, size_t);
void mem_pool_get_attribute(
    cudaMemPool_t pool,
    cudaMemPoolAttr attribute,
    void* value);
void mem_pool_set_attribute(
    cudaMemPool_t pool,
    cudaMemPoolAttr attribute,
    void* value);
void mem_pool_set_access(
    cudaMemPool_t pool,
    const cudaMemAccessDesc* list,
    size_t count);
void mem_pool_get_access(
    cudaMemAccessFlags* flags,
    cudaMemPool_t pool,
    cudaMemLocation* location);
void device_get_graph_mem_attribute(
    int device,
    cudaGraphMemAttributeType attribute,
    void* value);
void device_set_graph_mem_attribute(
    int device,
    cudaGraphMemAttributeType attribute,
    void* value);
void device_graph_mem_trim(int device);

} // namespace accelerator::runtime::operations
