// A call of cublasGemmEx or its kin, and its factors.
#pragma once

#include <cstring>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/numeric.h"

namespace accelerator::blas {

struct Call {
  const char* function;
  cublasHandle_t handle;
  cublasOperation_t operation_a, operation_b;
  int m, n, k;
  const void* alpha;
  const void* a;
  cudaDataType_t a_type;
  int lda;
  long long stride_a;
  const void* b;
  cudaDataType_t b_type;
  int ldb;
  long long stride_b;
  const void* beta;
  void* c;
  cudaDataType_t c_type;
  int ldc;
  long long stride_c;
  int count;
  cublasComputeType_t compute;
};

inline const char* advance(
    const void* base,
    long long elements,
    cudaDataType_t type) {
  return static_cast<const char*>(base) + elements * size_of(type);
}

/// alpha or beta: copied now, or read when the work runs.
class AnyScalar {
 public:
  AnyScalar(
      const cublasContext* handle,
      const void* pointer,
      cudaDataType_t type)
      : type_(type),
        pointer_(
            handle->pointer_mode == CUBLAS_POINTER_MODE_HOST ? nullptr
                                                             : pointer) {
    if (pointer_ == nullptr) {
      std::memcpy(value_, pointer, size_of(type));
    }
  }
  double get() const {
    return load(type_, pointer_ != nullptr ? pointer_ : value_, 0);
  }
  /// What the work will read on the device.
  Extent extent() const {
    return {pointer_, pointer_ != nullptr ? size_of(type_) : 0};
  }

 private:
  cudaDataType_t type_;
  const void* pointer_;
  alignas(16) char value_[16] = {};
};

} // namespace accelerator::blas
