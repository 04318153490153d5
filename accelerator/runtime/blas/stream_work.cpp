#include "accelerator/runtime/blas/stream_work.h"

#include <mutex>
#include <utility>

// OpenBLAS's own: ends its threads, which the next call begins anew. It does so
// before a fork.
extern "C" int blas_thread_shutdown_();

namespace accelerator::blas {
namespace {

/// OpenBLAS's threads began when this library was loaded, with the
/// floating-point environment of whoever loaded it. Those that begin in a
/// stream have that of streams (device/streams), as the work itself has.
void renew_threads() {
  static std::once_flag once;
  std::call_once(once, [] { blas_thread_shutdown_(); });
}

cublasStatus_t status_of(cudaError_t error) {
  if (error == cudaErrorNotSupported) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                              : CUBLAS_STATUS_EXECUTION_FAILED;
}

} // namespace

std::size_t matrix_bytes(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading,
    std::size_t size) {
  if (rows <= 0 || columns <= 0) {
    return 0;
  }
  const std::size_t before = stream_work::times(
      static_cast<std::size_t>(columns - 1), stream_work::magnitude(leading));
  return stream_work::times(
      stream_work::plus(before, static_cast<std::size_t>(rows)), size);
}

std::size_t vector_bytes(
    std::int64_t n,
    std::int64_t stride,
    std::size_t size) {
  return matrix_bytes(1, n, stride, size);
}

cublasStatus_t enqueue(
    const char* function,
    cudaStream_t stream,
    std::function<void()> work) {
  return status_of(
      stream_work::enqueue(function, stream, [work = std::move(work)] {
        renew_threads();
        work();
      }));
}

cublasStatus_t enqueue_checked(
    const char* function,
    cudaStream_t stream,
    std::function<bool()> work) {
  return status_of(
      stream_work::enqueue_checked(function, stream, [work = std::move(work)] {
        renew_threads();
        return work() ? cudaSuccess : cudaErrorIllegalAddress;
      }));
}

} // namespace accelerator::blas
