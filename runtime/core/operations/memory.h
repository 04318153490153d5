// Memory: allocating, freeing, use by other processes. Each function is what
// the ones of that name in CUDA's runtime and driver do; it throws a Failure
// with the status that they answer.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace accelerator::runtime::operations {

void mem_alloc(void** memory, size_t bytes);
void mem_alloc_pitch(void** memory, size_t* pitch, size_t width, size_t height);
void mem_free(void* memory);
void mem_host_alloc(void** memory, size_t bytes, unsigned flags);
void mem_alloc_host(void** memory, size_t bytes);
void mem_free_host(void* memory);
void mem_alloc_managed(void** memory, size_t bytes, unsigned flags);
void mem_host_register(void* memory, size_t bytes, unsigned flags);
void mem_host_unregister(void* memory);
void mem_host_get_device_pointer(void** device, void* host, unsigned flags);
void mem_host_get_flags(unsigned* flags, void* host);
void mem_get_info(size_t* available, size_t* total);
void ipc_get_mem_handle(cudaIpcMemHandle_t* handle, void* memory);
void ipc_open_mem_handle(void** memory, cudaIpcMemHandle_t handle, unsigned);
void ipc_close_mem_handle(void* memory);

} // namespace accelerator::runtime::operations
