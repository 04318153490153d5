// Memory: allocating, copying, filling, asking about pointers.
// Source: CUDA driver API, memory management and unified addressing.
#include <cstring>
#include <string>

#include "runtime/api/driver/perform.h"
#include "runtime/core/machine/contexts.h"
#include "runtime/core/memory/memory_pool.h"
#include "runtime/core/memory/virtual_memory.h"
#include "runtime/core/operations/copies.h"
#include "runtime/core/operations/memory.h"
#include "runtime/core/operations/pools.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::current_context;
using accelerator::driver::perform;
using accelerator::driver::pointer;

namespace {

// CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, of CUDA 12.8.
constexpr int kHardwareDecompression = 21;

template <cudaMemcpyKind kKind>
void copy(void* to, const void* from, std::size_t bytes) {
  mem_copy(to, from, bytes, kKind);
}

template <cudaMemcpyKind kKind>
void copy_async(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaStream_t stream) {
  mem_copy_async(to, from, bytes, kKind, stream);
}

// Bytes of the answer to cuPointerGetAttribute.
std::size_t size_of(CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return 8;
    default:
      return 4;
  }
}

// What memory may be exported as: that of cuMemCreate and of pools.
unsigned handle_types(const Allocation& piece) {
  if (piece.space == Space::kMapped) {
    return memory_behind(piece.begin)->handle_types();
  }
  int types = cudaMemHandleTypeNone;
  if (const auto pool = pool_of(pointer(piece.begin))) {
    // cudaMemPoolAttrExportHandleTypes, of CUDA 13's header
    pool->get(static_cast<cudaMemPoolAttr>(10), &types);
  }
  return static_cast<unsigned>(types);
}

} // namespace

API_FUNCTION(1, cuMemFree, mem_free)
API_FUNCTION(2, cuMemAllocHost, mem_alloc_host)
API_FUNCTION(3, cuMemHostAlloc, mem_host_alloc)
API_FUNCTION(1, cuMemFreeHost, mem_free_host)
API_FUNCTION(3, cuMemHostGetDevicePointer, mem_host_get_device_pointer)
API_FUNCTION(3, cuMemHostRegister, mem_host_register)
API_FUNCTION(1, cuMemHostUnregister, mem_host_unregister)
API_FUNCTION(3, cuMemAllocManaged, mem_alloc_managed)
API_FUNCTION(2, cuMemHostGetFlags, mem_host_get_flags)
API_FUNCTION(2, cuMemGetInfo, mem_get_info)
API_FUNCTION(2, cuIpcGetMemHandle, ipc_get_mem_handle)
API_FUNCTION(3, cuIpcOpenMemHandle, ipc_open_mem_handle)
API_FUNCTION(1, cuIpcCloseMemHandle, ipc_close_mem_handle)

API_FUNCTION(3, cuMemcpy, copy<cudaMemcpyDefault>)
API_FUNCTION(3, cuMemcpyHtoD, copy<cudaMemcpyHostToDevice>)
API_FUNCTION(3, cuMemcpyDtoH, copy<cudaMemcpyDeviceToHost>)
API_FUNCTION(3, cuMemcpyDtoD, copy<cudaMemcpyDeviceToDevice>)
API_FUNCTION(4, cuMemcpyAsync, copy_async<cudaMemcpyDefault>)
API_FUNCTION(4, cuMemcpyHtoDAsync, copy_async<cudaMemcpyHostToDevice>)
API_FUNCTION(4, cuMemcpyDtoHAsync, copy_async<cudaMemcpyDeviceToHost>)
API_FUNCTION(4, cuMemcpyDtoDAsync, copy_async<cudaMemcpyDeviceToDevice>)
API_FUNCTION(5, cuMemcpyPeer, mem_copy_peer)
API_FUNCTION(6, cuMemcpyPeerAsync, mem_copy_peer_async)

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* memory, size_t bytes) {
  return call([&] {
    current_context();
    require(memory != nullptr && bytes > 0);
    void* begin = nullptr;
    mem_alloc(&begin, bytes);
    *memory = reinterpret_cast<CUdeviceptr>(begin);
  });
}

CUresult cuMemAllocPitch(
    CUdeviceptr* memory,
    size_t* pitch,
    size_t width,
    size_t height,
    unsigned element_size) {
  return call([&] {
    current_context();
    require(memory != nullptr && width > 0 && height > 0);
    require(element_size == 4 || element_size == 8 || element_size == 16);
    void* begin = nullptr;
    mem_alloc_pitch(&begin, pitch, width, height);
    *memory = reinterpret_cast<CUdeviceptr>(begin);
  });
}

