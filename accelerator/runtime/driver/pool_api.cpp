// Memory pools, which are the runtime's under the same handles.
// Source: CUDA driver API, stream ordered memory allocator.
#include <cuda_runtime_api.h>

#include <vector>

#include "accelerator/runtime/driver/runtime_call.h"

using namespace accelerator::driver;

namespace {

// The same numbers in both.
cudaMemPoolAttr of_runtime(CUmemPool_attribute attribute) {
  return static_cast<cudaMemPoolAttr>(attribute);
}

cudaMemLocation of_runtime(const CUmemLocation& location) {
  cudaMemLocation result{};
  result.type = static_cast<cudaMemLocationType>(location.type);
  result.id = location.id;
  return result;
}

} // namespace

extern "C" {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return runtime()(cudaDeviceGetDefaultMemPool, pool, device);
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return runtime()(cudaDeviceGetMemPool, pool, device);
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return runtime()(cudaDeviceSetMemPool, device, pool);
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  if (properties == nullptr) {
    return runtime()(
        cudaMemPoolCreate, pool, static_cast<cudaMemPoolProps*>(nullptr));
  }
  cudaMemPoolProps given{};
  given.allocType = static_cast<cudaMemAllocationType>(properties->allocType);
  given.handleTypes =
      static_cast<cudaMemAllocationHandleType>(properties->handleTypes);
  given.location = of_runtime(properties->location);
  given.maxSize = properties->maxSize;
  return runtime()(cudaMemPoolCreate, pool, &given);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return runtime()(cudaMemPoolDestroy, pool);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
  return runtime()(cudaMemPoolTrimTo, pool, bytes);
}

CUresult cuMemPoolGetAttribute(
    CUmemoryPool pool,
    CUmemPool_attribute attribute,
    void* value) {
  return runtime()(cudaMemPoolGetAttribute, pool, of_runtime(attribute), value);
}

CUresult cuMemPoolSetAttribute(
    CUmemoryPool pool,
    CUmemPool_attribute attribute,
    void* value) {
  return runtime()(cudaMemPoolSetAttribute, pool, of_runtime(attribute), value);
}

CUresult cuMemPoolSetAccess(
    CUmemoryPool pool,
    const CUmemAccessDesc* list,
    size_t count) {
  std::vector<cudaMemAccessDesc> given;
  for (size_t i = 0; list != nullptr && i < count; ++i) {
    cudaMemAccessDesc access{};
    access.location = of_runtime(list[i].location);
    access.flags = static_cast<cudaMemAccessFlags>(list[i].flags);
    given.push_back(access);
  }
  return runtime()(
      cudaMemPoolSetAccess,
      pool,
      list == nullptr ? nullptr : given.data(),
      count);
}

CUresult cuMemPoolGetAccess(
    CUmemAccess_flags* flags,
    CUmemoryPool pool,
    CUmemLocation* location) {
  cudaMemAccessFlags found = cudaMemAccessFlagsProtNone;
  cudaMemLocation place{};
  if (location != nullptr) {
    place = of_runtime(*location);
  }
  const CUresult result = runtime()(
      cudaMemPoolGetAccess,
      flags == nullptr ? nullptr : &found,
      pool,
      location == nullptr ? nullptr : &place);
  if (result == CUDA_SUCCESS) {
    *flags = static_cast<CUmemAccess_flags>(found);
  }
  return result;
}

CUresult cuMemAllocFromPoolAsync(
    CUdeviceptr* memory,
    size_t bytes,
    CUmemoryPool pool,
    CUstream stream) {
  return runtime()(
      [](CUdeviceptr* place, size_t size, CUmemoryPool from, CUstream where) {
        return cudaMallocFromPoolAsync(
            reinterpret_cast<void**>(place), size, from, where);
      },
      memory,
      bytes,
      pool,
      stream);
}

} // extern "C"
