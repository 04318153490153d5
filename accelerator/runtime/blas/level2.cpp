// cuBLAS level 2: symmetric, Hermitian and triangular matrices times vectors,
// and updates of matrices by vectors. gemv is in gemm.cpp. Source: cuBLAS API,
// chapter 2.6.
#include <algorithm>

#include "accelerator/runtime/blas/handle.h"
#include "accelerator/runtime/blas/host_blas.h"
#include "accelerator/runtime/blas/vectors.h"

namespace accelerator::blas {
namespace {

// clang-format off
#define ACCEL_TRIANGULAR(name)                                                                   \
  void name(CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, const float* a, int lda, float* x, int incx) { \
    cblas_s##name(CblasColMajor, u, t, d, n, a, lda, x, incx);                                   \
  }                                                                                              \
  void name(CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, const double* a, int lda, double* x, int incx) { \
    cblas_d##name(CblasColMajor, u, t, d, n, a, lda, x, incx);                                   \
  }                                                                                              \
  void name(CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, const Complex64* a, int lda, Complex64* x, int incx) { \
    cblas_c##name(CblasColMajor, u, t, d, n, a, lda, x, incx);                                   \
  }                                                                                              \
  void name(CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, const Complex128* a, int lda, Complex128* x, int incx) { \
    cblas_z##name(CblasColMajor, u, t, d, n, a, lda, x, incx);                                   \
  }
ACCEL_TRIANGULAR(trmv)
ACCEL_TRIANGULAR(trsv)
#undef ACCEL_TRIANGULAR
// clang-format on

/// The number, or its conjugate: what a Hermitian matrix has at the other side
/// of its diagonal, where a symmetric one has the same.
template <bool kConjugate, typename T>
T mirrored(T value) {
  return kConjugate ? host::conjugate(value) : value;
}

/// The rows of a column that a triangle has, without the diagonal.
struct Rows {
  int begin;
  int end;
};
Rows rows_of(cublasFillMode_t fill, int column, int n) {
  return fill == CUBLAS_FILL_MODE_LOWER ? Rows{column + 1, n} : Rows{0, column};
}

/// A vector in the order of its elements.
template <typename T>
class Strided {
 public:
  Strided(T* x, int n, int stride)
      : first_(first(x, n, stride)), stride_(stride) {}
  T& operator[](int i) const {
    return first_[static_cast<std::ptrdiff_t>(i) * stride_];
  }

