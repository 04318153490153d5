// How libraries that compute on the host get work onto a stream: as a host
// function, so that order, events and graph capture are the runtime's business.
// Profilers take it for a kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>

namespace accelerator::stream_work {

/// Makes the current device's context, as handles of libraries do.
/// @returns the runtime's error. It does not become the program's last error,
/// because NVIDIA's libraries have a runtime of their own.
cudaError_t make_context();

/// A piece of device memory that a call reads or writes.
struct Extent {
  const void* pointer;
  std::size_t bytes;
};

/// Sum and product of sizes, which are at the most what a std::size_t holds;
/// no memory has that.
std::size_t plus(std::size_t a, std::size_t b);
std::size_t times(std::size_t a, std::size_t b);

/// A stride without its sign.
std::size_t magnitude(std::int64_t stride);

/// `count` pieces of `bytes` bytes each, the first at `pointer`, with `stride`
/// elements of `size` bytes from each to the next.
Extent strided_extent(
    const void* pointer,
    std::size_t bytes,
    std::int64_t stride,
    std::size_t size,
    std::int64_t count);

/// Bytes of a column-major matrix with elements of `size` bytes.
std::size_t matrix_bytes(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading,
    std::size_t size);

/// Whether all of them lie in memory that the device may touch. Otherwise names
/// function, address and size on stderr: a real device would fault.
bool accessible(const char* function, std::initializer_list<Extent> extents);

/// Runs `work` on a stream. While the stream is being captured, `work` becomes
/// a node of the graph and is kept for the rest of the process, because a graph
/// can be copied and launched at any time.
/// @param function what profilers know the work by; lives as long as the
/// process.
/// @returns the runtime's error, which is reported on stderr too;
/// cudaErrorNotSupported when the host does not see the device's memory.
cudaError_t enqueue(
    const char* function,
    cudaStream_t stream,
    std::function<void()> work);

/// The same for work that can fail. When it returns an error, the device is at
/// fault with that error, as after a kernel's.
cudaError_t enqueue_checked(
    const char* function,
    cudaStream_t stream,
    std::function<cudaError_t()> work);

/// Runs work of the host's libraries.
/// @returns what it returns; cudaErrorMemoryAllocation when the host has not
/// enough memory for it, and cudaErrorUnknown after any other exception, which
/// are reported on stderr.
cudaError_t without_exceptions(
    const char* function,
    const std::function<cudaError_t()>& work);

} // namespace accelerator::stream_work
