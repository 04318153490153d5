// How work gets onto a stream: as a host function, so that order, events and
// graph capture are the runtime's business. Profilers take it for a kernel.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>

namespace accelerator::blas {

/// A piece of device memory that a call reads or writes.
struct Extent {
  const void* pointer;
  std::size_t bytes;
};

/// Bytes of a column-major matrix with elements of `size` bytes. All sizes here
/// are at the most what a std::size_t holds, which no memory has.
std::size_t matrix_bytes(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading,
    std::size_t size);

/// Bytes of a vector with a stride, which may be negative.
std::size_t vector_bytes(std::int64_t n, std::int64_t stride, std::size_t size);

/// `count` pieces of `bytes` bytes each, the first at `pointer`, with `stride`
/// elements of `size` bytes from each to the next.
Extent strided_extent(
    const void* pointer,
    std::size_t bytes,
    std::int64_t stride,
    std::size_t size,
    std::int64_t count);

/// Whether all of them lie in memory that the device may touch. Otherwise names
/// function, address and size on stderr: a real device would fault.
bool accessible(const char* function, std::initializer_list<Extent> extents);

/// Runs `work` on a stream. While the stream is being captured, `work` becomes
/// a node of the graph and is kept for the rest of the process, because a graph
/// can be copied and launched at any time.
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