 private:
  T* first_;
  std::ptrdiff_t stride_;
};

/// Sizes, strides and a leading dimension that go together.
bool valid(int rows, int columns, int lda, int incx, int incy) {
  return rows >= 0 && columns >= 0 && lda >= std::max(1, rows) && incx != 0 &&
      incy != 0;
}

/// y := alpha A x + beta y.
template <bool kHermitian, typename T>
cublasStatus_t symv(
    const char* function,
    cublasHandle_t handle,
    cublasFillMode_t fill,
    int n,
    const T* alpha,
    const T* a,
    int lda,
    const T* x,
    int incx,
    const T* beta,
    T* y,
    int incy) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!host::known(fill) || !valid(n, n, lda, incx, incy) || alpha == nullptr ||
      beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> factor(handle, alpha);
  const Scalar<T> old(handle, beta);
  if (!accessible(
          function,
          {{a, matrix_bytes(n, n, lda, sizeof(T))},
           {x, vector_bytes(n, incx, sizeof(T))},
           {y, vector_bytes(n, incy, sizeof(T))},
           factor.extent(),
           old.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads({factor.extent(), old.extent()});
    const T by = factor.get();
    const T keep = old.get();
    const int used = by == T{} ? 0 : n;
    reads(
        {triangle_read(a, is_upper(fill), used, lda, sizeof(T)),
         vector_read(x, used, incx, sizeof(T)),
         vector_read(y, keep == T{} ? 0 : n, incy, sizeof(T))});
    const Strided<const T> in(x, n, incx);
    const Strided<T> out(y, n, incy);
    for (int i = 0; i < n; ++i) {
      // What is multiplied by zero is not read, be it NaN.
      out[i] = keep == T{} ? T{} : keep * out[i];
    }
    if (by == T{}) {
      return;
    }
    for (int j = 0; j < n; ++j) {
      const T* const column = a + static_cast<std::ptrdiff_t>(j) * lda;
      const T its = by * in[j];
      T sum = (kHermitian ? T(std::real(column[j])) : column[j]) * in[j];
      const Rows rows = rows_of(fill, j, n);
      for (int i = rows.begin; i < rows.end; ++i) {
        out[i] += its * column[i];
        sum += mirrored<kHermitian>(column[i]) * in[i];
      }
      out[j] += by * sum;
    }
  });
}

/// A := A + alpha x y^T, or y^H.
template <bool kConjugate, typename T>
cublasStatus_t ger(
    const char* function,
    cublasHandle_t handle,
    int m,
    int n,
    const T* alpha,
    const T* x,
    int incx,
    const T* y,
    int incy,
    T* a,
    int lda) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!valid(m, n, lda, incx, incy) || alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> factor(handle, alpha);
  if (!accessible(
          function,
          {{a, matrix_bytes(m, n, lda, sizeof(T))},
           {x, vector_bytes(m, incx, sizeof(T))},
           {y, vector_bytes(n, incy, sizeof(T))},
           factor.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads({factor.extent()});
    const T by = factor.get();
    const bool is_used = by != T{};
    reads(
        {matrix_read(a, is_used ? m : 0, n, lda, sizeof(T)),
         vector_read(x, is_used ? m : 0, incx, sizeof(T)),
         vector_read(y, is_used ? n : 0, incy, sizeof(T))});
    const Strided<const T> left(x, m, incx);
    const Strided<const T> right(y, n, incy);
    for (int j = 0; by != T{} && j < n; ++j) {
      T* const column = a + static_cast<std::ptrdiff_t>(j) * lda;
      const T its = by * mirrored<kConjugate>(right[j]);
      for (int i = 0; i < m; ++i) {
        column[i] += left[i] * its;
      }
    }
  });
}

/// A := A + alpha x x^T, or x^H.
/// @param A alpha's type, which is real where A stays Hermitian.
template <bool kHermitian, typename T, typename A>
cublasStatus_t syr(
    const char* function,
    cublasHandle_t handle,
    cublasFillMode_t fill,
    int n,
    const A* alpha,
    const T* x,
    int incx,
    T* a,
    int lda) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!host::known(fill) || !valid(n, n, lda, incx, 1) || alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<A> factor(handle, alpha);
  if (!accessible(
          function,
          {{a, matrix_bytes(n, n, lda, sizeof(T))},
           {x, vector_bytes(n, incx, sizeof(T))},
           factor.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads({factor.extent()});
    const A by = factor.get();
    const int used = by == A{} ? 0 : n;
    reads(
        {triangle_read(a, is_upper(fill), used, lda, sizeof(T)),
         vector_read(x, used, incx, sizeof(T))});
    const Strided<const T> in(x, n, incx);
    for (int j = 0; by != A{} && j < n; ++j) {
      T* const column = a + static_cast<std::ptrdiff_t>(j) * lda;
      const T its = by * mirrored<kHermitian>(in[j]);
      const Rows rows = rows_of(fill, j, n);
      for (int i = rows.begin; i < rows.end; ++i) {
        column[i] += in[i] * its;
      }
      const T diagonal = column[j] + in[j] * its;
      column[j] = kHermitian ? T(std::real(diagonal)) : diagonal;
    }
  });
}

/// A := A + alpha x y^T + alpha y x^T, or with y^H and the conjugate of alpha.
template <bool kHermitian, typename T>
cublasStatus_t syr2(
    const char* function,
    cublasHandle_t handle,
    cublasFillMode_t fill,
    int n,
    const T* alpha,
    const T* x,
    int incx,
    const T* y,
    int incy,
    T* a,
    int lda) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!host::known(fill) || !valid(n, n, lda, incx, incy) || alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> factor(handle, alpha);
  if (!accessible(
          function,
          {{a, matrix_bytes(n, n, lda, sizeof(T))},
           {x, vector_bytes(n, incx, sizeof(T))},
           {y, vector_bytes(n, incy, sizeof(T))},
           factor.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads({factor.extent()});
    const T by = factor.get();
    const int used = by == T{} ? 0 : n;
    reads(
        {triangle_read(a, is_upper(fill), used, lda, sizeof(T)),
         vector_read(x, used, incx, sizeof(T)),
         vector_read(y, used, incy, sizeof(T))});
    const Strided<const T> left(x, n, incx);
    const Strided<const T> right(y, n, incy);
    for (int j = 0; by != T{} && j < n; ++j) {
      T* const column = a + static_cast<std::ptrdiff_t>(j) * lda;
      const T its_right = by * mirrored<kHermitian>(right[j]);
      const T its_left =
          mirrored<kHermitian>(by) * mirrored<kHermitian>(left[j]);
      const Rows rows = rows_of(fill, j, n);
      for (int i = rows.begin; i < rows.end; ++i) {
        column[i] += left[i] * its_right + right[i] * its_left;
      }
      const T diagonal = column[j] + left[j] * its_right + right[j] * its_left;
      column[j] = kHermitian ? T(std::real(diagonal)) : diagonal;
    }
  });
}

/// x := op(A) x, or the solution of op(A) x = b.
template <typename T>
cublasStatus_t triangular(
    const char* function,
    cublasHandle_t handle,
    cublasFillMode_t fill,
    cublasOperation_t operation,
    cublasDiagType_t diagonal,
    int n,
    const T* a,
    int lda,
    T* x,
    int incx,
    void (*compute)(
        CBLAS_UPLO,
        CBLAS_TRANSPOSE,
        CBLAS_DIAG,
        int,
        const T*,
        int,
        T*,
        int)) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!host::known(fill) || !host::known(operation) || !host::known(diagonal) ||
      !valid(n, n, lda, incx, 1)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (!accessible(
          function,
          {{a, matrix_bytes(n, n, lda, sizeof(T))},
           {x, vector_bytes(n, incx, sizeof(T))}})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads(
        {triangle_read(
             a,
             is_upper(fill),
             n,
             lda,
             sizeof(T),
             diagonal == CUBLAS_DIAG_UNIT),
         vector_read(x, n, incx, sizeof(T))});
    compute(
        host::uplo(fill),
        host::transpose(operation),
        host::diag(diagonal),
        n,
        a,
        lda,
        x,
        incx);
  });
}

} // namespace
} // namespace accelerator::blas

