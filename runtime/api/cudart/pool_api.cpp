// Memory pools and allocation in the order of a stream.
// Source: CUDA runtime API, stream ordered memory allocator.
#include "runtime/api/cudart/call.h"
#include "runtime/core/operations/pools.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::perform;

API_FUNCTION(3, cudaMallocAsync, mem_alloc_async)
API_FUNCTION(4, cudaMallocFromPoolAsync, mem_alloc_from_pool_async)
API_FUNCTION(2, cudaFreeAsync, mem_free_async)
API_FUNCTION(2, cudaDeviceGetDefaultMemPool, device_get_default_mem_pool)
API_FUNCTION(2, cudaDeviceGetMemPool, device_get_mem_pool)
API_FUNCTION(2, cudaDeviceSetMemPool, device_set_mem_pool)
API_FUNCTION(2, cudaMemPoolCreate, mem_pool_create)
API_FUNCTION(1, cudaMemPoolDestroy, mem_pool_destroy)
API_FUNCTION(2, cudaMemPoolTrimTo, mem_pool_trim_to)
API_FUNCTION(3, cudaMemPoolGetAttribute, mem_pool_get_attribute)
API_FUNCTION(3, cudaMemPoolSetAttribute, mem_pool_set_attribute)
API_FUNCTION(3, cudaMemPoolSetAccess, mem_pool_set_access)
API_FUNCTION(3, cudaMemPoolGetAccess, mem_pool_get_access)
API_FUNCTION(
    4,
    cudaMemPoolExportToShareableHandle,
    mem_pool_export_to_shareable_handle)
API_FUNCTION(
    4,
    cudaMemPoolImportFromShareableHandle,
    mem_pool_import_from_shareable_handle)
API_FUNCTION(2, cudaMemPoolExportPointer, mem_pool_export_pointer)
API_FUNCTION(3, cudaMemPoolImportPointer, mem_pool_import_pointer)
API_FUNCTION(3, cudaDeviceGetGraphMemAttribute, device_get_graph_mem_attribute)
API_FUNCTION(3, cudaDeviceSetGraphMemAttribute, device_set_graph_mem_attribute)
API_FUNCTION(1, cudaDeviceGraphMemTrim, device_graph_mem_trim)
#if CUDART_VERSION >= 13000
API_FUNCTION(3, cudaMemGetDefaultMemPool, mem_get_default_mem_pool)
API_FUNCTION(3, cudaMemGetMemPool, mem_get_mem_pool)
API_FUNCTION(3, cudaMemSetMemPool, mem_set_mem_pool)
#endif
