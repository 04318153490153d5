// How libraries that compute on the host get work onto a stream: as a host
// function, so that order, events and graph capture are the runtime's business.
// Profilers take it for a kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

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

/// What work is about to read of device memory: lines of bytes, which grow or
/// shrink where they are those of a triangle, and the same for each of a batch.
struct Read {
  Read(const void* pointer, std::size_t bytes)
      : pointer(pointer), width(bytes) {}
  Read(const Extent& extent) : Read(extent.pointer, extent.bytes) {}

  const void* pointer; // of the first line
  std::size_t width; // of the first line; 0: nothing is read
  std::int64_t lines = 1;
  std::int64_t pitch = 0; // bytes from line to line
  std::int64_t growth = 0; // bytes by which a line is longer than the last one
  std::int64_t batches = 1;
  std::int64_t distance = 0; // bytes from each of the batch to the next
};

/// A column-major matrix, without what lies between its columns.
Read matrix_read(
    const void* pointer,
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading,
    std::size_t size);

/// A triangle of a column-major matrix.
/// @param unit whether its diagonal is not read.
Read triangle_read(
    const void* pointer,
    bool upper,
    std::int64_t n,
    std::int64_t leading,
    std::size_t size,
    bool unit = false);

/// `count` of these, with `stride` elements of `size` bytes from each to the
/// next.
Read batched_read(
    Read read,
    std::int64_t stride,
    std::size_t size,
    std::int64_t count);

/// Whether a device wants to be told of reads.
bool wants_reads();

/// Tells the device that the work which calls this, and which enqueue() runs,
/// is about to read: it may look for memory that nobody has written. What is
/// read must have been found to be accessible; host memory is passed over.
void reads(std::initializer_list<Read> list);
void reads(const std::vector<Read>& list);
/// The same for work that does not come from enqueue().
void reads_of(const char* function, const std::vector<Read>& list);

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
