// Work of cuBLAS's functions for streams, and the memory that it reaches.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "runtime/stream_work/stream_work.h"

namespace accelerator::blas {

using stream_work::accessible;
using stream_work::Extent;
using stream_work::matrix_bytes;
using stream_work::matrix_read;
using stream_work::Read;
using stream_work::reads;
using stream_work::strided_extent;
using stream_work::triangle_read;

/// Bytes of a vector with a stride, which may be negative.
std::size_t vector_bytes(std::int64_t n, std::int64_t stride, std::size_t size);

inline bool is_upper(cublasFillMode_t fill) {
  return fill == CUBLAS_FILL_MODE_UPPER;
}

/// What a vector with a stride, which may be negative, has for work to read.
/// Its lowest address is `x` either way.
Read vector_read(
    const void* x,
    std::int64_t n,
    std::int64_t stride,
    std::size_t size);

/// To be called in work of a stream before OpenBLAS is. OpenBLAS's threads
/// began when this library was loaded, with the floating-point environment of
/// whoever loaded it. Those that begin in a stream have that of streams
/// (runtime/core/streams), as the work itself has.
void renew_threads();

/// stream_work::enqueue for work that calls OpenBLAS.
cublasStatus_t enqueue(
    const char* function,
    cudaStream_t stream,
    std::function<void()> work);

/// The same for work that follows pointers in device memory, which only it can
/// check. When it returns false, because accessible() did, the device is at
/// fault as after a kernel's access to an illegal address.
cublasStatus_t enqueue_checked(
    const char* function,
    cudaStream_t stream,
    std::function<bool()> work);

} // namespace accelerator::blas
