// Memory pools and allocation in the order of a stream.
// Source: CUDA driver API, stream ordered memory allocator.
#include "runtime/api/driver/perform.h"
#include "runtime/core/operations/pools.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::perform;

API_FUNCTION(3, cuMemAllocAsync, mem_alloc_async)
API_FUNCTION(4, cuMemAllocFromPoolAsync, mem_alloc_from_pool_async)
API_FUNCTION(2, cuMemFreeAsync, mem_free_async)
API_FUNCTION(2, cuDeviceGetDefaultMemPool, device_get_default_mem_pool)
API_FUNCTION(2, cuDeviceGetMemPool, device_get_mem_pool)
API_FUNCTION(2, cuDeviceSetMemPool, device_set_mem_pool)
API_FUNCTION(2, cuMemPoolCreate, mem_pool_create)
API_FUNCTION(1, cuMemPoolDestroy, mem_pool_destroy)
API_FUNCTION(2, cuMemPoolTrimTo, mem_pool_trim_to)
API_FUNCTION(3, cuMemPoolGetAttribute, mem_pool_get_attribute)
API_FUNCTION(3, cuMemPoolSetAttribute, mem_pool_set_attribute)
API_FUNCTION(3, cuMemPoolSetAccess, mem_pool_set_access)
API_FUNCTION(3, cuMemPoolGetAccess, mem_pool_get_access)
API_FUNCTION(2, cuMemPoolExportPointer, mem_pool_export_pointer)
API_FUNCTION(3, cuMemPoolImportPointer, mem_pool_import_pointer)

extern "C" {

CUresult cuMemPoolExportToShareableHandle(
    void* shareable,
    CUmemoryPool pool,
    CUmemAllocationHandleType type,
    unsigned long long flags) {
  return call([&] {
    require(flags == 0);
    mem_pool_export_to_shareable_handle(
        shareable, pool, static_cast<cudaMemAllocationHandleType>(type), 0);
  });
}

CUresult cuMemPoolImportFromShareableHandle(
    CUmemoryPool* pool,
    void* shareable,
    CUmemAllocationHandleType type,
    unsigned long long flags) {
  return call([&] {
    require(flags == 0);
    mem_pool_import_from_shareable_handle(
        pool, shareable, static_cast<cudaMemAllocationHandleType>(type), 0);
  });
}

} // extern "C"
