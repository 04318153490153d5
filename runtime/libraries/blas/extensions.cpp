// Sums and transposes of matrices, and products with diagonal ones. Source:
// cuBLAS API, chapter 2.8 (BLAS-like extension).
#include <algorithm>
#include <cstddef>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/vectors.h"

namespace accelerator::blas {
namespace {

/// A factor of a sum: alpha op(A).
template <typename T>
struct Summand {
  Scalar<T> factor;
  cublasOperation_t operation;
  const T* matrix;
  int leading;

  bool is_plain() const {
    return operation == CUBLAS_OP_N;
  }
  bool fits(int m, int n) const {
    return host::known(operation) && leading >= std::max(1, is_plain() ? m : n);
  }
  /// A matrix of which nothing is wanted need not be there.
  Extent extent(int m, int n) const {
    const bool is_used = factor.get() != T{};
    return {
        matrix,
        is_used
            ? matrix_bytes(
                  is_plain() ? m : n, is_plain() ? n : m, leading, sizeof(T))
            : 0};
  }
  Read read(int m, int n) const {
    const int rows = is_plain() ? m : n;
    return matrix_read(
        matrix,
        factor.get() == T{} ? 0 : rows,
        is_plain() ? n : m,
        leading,
        sizeof(T));
  }
  T at(std::ptrdiff_t i, std::ptrdiff_t j) const {
    const T by = factor.get();
    if (by == T{}) {
      return T{};
    }
    const T value =
        is_plain() ? matrix[j * leading + i] : matrix[i * leading + j];
    return by * (operation == CUBLAS_OP_C ? host::conjugate(value) : value);
  }
};

/// C := alpha op(A) + beta op(B).
template <typename T>
cublasStatus_t geam(
    const char* function,
    cublasHandle_t handle,
    cublasOperation_t operation_a,
    cublasOperation_t operation_b,
    int m,
    int n,
    const T* alpha,
    const T* a,
    int lda,
    const T* beta,
    const T* b,
    int ldb,
    T* c,
    int ldc) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Summand<T> left{Scalar<T>(handle, alpha), operation_a, a, lda};
  const Summand<T> right{Scalar<T>(handle, beta), operation_b, b, ldb};
  // In place, each element has to stay where it is.
  const auto may_be_result = [&](const Summand<T>& its) {
    return its.matrix != c || (its.is_plain() && its.leading == ldc);
  };
  if (m < 0 || n < 0 || !left.fits(m, n) || !right.fits(m, n) ||
      ldc < std::max(1, m) || !may_be_result(left) || !may_be_result(right)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (m == 0 || n == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const auto are_there = [=] {
    return accessible(function, {left.extent(m, n), right.extent(m, n)});
  };
  const bool is_known = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
  if (!accessible(
          function,
          {{c, matrix_bytes(m, n, ldc, sizeof(T))},
           left.factor.extent(),
           right.factor.extent()}) ||
      (is_known && !are_there())) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue_checked(function, handle->stream, [=] {
    reads({left.factor.extent(), right.factor.extent()});
    if (!are_there()) {
      return false;
    }
    reads({left.read(m, n), right.read(m, n)});
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        c[j * ldc + i] = left.at(i, j) + right.at(i, j);
      }
    }
    return true;
  });
}

/// C := diag(x) A, or A diag(x).
template <typename T>
cublasStatus_t dgmm(
    const char* function,
    cublasHandle_t handle,
    cublasSideMode_t side,
    int m,
    int n,
    const T* a,
    int lda,
    const T* x,
    int incx,
    T* c,
    int ldc) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!host::known(side) || m < 0 || n < 0 || lda < std::max(1, m) ||
      ldc < std::max(1, m)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (m == 0 || n == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  const int length = is_left ? m : n;
  return submit(
      function,
      handle,
      {{a, matrix_bytes(m, n, lda, sizeof(T))},
       {x, vector_bytes(length, incx, sizeof(T))},
       {c, matrix_bytes(m, n, ldc, sizeof(T))}},
      [=] {
        reads(
            {matrix_read(a, m, n, lda, sizeof(T)),
             vector_read(x, length, incx, sizeof(T))});
        const T* const diagonal = first(x, length, incx);
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          for (std::ptrdiff_t i = 0; i < m; ++i) {
            c[j * ldc + i] =
                a[j * lda + i] * diagonal[(is_left ? i : j) * incx];
          }
        }
      });
}

} // namespace
} // namespace accelerator::blas

using namespace accelerator::blas;

ENTRY_POINTS(13, cublas, geam, geam)
ENTRY_POINTS(10, cublas, dgmm, dgmm)