using accelerator::blas::Complex128;
using accelerator::blas::Complex64;
namespace blas = accelerator::blas;

extern "C" {

// clang-format off
#define ACCEL_GER(name, api, type, conjugate)                                                    \
  cublasStatus_t name##_v2(cublasHandle_t handle, int m, int n, const api* alpha, const api* x,  \
      int incx, const api* y, int incy, api* a, int lda) {                                       \
    return blas::ger<conjugate>(#name, handle, m, n, (const type*)alpha, (const type*)x, incx,   \
        (const type*)y, incy, (type*)a, lda);                                                    \
  }
ACCEL_GER(cublasSger, float, float, false)
ACCEL_GER(cublasDger, double, double, false)
ACCEL_GER(cublasCgeru, cuComplex, Complex64, false)
ACCEL_GER(cublasCgerc, cuComplex, Complex64, true)
ACCEL_GER(cublasZgeru, cuDoubleComplex, Complex128, false)
ACCEL_GER(cublasZgerc, cuDoubleComplex, Complex128, true)
#undef ACCEL_GER

// Symmetric matrices, and Hermitian ones, whose syr has a real alpha.
#define ACCEL_SYMMETRIC(letter, sy, api, type, hermitian, alpha_api, alpha_type)                 \
  cublasStatus_t cublas##letter##sy##mv_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,  \
      const api* alpha, const api* a, int lda, const api* x, int incx, const api* beta, api* y,  \
      int incy) {                                                                                \
    return blas::symv<hermitian>("cublas" #letter #sy "mv", handle, fill, n, (const type*)alpha, \
        (const type*)a, lda, (const type*)x, incx, (const type*)beta, (type*)y, incy);           \
  }                                                                                              \
  cublasStatus_t cublas##letter##sy##r_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,   \
      const alpha_api* alpha, const api* x, int incx, api* a, int lda) {                         \
    return blas::syr<hermitian>("cublas" #letter #sy "r", handle, fill, n,                       \
        (const alpha_type*)alpha, (const type*)x, incx, (type*)a, lda);                          \
  }                                                                                              \
  cublasStatus_t cublas##letter##sy##r2_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,  \
      const api* alpha, const api* x, int incx, const api* y, int incy, api* a, int lda) {       \
    return blas::syr2<hermitian>("cublas" #letter #sy "r2", handle, fill, n, (const type*)alpha, \
        (const type*)x, incx, (const type*)y, incy, (type*)a, lda);                              \
  }
ACCEL_SYMMETRIC(S, sy, float, float, false, float, float)
ACCEL_SYMMETRIC(D, sy, double, double, false, double, double)
ACCEL_SYMMETRIC(C, sy, cuComplex, Complex64, false, cuComplex, Complex64)
ACCEL_SYMMETRIC(Z, sy, cuDoubleComplex, Complex128, false, cuDoubleComplex, Complex128)
ACCEL_SYMMETRIC(C, he, cuComplex, Complex64, true, float, float)
ACCEL_SYMMETRIC(Z, he, cuDoubleComplex, Complex128, true, double, double)
#undef ACCEL_SYMMETRIC

#define ACCEL_TRIANGULAR(letter, api, type, name)                                                \
  cublasStatus_t cublas##letter##name##_v2(cublasHandle_t handle, cublasFillMode_t fill,         \
      cublasOperation_t operation, cublasDiagType_t diagonal, int n, const api* a, int lda,      \
      api* x, int incx) {                                                                        \
    return blas::triangular<type>("cublas" #letter #name, handle, fill, operation, diagonal, n,  \
        (const type*)a, lda, (type*)x, incx, blas::name);                                        \
  }
#define ACCEL_BOTH(letter, api, type)         \
  ACCEL_TRIANGULAR(letter, api, type, trmv)   \
  ACCEL_TRIANGULAR(letter, api, type, trsv)
ACCEL_BOTH(S, float, float)
ACCEL_BOTH(D, double, double)
ACCEL_BOTH(C, cuComplex, Complex64)
ACCEL_BOTH(Z, cuDoubleComplex, Complex128)
#undef ACCEL_BOTH
#undef ACCEL_TRIANGULAR
// clang-format on

} // extern "C"
