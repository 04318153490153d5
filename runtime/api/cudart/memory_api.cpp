// Memory of devices and of the host: allocating, freeing, asking about it.
// Source: CUDA runtime API, memory management and unified addressing.
#include "runtime/api/cudart/call.h"
#include "runtime/api/cudart/versions.h"
#include "runtime/core/operations/memory.h"
#include "runtime/core/operations/memory/managed.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;
using accelerator::cudart::InContext;
using accelerator::cudart::perform;

API_FUNCTION(2, cudaMalloc, mem_alloc)
API_FUNCTION(4, cudaMallocPitch, mem_alloc_pitch)
API_FUNCTION(1, cudaFree, mem_free)
API_FUNCTION(3, cudaHostAlloc, InContext{mem_host_alloc})
API_FUNCTION(2, cudaMallocHost, InContext{mem_alloc_host})
API_FUNCTION(1, cudaFreeHost, InContext{mem_free_host})
API_FUNCTION(3, cudaMallocManaged, mem_alloc_managed)
API_FUNCTION(3, cudaHostRegister, mem_host_register)
API_FUNCTION(1, cudaHostUnregister, mem_host_unregister)
API_FUNCTION(
    3,
    cudaHostGetDevicePointer,
    InContext{mem_host_get_device_pointer})
API_FUNCTION(2, cudaHostGetFlags, InContext{mem_host_get_flags})
API_FUNCTION(2, cudaMemGetInfo, mem_get_info)
API_FUNCTION(2, cudaIpcGetMemHandle, ipc_get_mem_handle)
API_FUNCTION(3, cudaIpcOpenMemHandle, ipc_open_mem_handle)
API_FUNCTION(1, cudaIpcCloseMemHandle, ipc_close_mem_handle)
API_FUNCTION(4, ACCEL_SECOND(cudaMemAdvise), mem_advise)
API_FUNCTION(5, ACCEL_SECOND(cudaMemPrefetchAsync), mem_prefetch_async)
API_FUNCTION(5, cudaMemRangeGetAttribute, mem_range_get_attribute)
API_FUNCTION(6, cudaMemRangeGetAttributes, mem_range_get_attributes)
API_FUNCTION(4, cudaStreamAttachMemAsync, stream_attach_mem_async)

extern "C" {

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  return call([&] {
    require(memory != nullptr);
    std::size_t rows = 0;
    require(
        !__builtin_mul_overflow(extent.height, extent.depth, &rows),
        cudaErrorMemoryAllocation);
    std::size_t pitch = 0;
    void* begin = nullptr;
    const cudaError_t status =
        cudaMallocPitch(&begin, &pitch, extent.width, rows);
    require(status == cudaSuccess, status);
    *memory = {begin, pitch, extent.width, extent.height};
  });
}

cudaError_t cudaPointerGetAttributes(
    cudaPointerAttributes* attributes,
    const void* pointer) {
  return call([&] {
    require(attributes != nullptr);
    const Device& device = current_device();
    *attributes = {};
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = -2; // cudaInvalidDeviceId
    attributes->hostPointer = const_cast<void*>(pointer);
    const auto piece = machine().addresses().find(address_of(pointer));
    if (!piece) {
      return;
    }
    attributes->device = piece->device;
    // Null where the current device may not use the memory.
    attributes->devicePointer =
        machine().addresses().visible(*piece, device.ordinal())
        ? const_cast<void*>(pointer)
        : nullptr;
    switch (piece->space) {
      case Space::kHost:
      case Space::kRegistered:
        attributes->type = cudaMemoryTypeHost;
        return;
      case Space::kManaged:
        attributes->type = cudaMemoryTypeManaged;
        return;
      default:
        attributes->type = cudaMemoryTypeDevice;
        attributes->hostPointer = nullptr;
    }
  });
}

#if CUDART_VERSION < 13000
cudaError_t cudaMemAdvise(
    const void* memory,
    size_t bytes,
    cudaMemoryAdvise advice,
    int device) {
  return call([&] { mem_advise(memory, bytes, advice, location_of(device)); });
}

cudaError_t cudaMemPrefetchAsync(
    const void* memory,
    size_t bytes,
    int device,
    cudaStream_t stream) {
  return call([&] {
    mem_prefetch_async(memory, bytes, location_of(device), 0, stream);
  });
}
#endif

} // extern "C"
