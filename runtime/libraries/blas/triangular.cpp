// Triangular systems: cublas?trsm and its batched form. Source: cuBLAS API,
// chapters 2.7.10 and 2.7.11.
#include <algorithm>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"

namespace accelerator::blas {
namespace {

struct System {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  cublasOperation_t operation;
  cublasDiagType_t diagonal;
  int m, n, lda, ldb;

  int order() const {
    return side == CUBLAS_SIDE_LEFT ? m : n;
  }
  std::size_t a_bytes(std::size_t size) const {
    return empty() ? 0 : matrix_bytes(order(), order(), lda, size);
  }
  std::size_t b_bytes(std::size_t size) const {
    return matrix_bytes(m, n, ldb, size);
  }
  bool empty() const {
    return m == 0 || n == 0;
  }
  bool valid() const {
    return host::known(side) && host::known(fill) && host::known(operation) &&
        host::known(diagonal) && m >= 0 && n >= 0 &&
        lda >= std::max(1, order()) && ldb >= std::max(1, m);
  }
  template <typename T>
  void solve(T alpha, const T* a, T* b) const {
    if (empty()) {
      return;
    }
    const bool is_used = alpha != T{};
    reads(
        {triangle_read(
             a,
             is_upper(fill),
             is_used ? order() : 0,
             lda,
             sizeof(T),
             diagonal == CUBLAS_DIAG_UNIT),
         matrix_read(b, is_used ? m : 0, n, ldb, sizeof(T))});
    host::trsm(
        host::side(side),
        host::uplo(fill),
        host::transpose(operation),
        host::diag(diagonal),
        m,
        n,
        alpha,
        a,
        lda,
        b,
        ldb);
  }
};

template <typename T>
cublasStatus_t trsm(
    const char* function,
    cublasHandle_t handle,
    const System& system,
    const T* alpha,
    const T* a,
    T* b) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (alpha == nullptr || !system.valid()) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> factor(handle, alpha);
  if (!accessible(
          function,
          {{a, system.a_bytes(sizeof(T))},
           {b, system.b_bytes(sizeof(T))},
           factor.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads({factor.extent()});
    system.solve(factor.get(), a, b);
  });
}

template <typename T>
cublasStatus_t trsm_batched(
    const char* function,
    cublasHandle_t handle,
    const System& system,
    const T* alpha,
    const T* const a[],
    T* const b[],
    int count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (alpha == nullptr || !system.valid() || count < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (system.empty()) {
    // Nothing is there that pointers could lead to.
    count = 0;
  }
  const std::size_t pointers = count * sizeof(void*);
  const Scalar<T> factor(handle, alpha);
  if (!accessible(function, {{a, pointers}, {b, pointers}, factor.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue_checked(function, handle->stream, [=] {
    reads({{a, pointers}, {b, pointers}, factor.extent()});
    for (int i = 0; i < count; ++i) {
      if (!accessible(
              function,
              {{a[i], system.a_bytes(sizeof(T))},
               {b[i], system.b_bytes(sizeof(T))}})) {
        return false;
      }
      system.solve(factor.get(), a[i], b[i]);
    }
    return true;
  });
}

} // namespace
} // namespace accelerator::blas

using accelerator::blas::Complex128;
using accelerator::blas::Complex64;
namespace blas = accelerator::blas;

extern "C" {

// clang-format off
#define ACCEL_TRSM(letter, api, type)                                                            \
  cublasStatus_t cublas##letter##trsm_v2(cublasHandle_t handle, cublasSideMode_t side,             \
      cublasFillMode_t fill, cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n, \
      const api* alpha, const api* a, int lda, api* b, int ldb) {                                  \
    return blas::trsm<type>("cublas" #letter "trsm", handle,                                       \
        {side, fill, operation, diagonal, m, n, lda, ldb}, (const type*)alpha, (const type*)a,     \
        (type*)b);                                                                                 \
  }                                                                                                \
  cublasStatus_t cublas##letter##trsmBatched(cublasHandle_t handle, cublasSideMode_t side,         \
      cublasFillMode_t fill, cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n, \
      const api* alpha, const api* const a[], int lda, api* const b[], int ldb, int count) {       \
    return blas::trsm_batched<type>("cublas" #letter "trsmBatched", handle,                        \
        {side, fill, operation, diagonal, m, n, lda, ldb}, (const type*)alpha,                     \
        (const type* const*)a, (type* const*)b, count);                                            \
  }
ACCEL_TRSM(S, float, float)
ACCEL_TRSM(D, double, double)
ACCEL_TRSM(C, cuComplex, Complex64)
ACCEL_TRSM(Z, cuDoubleComplex, Complex128)
#undef ACCEL_TRSM
// clang-format on

} // extern "C"
