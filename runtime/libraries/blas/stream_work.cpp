#include "runtime/libraries/blas/stream_work.h"

#include <mutex>
#include <utility>

// OpenBLAS's own: ends its threads, which the next call begins anew. It does so
// before a fork.
extern "C" int blas_thread_shutdown_();

namespace accelerator::blas {
namespace {

cublasStatus_t status_of(cudaError_t error) {
  if (error == cudaErrorNotSupported) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                              : CUBLAS_STATUS_EXECUTION_FAILED;
}

} // namespace

void renew_threads() {
  static std::once_flag once;
  std::call_once(once, [] { blas_thread_shutdown_(); });
}

std::size_t vector_bytes(
    std::int64_t n,
    std::int64_t stride,
    std::size_t size) {
  return matrix_bytes(1, n, stride, size);
}

Read vector_read(
    const void* x,
    std::int64_t n,
    std::int64_t stride,
    std::size_t size) {
  const auto distance =
      static_cast<std::int64_t>(stream_work::magnitude(stride));
  return matrix_read(x, 1, n, distance, size);
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
