// Memory of devices and of the host: allocating, freeing, asking about it.
// Source: CUDA runtime API, memory management and unified addressing.
#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/operations/memory.h"
#include "accelerator/runtime/cudart/call.h"
#include "accelerator/runtime/cudart/versions.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;
using accelerator::cudart::perform;

namespace {

constexpr std::size_t kPitch = 512; // bytes, as on compute capability 8.0

void* allocate(std::size_t bytes) {
  return reinterpret_cast<void*>(current_device().memory().allocate(bytes));
}

void require_place(int device) {
  if (device != cudaCpuDeviceId) {
    machine().device(device);
  }
}

// The device of a location, or cudaCpuDeviceId.
int place_of(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeDevice) {
    return location.id;
  }
  require(
      location.type >= cudaMemLocationTypeHost &&
      location.type <= cudaMemLocationTypeHostNumaCurrent);
  return cudaCpuDeviceId;
}

void require_managed(const void* memory, std::size_t bytes) {
  const auto piece = machine().addresses().find(address_of(memory));
  require(
      piece && piece->space == Space::kManaged &&
      bytes <= piece->end - address_of(memory));
}

// All memory is the host's: advice and prefetching have nothing to move.
void advise(
    const void* memory,
    std::size_t bytes,
    cudaMemoryAdvise advice,
    int device) {
  current_device();
  require(
      advice >= cudaMemAdviseSetReadMostly &&
      advice <= cudaMemAdviseUnsetAccessedBy);
  const bool placeless = advice == cudaMemAdviseSetReadMostly ||
      advice == cudaMemAdviseUnsetReadMostly ||
      advice == cudaMemAdviseUnsetPreferredLocation;
  if (!placeless) {
    require_place(device);
  }
  require_managed(memory, bytes);
}

void prefetch(
    const void* memory,
    std::size_t bytes,
    int device,
    cudaStream_t stream) {
  resolve_stream(stream);
  require_place(device);
  require_managed(memory, bytes);
}

} // namespace

API_FUNCTION(2, cudaMalloc, mem_alloc)
API_FUNCTION(1, cudaFree, mem_free)
API_FUNCTION(3, cudaHostAlloc, mem_host_alloc)
API_FUNCTION(2, cudaMallocHost, mem_alloc_host)
API_FUNCTION(1, cudaFreeHost, mem_free_host)
API_FUNCTION(3, cudaMallocManaged, mem_alloc_managed)
API_FUNCTION(3, cudaHostRegister, mem_host_register)
API_FUNCTION(1, cudaHostUnregister, mem_host_unregister)
API_FUNCTION(3, cudaHostGetDevicePointer, mem_host_get_device_pointer)
API_FUNCTION(2, cudaMemGetInfo, mem_get_info)
API_FUNCTION(2, cudaIpcGetMemHandle, ipc_get_mem_handle)
API_FUNCTION(3, cudaIpcOpenMemHandle, ipc_open_mem_handle)
API_FUNCTION(1, cudaIpcCloseMemHandle, ipc_close_mem_handle)

extern "C" {

cudaError_t cudaMallocPitch(
    void** memory,
    size_t* pitch,
    size_t width,
    size_t height) {
  return call([&] {
    require_no_unsafe_capture();
    require(memory != nullptr && pitch != nullptr);
    current_device();
    const std::size_t row = (width + kPitch - 1) / kPitch * kPitch;
    std::size_t bytes = 0;
    require(
        row >= width && !__builtin_mul_overflow(row, height, &bytes),
        cudaErrorMemoryAllocation);
    void* const begin = bytes > 0 ? allocate(bytes) : nullptr;
    *pitch = row;
    *memory = begin;
  });
}

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

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&] {
    const auto piece = machine().addresses().find(address_of(host));
    require(piece && piece->on_host());
    // With unified addressing all pinned memory is mapped and portable.
    store(flags, piece->flags | cudaHostAllocPortable | cudaHostAllocMapped);
  });
}

cudaError_t cudaPointerGetAttributes(
    cudaPointerAttributes* attributes,
    const void* pointer) {
  return call([&] {
    require(attributes != nullptr);
    const Device& device = selected_device();
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

cudaError_t ACCEL_SECOND(cudaMemAdvise)(
    const void* memory,
    size_t bytes,
    cudaMemoryAdvise advice,
    cudaMemLocation location) {
  return call([&] { advise(memory, bytes, advice, place_of(location)); });
}

cudaError_t ACCEL_SECOND(cudaMemPrefetchAsync)(
    const void* memory,
    size_t bytes,
    cudaMemLocation location,
    unsigned flags,
    cudaStream_t stream) {
  return call([&] {
    require(flags == 0); // reserved
    prefetch(memory, bytes, place_of(location), stream);
  });
}

#if CUDART_VERSION < 13000
cudaError_t cudaMemAdvise(
    const void* memory,
    size_t bytes,
    cudaMemoryAdvise advice,
    int device) {
  return call([&] { advise(memory, bytes, advice, device); });
}

cudaError_t cudaMemPrefetchAsync(
    const void* memory,
    size_t bytes,
    int device,
    cudaStream_t stream) {
  return call([&] { prefetch(memory, bytes, device, stream); });
}
#endif

cudaError_t cudaStreamAttachMemAsync(
    cudaStream_t stream,
    void* memory,
    size_t,
    unsigned flags) {
  return call([&] {
    resolve_stream(stream);
    require(
        flags == cudaMemAttachGlobal || flags == cudaMemAttachHost ||
        flags == cudaMemAttachSingle);
    const auto piece = machine().addresses().find(address_of(memory));
    require(piece && piece->space == Space::kManaged);
  });
}

} // extern "C"
