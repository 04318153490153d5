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
    cublasSideMode_t side,
    cublasFillMode_t fill,
    cublasOperation_t operation,
    cublasDiagType_t diagonal,
    int m,
    int n,
    const T* alpha,
    const T* a,
    int lda,
    T* b,
    int ldb) {
  const System system{side, fill, operation, diagonal, m, n, lda, ldb};
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (alpha == nullptr || !system.valid()) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> factor(handle, alpha);
  return submit(
      function,
      handle,
      {{a, system.a_bytes(sizeof(T))},
       {b, system.b_bytes(sizeof(T))},
       factor.extent()},
      [=] {
        reads({factor.extent()});
        system.solve(factor.get(), a, b);
      });
}

template <typename T>
cublasStatus_t trsm_batched(
    const char* function,
    cublasHandle_t handle,
    cublasSideMode_t side,
    cublasFillMode_t fill,
    cublasOperation_t operation,
    cublasDiagType_t diagonal,
    int m,
    int n,
    const T* alpha,
    const T* const a[],
    int lda,
    T* const b[],
    int ldb,
    int count) {
  const System system{side, fill, operation, diagonal, m, n, lda, ldb};
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
  return submit_checked(
      function, handle, {{a, pointers}, {b, pointers}, factor.extent()}, [=] {
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

using namespace accelerator::blas;

ENTRY_POINTS(12, cublas, trsm, trsm)
ENTRY_POINTS(13, cublas, trsmBatched, trsm_batched)
