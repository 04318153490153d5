// Memory of devices and of the host: allocating, freeing, asking about it.
// Source: CUDA runtime API, memory management and unified addressing.
#include <cstring>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/graphs/graph_memory.h"
#include "accelerator/runtime/core/memory/ipc_memory.h"
#include "accelerator/runtime/core/memory/memory_pool.h"
#include "accelerator/runtime/cudart/call.h"

using namespace accelerator::runtime;
using accelerator::cudart::call;
using accelerator::cudart::store;

namespace {

constexpr std::size_t kPitch = 512; // bytes, as on compute capability 8.0

void* allocate(std::size_t bytes) {
  return reinterpret_cast<void*>(current_device().memory().allocate(bytes));
}

void* allocate_shared(std::size_t bytes, Space space, unsigned flags) {
  require_no_unsafe_capture();
  return allocate_host(
      machine().addresses(),
      bytes,
      space,
      current_device().ordinal(),
      current_device().slot(),
      flags);
}

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
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

} // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  return call([&] {
    require_no_unsafe_capture();
    current_device();
    store(memory, nullptr);
    if (bytes > 0) {
      *memory = allocate(bytes);
    }
  });
}

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

cudaError_t cudaFree(void* memory) {
  return call([&] {
    require_no_unsafe_capture();
    current_device();
    if (memory == nullptr) {
      return;
    }
    const auto piece = machine().addresses().find(address_of(memory));
    require(
        piece && piece->begin == address_of(memory) &&
        (piece->space == Space::kManaged || piece->space == Space::kDevice));
    // Work that was given before may still use it.
    machine().synchronize_users(*piece);
    if (piece->space == Space::kManaged) {
      release_host(machine().addresses(), memory, Space::kManaged);
      return;
    }
    if (free_graph_memory(memory)) {
      return;
    }
    Device& owner = machine().device(piece->device);
    if (const auto pool = pool_of(memory)) {
      pool->release(memory);
    } else {
      require(owner.memory().release(piece->begin));
    }
  });
}

cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned flags) {
  return call([&] {
    require(
        (flags &
         ~(cudaHostAllocPortable | cudaHostAllocMapped |
           cudaHostAllocWriteCombined)) == 0);
    store(memory, nullptr);
    if (bytes > 0) {
      *memory = allocate_shared(bytes, Space::kHost, flags);
    }
  });
}

cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  return cudaHostAlloc(memory, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* memory) {
  return call([&] {
    require_no_unsafe_capture();
    if (memory == nullptr) {
      return;
    }
    const auto piece = machine().addresses().find(address_of(memory));
    require(piece && piece->space == Space::kHost);
    machine().synchronize_users(*piece);
    release_host(machine().addresses(), memory, Space::kHost);
  });
}

cudaError_t cudaMallocManaged(void** memory, size_t bytes, unsigned flags) {
  return call([&] {
    require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost);
    require(bytes > 0);
    store(memory, allocate_shared(bytes, Space::kManaged, flags));
  });
}

cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned flags) {
  return call([&] {
    require_no_unsafe_capture();
    register_host(
        machine().addresses(),
        memory,
        bytes,
        current_device().ordinal(),
        flags);
  });
}

cudaError_t cudaHostUnregister(void* memory) {
  return call([&] {
    require_no_unsafe_capture();
    current_device();
    const auto piece = machine().addresses().find(address_of(memory));
    require(
        piece && piece->space == Space::kRegistered,
        cudaErrorHostMemoryNotRegistered);
    machine().synchronize_users(*piece);
    unregister_host(machine().addresses(), memory);
  });
}

cudaError_t cudaHostGetDevicePointer(
    void** device,
    void* host,
    unsigned flags) {
  return call([&] {
    require(flags == 0);
    const auto piece = machine().addresses().find(address_of(host));
    require(piece && piece->on_host());
    store(device, host);
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

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  return call([&] {
    require(available != nullptr && total != nullptr);
    const Memory::Amount amount = current_device().memory().amount();
    *available = amount.available;
    *total = amount.total;
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

// All memory is the host's: advice and prefetching have nothing to move.
cudaError_t cudaMemAdvise(
    const void* memory,
    size_t bytes,
    cudaMemoryAdvise advice,
    int device) {
  return call([&] {
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
  });
}

cudaError_t cudaMemAdvise_v2(
    const void* memory,
    size_t bytes,
    cudaMemoryAdvise advice,
    cudaMemLocation location) {
  int device = cudaCpuDeviceId;
  const cudaError_t status = call([&] { device = place_of(location); });
  return status != cudaSuccess ? status
                               : cudaMemAdvise(memory, bytes, advice, device);
}

cudaError_t cudaMemPrefetchAsync(
    const void* memory,
    size_t bytes,
    int device,
    cudaStream_t stream) {
  return call([&] {
    resolve_stream(stream);
    require_place(device);
    require_managed(memory, bytes);
  });
}

cudaError_t cudaMemPrefetchAsync_v2(
    const void* memory,
    size_t bytes,
    cudaMemLocation location,
    unsigned flags,
    cudaStream_t stream) {
  int device = cudaCpuDeviceId;
  const cudaError_t status = call([&] {
    require(flags == 0); // reserved
    device = place_of(location);
  });
  return status != cudaSuccess
      ? status
      : cudaMemPrefetchAsync(memory, bytes, device, stream);
}

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

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) {
  return call([&] {
    current_device();
    Device& device = machine().device_of(memory);
    store(handle, export_memory(device.memory(), device.physical(), memory));
  });
}

cudaError_t cudaIpcOpenMemHandle(
    void** memory,
    cudaIpcMemHandle_t handle,
    unsigned) {
  return call([&] {
    require_no_unsafe_capture();
    store(
        memory,
        import_memory(
            machine().addresses(), current_device().ordinal(), handle));
  });
}

cudaError_t cudaIpcCloseMemHandle(void* memory) {
  return call([&] {
    require_no_unsafe_capture();
    current_device();
    const auto piece = machine().addresses().find(address_of(memory));
    require(piece && piece->space == Space::kImported);
    machine().synchronize_users(*piece);
    close_memory(machine().addresses(), memory);
  });
}

} // extern "C"
