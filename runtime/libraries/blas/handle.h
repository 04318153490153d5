// What cublasHandle_t stands for, and what depends on its pointer mode.
// Source: cuBLAS API, chapter 2.1 (general description) and 2.4 (helpers).
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <functional>
#include <initializer_list>
#include <utility>

#include "runtime/libraries/blas/stream_work.h"
#include "runtime/signatures/entry_points.h"

/// The type behind cublasHandle_t; cuBLAS leaves it open.
struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  int sm_count_target = 0;
  // How products are made of those of narrower types, which is not done here:
  // all are of the type that is asked for, and no less precise.
  int emulation_strategy = 0;
  int emulated_special_values = 0xffff;
  int mantissa_control = 0;
  int most_mantissa_bits = 0;
  int mantissa_offset = 0;
};

namespace accelerator::blas {

/// A scalar argument: its value now, or, in CUBLAS_POINTER_MODE_DEVICE, where
/// it will be when the work runs.
template <typename T>
class Scalar {
 public:
  Scalar(const cublasContext* handle, const void* pointer)
      : on_device_(handle->pointer_mode != CUBLAS_POINTER_MODE_HOST),
        pointer_(static_cast<const T*>(pointer)),
        value_(on_device_ || pointer == nullptr ? T{} : *pointer_) {}
  T get() const {
    return on_device_ ? *pointer_ : value_;
  }
  /// What the work will read on the device.
  Extent extent() const {
    return {pointer_, on_device_ ? sizeof(T) : 0};
  }

 private:
  bool on_device_;
  const T* pointer_;
  T value_;
};

/// Puts work into the handle's stream, if the device may touch this memory.
inline cublasStatus_t submit(
    const char* function,
    const cublasContext* handle,
    std::initializer_list<Extent> extents,
    std::function<void()> work) {
  return accessible(function, extents)
      ? enqueue(function, handle->stream, std::move(work))
      : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// The same for work that follows pointers (enqueue_checked).
inline cublasStatus_t submit_checked(
    const char* function,
    const cublasContext* handle,
    std::initializer_list<Extent> extents,
    std::function<bool()> work) {
  return accessible(function, extents)
      ? enqueue_checked(function, handle->stream, std::move(work))
      : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// Stores a result where the handle's pointer mode says. On the host that means
/// waiting for the stream, as cuBLAS does.
template <typename T, typename Compute>
cublasStatus_t deliver(
    const char* function,
    const cublasContext* handle,
    T* result,
    Compute compute) {
  if (result == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (handle->pointer_mode != CUBLAS_POINTER_MODE_HOST &&
      !accessible(function, {{result, sizeof(T)}})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  const auto status = enqueue(
      function, handle->stream, [result, compute] { *result = compute(); });
  if (status == CUBLAS_STATUS_SUCCESS &&
      handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {
    return cudaStreamSynchronize(handle->stream) == cudaSuccess
        ? CUBLAS_STATUS_SUCCESS
        : CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return status;
}

} // namespace accelerator::blas
