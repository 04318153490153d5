// Memory: allocating, copying, filling, asking about pointers.
// Source: CUDA driver API, memory management and unified addressing. Most of it
// is the runtime's work under other names.
#include <cuda_runtime_api.h>

#include <cstring>
#include <string>

#include "accelerator/runtime/driver/call.h"
#include "accelerator/runtime/driver/runtime_call.h"

using namespace accelerator::runtime;
using accelerator::driver::call;
using accelerator::driver::current_context;
using accelerator::driver::pointer;
using accelerator::driver::resolve_context;
using accelerator::driver::runtime;
using accelerator::driver::store;

namespace {

// Bytes of the answer to cuPointerGetAttribute.
std::size_t size_of(CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return 8;
    default:
      return 4;
  }
}

} // namespace

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* memory, size_t bytes) {
  return call([&] {
    current_context();
    require(memory != nullptr && bytes > 0);
    void* begin = nullptr;
    const cudaError_t status = cudaMalloc(&begin, bytes);
    require(status == cudaSuccess, status);
    *memory = reinterpret_cast<CUdeviceptr>(begin);
  });
}

CUresult cuMemFree(CUdeviceptr memory) {
  return runtime()(cudaFree, pointer(memory));
}

CUresult cuMemAllocHost(void** memory, size_t bytes) {
  return runtime()(cudaHostAlloc, memory, bytes, 0u);
}

CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  return runtime()(cudaHostAlloc, memory, bytes, flags);
}

CUresult cuMemFreeHost(void* memory) {
  return runtime()(cudaFreeHost, memory);
}

CUresult cuMemHostGetDevicePointer(
    CUdeviceptr* device,
    void* host,
    unsigned flags) {
  return runtime()(
      cudaHostGetDevicePointer, reinterpret_cast<void**>(device), host, flags);
}

CUresult cuMemHostRegister(void* memory, size_t bytes, unsigned flags) {
  return runtime()(cudaHostRegister, memory, bytes, flags);
}

CUresult cuMemHostUnregister(void* memory) {
  return runtime()(cudaHostUnregister, memory);
}

CUresult cuMemAllocManaged(CUdeviceptr* memory, size_t bytes, unsigned flags) {
  return runtime()(
      [](CUdeviceptr* place, size_t size, unsigned how) {
        return cudaMallocManaged(reinterpret_cast<void**>(place), size, how);
      },
      memory,
      bytes,
      flags);
}

CUresult cuMemGetInfo(size_t* available, size_t* total) {
  return runtime()(cudaMemGetInfo, available, total);
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

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return runtime()(
      cudaMemcpy, pointer(to), pointer(from), bytes, cudaMemcpyDefault);
}

CUresult cuMemcpyAsync(
    CUdeviceptr to,
    CUdeviceptr from,
    size_t bytes,
    CUstream stream) {
  return runtime()(
      cudaMemcpyAsync,
      pointer(to),
      pointer(from),
      bytes,
      cudaMemcpyDefault,
      stream);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  const CUresult result = call([&] {
    require(copy != nullptr);
    require(
        copy->srcMemoryType != CU_MEMORYTYPE_ARRAY &&
            copy->dstMemoryType != CU_MEMORYTYPE_ARRAY,
        cudaErrorNotSupported);
  });
  if (result != CUDA_SUCCESS) {
    return result;
  }
  const auto* from = static_cast<const char*>(
      copy->srcMemoryType == CU_MEMORYTYPE_HOST ? copy->srcHost
                                                : pointer(copy->srcDevice));
  auto* to = static_cast<char*>(
      copy->dstMemoryType == CU_MEMORYTYPE_HOST ? copy->dstHost
                                                : pointer(copy->dstDevice));
  return runtime()(
      cudaMemcpy2DAsync,
      to + copy->dstY * copy->dstPitch + copy->dstXInBytes,
      copy->dstPitch,
      from + copy->srcY * copy->srcPitch + copy->srcXInBytes,
      copy->srcPitch,
      copy->WidthInBytes,
      copy->Height,
      cudaMemcpyDefault,
      stream);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return runtime()(
      cudaMemcpy, pointer(to), from, bytes, cudaMemcpyHostToDevice);
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return runtime()(
      cudaMemcpy, to, pointer(from), bytes, cudaMemcpyDeviceToHost);
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return runtime()(
      cudaMemcpy, pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice);
}

