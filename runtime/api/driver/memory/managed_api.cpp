// Managed memory: advice, prefetching, and what is known of a range.
// Source: CUDA driver API, unified addressing.
#include "runtime/api/driver/perform.h"
#include "runtime/core/operations/memory/managed.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::perform;
using accelerator::driver::pointer;

API_FUNCTION(4, cuMemAdvise_v2, mem_advise)
API_FUNCTION(5, cuMemPrefetchAsync_v2, mem_prefetch_async)
API_FUNCTION(5, cuMemRangeGetAttribute, mem_range_get_attribute)
API_FUNCTION(6, cuMemRangeGetAttributes, mem_range_get_attributes)
API_FUNCTION(4, cuStreamAttachMemAsync, stream_attach_mem_async)

extern "C" {

// The forms from before CUDA 12.2 name a device, or the host by -1.
CUresult cuMemAdvise(
    CUdeviceptr memory,
    size_t bytes,
    CUmem_advise advice,
    CUdevice device) {
  return call([&] {
    mem_advise(
        pointer(memory),
        bytes,
        static_cast<cudaMemoryAdvise>(advice),
        location_of(device));
  });
}

CUresult cuMemPrefetchAsync(
    CUdeviceptr memory,
    size_t bytes,
    CUdevice device,
    CUstream stream) {
  return call([&] {
    mem_prefetch_async(pointer(memory), bytes, location_of(device), 0, stream);
  });
}

} // extern "C"