CUresult cuMemGetAddressRange(
    CUdeviceptr* begin,
    size_t* size,
    CUdeviceptr address) {
  return call([&] {
    const auto piece = machine().addresses().find(address);
    require(piece.has_value(), cudaErrorSymbolNotFound);
    if (begin != nullptr) {
      *begin = piece->begin;
    }
    if (size != nullptr) {
      *size = piece->size();
    }
  });
}

CUresult cuPointerGetAttribute(
    void* value,
    CUpointer_attribute attribute,
    CUdeviceptr address) {
  return call([&] {
    require(value != nullptr);
    const auto piece = machine().addresses().find(address);
    require(piece.has_value());
    switch (static_cast<int>(attribute)) {
      case CU_POINTER_ATTRIBUTE_CONTEXT: {
        void* const begin = pointer(piece->begin);
        void* own = contexts().of(Contexts::Kind::kMemory, begin);
        if (own == nullptr) {
          own = contexts().of(Contexts::Kind::kHostMemory, begin);
        }
        *static_cast<void**>(value) =
            own != nullptr ? own : &machine().device(piece->device);
        return;
      }
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned*>(value) =
            piece->on_host() && piece->space != Space::kManaged
            ? CU_MEMORYTYPE_HOST
            : CU_MEMORYTYPE_DEVICE;
        return;
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        require(
            machine().addresses().visible(*piece, current_context().ordinal()));
        *static_cast<CUdeviceptr*>(value) = address;
        return;
      case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        require(piece->on_host());
        *static_cast<void**>(value) = pointer(address);
        return;
      case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *static_cast<unsigned*>(value) = piece->synchronous;
        return;
      case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *static_cast<unsigned long long*>(value) = piece->id;
        return;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<unsigned*>(value) = piece->space == Space::kManaged;
        return;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(value) = piece->device;
        return;
      case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *static_cast<unsigned*>(value) = piece->space == Space::kDevice;
        return;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: // a piece is mapped as one
        *static_cast<CUdeviceptr*>(value) = piece->begin;
        return;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *static_cast<std::size_t*>(value) = piece->size();
        return;
      case CU_POINTER_ATTRIBUTE_MAPPED:
        *static_cast<unsigned*>(value) = 1;
        return;
      case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *static_cast<unsigned long long*>(value) = handle_types(*piece);
        return;
      case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      case kHardwareDecompression:
        *static_cast<unsigned*>(value) = 0;
        return;
      case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: {
        const int device = current_context().ordinal();
        *static_cast<unsigned*>(value) =
            machine().addresses().visible(*piece, device)
            ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
            : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
        return;
      }
      case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: {
        const auto pool = pool_of(pointer(piece->begin));
        const bool lives = machine().pools().contains(pool.get());
        *static_cast<void**>(value) = lives ? pool.get() : nullptr;
        return;
      }
      default:
        throw Failure(
            cudaErrorNotSupported,
            "cuPointerGetAttribute has no attribute " +
                std::to_string(attribute));
    }
  });
}

CUresult cuPointerSetAttribute(
    const void* value,
    CUpointer_attribute attribute,
    CUdeviceptr address) {
  return call([&] {
    // The only one that can be set.
    require(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    const auto piece = machine().addresses().find(address);
    require(piece.has_value());
    require(machine().addresses().set_synchronous(
        piece->begin, *static_cast<const unsigned*>(value) != 0));
  });
}

CUresult cuPointerGetAttributes(
    unsigned count,
    CUpointer_attribute* attributes,
    void** values,
    CUdeviceptr address) {
  return call([&] {
    require(count > 0 && attributes != nullptr && values != nullptr);
    for (unsigned i = 0; i < count; ++i) {
      const CUresult result =
          cuPointerGetAttribute(values[i], attributes[i], address);
      // Memory that CUDA does not know, and what does not apply to memory, have
      // zeros for an answer.
      if (result == CUDA_ERROR_INVALID_VALUE && values[i] != nullptr) {
        std::memset(values[i], 0, size_of(attributes[i]));
      } else {
        require(result == CUDA_SUCCESS, static_cast<Status>(result));
      }
    }
  });
}

} // extern "C"