CUresult cuMemcpyHtoDAsync(
    CUdeviceptr to,
    const void* from,
    size_t bytes,
    CUstream stream) {
  return runtime()(
      cudaMemcpyAsync,
      pointer(to),
      from,
      bytes,
      cudaMemcpyHostToDevice,
      stream);
}

CUresult cuMemcpyDtoHAsync(
    void* to,
    CUdeviceptr from,
    size_t bytes,
    CUstream stream) {
  return runtime()(
      cudaMemcpyAsync,
      to,
      pointer(from),
      bytes,
      cudaMemcpyDeviceToHost,
      stream);
}

CUresult cuMemcpyDtoDAsync(
    CUdeviceptr to,
    CUdeviceptr from,
    size_t bytes,
    CUstream stream) {
  return runtime()(
      cudaMemcpyAsync,
      pointer(to),
      pointer(from),
      bytes,
      cudaMemcpyDeviceToDevice,
      stream);
}

CUresult cuMemcpyPeer(
    CUdeviceptr to,
    CUcontext to_context,
    CUdeviceptr from,
    CUcontext from_context,
    size_t bytes) {
  const CUresult result = call([&] {
    // Serialized with all work in both.
    resolve_context(to_context).synchronize();
    resolve_context(from_context).synchronize();
  });
  return result != CUDA_SUCCESS ? result : cuMemcpyDtoD(to, from, bytes);
}

CUresult cuMemcpyPeerAsync(
    CUdeviceptr to,
    CUcontext to_context,
    CUdeviceptr from,
    CUcontext from_context,
    size_t bytes,
    CUstream stream) {
  const CUresult result = call([&] {
    resolve_context(to_context);
    resolve_context(from_context);
  });
  return result != CUDA_SUCCESS ? result
                                : cuMemcpyDtoDAsync(to, from, bytes, stream);
}

CUresult cuPointerGetAttribute(
    void* value,
    CUpointer_attribute attribute,
    CUdeviceptr address) {
  return call([&] {
    require(value != nullptr);
    const auto piece = machine().addresses().find(address);
    require(piece.has_value());
    switch (attribute) {
      case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<void**>(value) = &machine().device(piece->device);
        return;
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
        *static_cast<unsigned*>(value) = 0;
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
        *static_cast<CUdeviceptr*>(value) = piece->begin;
        return;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<std::size_t*>(value) = piece->size();
        return;
      case CU_POINTER_ATTRIBUTE_MAPPED:
        *static_cast<unsigned*>(value) = 1;
        return;
      default:
        throw Failure(
            cudaErrorNotSupported,
            "cuPointerGetAttribute has no attribute " +
                std::to_string(attribute));
    }
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

CUresult cuMemAllocAsync(CUdeviceptr* memory, size_t bytes, CUstream stream) {
  return runtime()(
      [](CUdeviceptr* place, size_t size, CUstream where) {
        return cudaMallocAsync(reinterpret_cast<void**>(place), size, where);
      },
      memory,
      bytes,
      stream);
}

CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream stream) {
  return runtime()(cudaFreeAsync, pointer(memory), stream);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr memory) {
  return runtime()(
      cudaIpcGetMemHandle,
      reinterpret_cast<cudaIpcMemHandle_t*>(handle),
      pointer(memory));
}

CUresult cuIpcOpenMemHandle(
    CUdeviceptr* memory,
    CUipcMemHandle handle,
    unsigned flags) {
  return runtime()(
      [](CUdeviceptr* place, const CUipcMemHandle* opaque, unsigned how) {
        return cudaIpcOpenMemHandle(
            reinterpret_cast<void**>(place),
            *reinterpret_cast<const cudaIpcMemHandle_t*>(opaque),
            how);
      },
      memory,
      static_cast<const CUipcMemHandle*>(&handle),
      flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr memory) {
  return runtime()(cudaIpcCloseMemHandle, pointer(memory));
}

} // extern "C"
