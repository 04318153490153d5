#include "cudasim/blas/stream_work.h"

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace cudasim::blas {

std::size_t matrix_bytes(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading,
    std::size_t size) {
  if (rows <= 0 || columns <= 0) {
    return 0;
  }
  return (static_cast<std::size_t>(columns - 1) * leading + rows) * size;
}

std::size_t vector_bytes(
    std::int64_t n,
    std::int64_t stride,
    std::size_t size) {
  return n <= 0 ? 0 : ((n - 1) * std::abs(stride) + 1) * size;
}

namespace {

/// Whether every byte belongs to an allocation. Allocations may lie side by
/// side: an expandable segment is mapped piece by piece.
bool is_allocated(CUdeviceptr begin, CUdeviceptr end) {
  while (begin < end) {
    CUdeviceptr base = 0;
    std::size_t size = 0;
    if (cuMemGetAddressRange(&base, &size, begin) != CUDA_SUCCESS ||
        base + size <= begin) {
      return false;
    }
    begin = base + size;
  }
  return true;
}

} // namespace

bool accessible(const char* function, std::initializer_list<Extent> extents) {
  for (const Extent& extent : extents) {
    const auto address = reinterpret_cast<CUdeviceptr>(extent.pointer);
    if (is_allocated(address, address + extent.bytes)) {
      continue;
    }
    std::fprintf(
        stderr,
        "cudasim: %s: illegal memory access: %zu bytes at 0x%llx are not within "
        "an allocation\n",
        function,
        extent.bytes,
        static_cast<unsigned long long>(address));
    return false;
  }
  return true;
}

cublasStatus_t enqueue(
    const char* function,
    cudaStream_t stream,
    std::function<void()> work) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  auto owned = std::make_unique<std::function<void()>>(std::move(work));
  const bool captured = capture == cudaStreamCaptureStatusActive;
  const cudaHostFn_t run_and_free = [](void* data) {
    const std::unique_ptr<std::function<void()>> closure(
        static_cast<std::function<void()>*>(data));
    (*closure)();
  };
  const cudaHostFn_t run = [](void* data) {
    (*static_cast<std::function<void()>*>(data))();
  };
  const auto error =
      cudaLaunchHostFunc(stream, captured ? run : run_and_free, owned.get());
  if (error != cudaSuccess) {
    std::fprintf(
        stderr, "cudasim: %s: %s\n", function, cudaGetErrorString(error));
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  static_cast<void>(owned.release());
  return CUBLAS_STATUS_SUCCESS;
}

} // namespace cudasim::blas
