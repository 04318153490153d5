// Copies in batches, which CUDA 13 has. Source: CUDA runtime API, memory
// management.
#include "runtime/api/cudart/call.h"
#include "runtime/core/operations/memory/batches.h"

#if CUDART_VERSION >= 13000

using namespace accelerator::runtime::operations;
using accelerator::cudart::call;

namespace {

void* writable(const void* memory) {
  return const_cast<void*>(memory);
}

} // namespace

extern "C" {

cudaError_t cudaMemcpyBatchAsync(
    void* const* to,
    const void* const* from,
    const size_t* sizes,
    size_t count,
    cudaMemcpyAttributes* attributes,
    size_t* indices,
    size_t attribute_count,
    cudaStream_t stream) {
  return call([&] {
    mem_copy_batch(
        batch_of(
            to,
            from,
            sizes,
            count,
            attributes,
            indices,
            attribute_count,
            writable),
        nullptr,
        stream);
  });
}

cudaError_t cudaMemcpy3DBatchAsync(
    size_t count,
    cudaMemcpy3DBatchOp* list,
    unsigned long long flags,
    cudaStream_t stream) {
  return call([&] {
    accelerator::runtime::require(flags == 0);
    mem_copy_batch(batch_of_boxes(list, count, writable), nullptr, stream);
  });
}

} // extern "C"

PER_THREAD(8, cudaMemcpyBatchAsync, _ptsz)
PER_THREAD(4, cudaMemcpy3DBatchAsync, _ptsz)

#endif
