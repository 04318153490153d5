// Copies in batches. Source: CUDA driver API, memory management.
#include "runtime/api/driver/call.h"
#include "runtime/core/operations/api_functions.h"
#include "runtime/core/operations/memory/batches.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::current_context;
using accelerator::driver::pointer;

namespace {

CUresult copy_batch(
    CUdeviceptr* to,
    CUdeviceptr* from,
    size_t* sizes,
    size_t count,
    CUmemcpyAttributes* attributes,
    size_t* indices,
    size_t attribute_count,
    size_t* failed,
    CUstream stream,
    const char* function = __builtin_FUNCTION()) {
  return call(
      [&] {
        current_context();
        mem_copy_batch(
            batch_of(
                to,
                from,
                sizes,
                count,
                attributes,
                indices,
                attribute_count,
                pointer),
            failed,
            stream);
      },
      function);
}

CUresult copy_boxes(
    size_t count,
    CUDA_MEMCPY3D_BATCH_OP* list,
    size_t* failed,
    unsigned long long flags,
    CUstream stream,
    const char* function = __builtin_FUNCTION()) {
  return call(
      [&] {
        current_context();
        require(flags == 0);
        mem_copy_batch(batch_of_boxes(list, count, pointer), failed, stream);
      },
      function);
}

} // namespace

extern "C" {

CUresult cuMemcpyBatchAsync(
    CUdeviceptr* to,
    CUdeviceptr* from,
    size_t* sizes,
    size_t count,
    CUmemcpyAttributes* attributes,
    size_t* indices,
    size_t attribute_count,
    CUstream stream) {
  return copy_batch(
      to,
      from,
      sizes,
      count,
      attributes,
      indices,
      attribute_count,
      nullptr,
      stream);
}

CUresult cuMemcpy3DBatchAsync(
    size_t count,
    CUDA_MEMCPY3D_BATCH_OP* list,
    unsigned long long flags,
    CUstream stream) {
  return copy_boxes(count, list, nullptr, flags, stream);
}

} // extern "C"

PER_THREAD(8, cuMemcpyBatchAsync, _ptsz)
PER_THREAD(4, cuMemcpy3DBatchAsync, _ptsz)

// The forms of CUDA 12.8, which tell the copy that is at fault.
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync

extern "C" {

CUresult cuMemcpyBatchAsync(
    CUdeviceptr* to,
    CUdeviceptr* from,
    size_t* sizes,
    size_t count,
    CUmemcpyAttributes* attributes,
    size_t* indices,
    size_t attribute_count,
    size_t* failed,
    CUstream stream) {
  return copy_batch(
      to,
      from,
      sizes,
      count,
      attributes,
      indices,
      attribute_count,
      failed,
      stream);
}

CUresult cuMemcpy3DBatchAsync(
    size_t count,
    CUDA_MEMCPY3D_BATCH_OP* list,
    size_t* failed,
    unsigned long long flags,
    CUstream stream) {
  return copy_boxes(count, list, failed, flags, stream);
}

} // extern "C"

PER_THREAD(9, cuMemcpyBatchAsync, _ptsz)
PER_THREAD(5, cuMemcpy3DBatchAsync, _ptsz)
