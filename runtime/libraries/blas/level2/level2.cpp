// cuBLAS level 2: symmetric, Hermitian and triangular matrices times
// vectors, and updates of matrices by vectors. gemv is in gemm/gemm.cpp.
// Source: cuBLAS API, chapter 2.6.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/level2/triangle.h"
#include "runtime/libraries/blas/vectors.h"

namespace accelerator::blas {
namespace {

// clang-format off
#define ACCEL_OF_TYPE(letter, T)                                                                 \
  void trmv(CBLAS_TRANSPOSE t, CBLAS_DIAG d, const Triangle<const T>& a, T* x, int incx) {       \
    cblas_##letter##trmv(CblasColMajor, host::uplo(a.fill()), t, d, a.size(), a.data(), a.leading(), x, incx); \
  }                                                                                              \
  void trsv(CBLAS_TRANSPOSE t, CBLAS_DIAG d, const Triangle<const T>& a, T* x, int incx) {       \
    cblas_##letter##trsv(CblasColMajor, host::uplo(a.fill()), t, d, a.size(), a.data(), a.leading(), x, incx); \
  }                                                                                              \
  void tpmv(CBLAS_TRANSPOSE t, CBLAS_DIAG d, const Triangle<const T>& a, T* x, int incx) {       \
    cblas_##letter##tpmv(CblasColMajor, host::uplo(a.fill()), t, d, a.size(), a.data(), x, incx); \
  }                                                                                              \
  void tpsv(CBLAS_TRANSPOSE t, CBLAS_DIAG d, const Triangle<const T>& a, T* x, int incx) {       \
    cblas_##letter##tpsv(CblasColMajor, host::uplo(a.fill()), t, d, a.size(), a.data(), x, incx); \
  }                                                                                              \
  void tbmv(CBLAS_TRANSPOSE t, CBLAS_DIAG d, const Triangle<const T>& a, T* x, int incx) {       \
    cblas_##letter##tbmv(CblasColMajor, host::uplo(a.fill()), t, d, a.size(), a.diagonals(), a.data(), a.leading(), x, incx); \
  }                                                                                              \
  void tbsv(CBLAS_TRANSPOSE t, CBLAS_DIAG d, const Triangle<const T>& a, T* x, int incx) {       \
    cblas_##letter##tbsv(CblasColMajor, host::uplo(a.fill()), t, d, a.size(), a.diagonals(), a.data(), a.leading(), x, incx); \
  }
ACCEL_OF_TYPE(s, float)
ACCEL_OF_TYPE(d, double)
ACCEL_OF_TYPE(c, Complex64)
ACCEL_OF_TYPE(z, Complex128)
#undef ACCEL_OF_TYPE
// clang-format on

/// The number, or its conjugate: what a Hermitian matrix has at the other side
/// of its diagonal, where a symmetric one has the same.
template <bool kConjugate, typename T>
T mirrored(T value) {
  return kConjugate ? host::conjugate(value) : value;
}

/// What is read of a triangle, and vectors.
template <typename T>
std::vector<Read> triangle_and(
    const Triangle<T>& a,
    bool is_used,
    std::initializer_list<Read> vectors) {
  std::vector<Read> list = is_used ? a.reads() : std::vector<Read>{};
  list.insert(list.end(), vectors);
  return list;
}

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
    const Triangle<const T>& a,
    const T* alpha,
    const T* x,
    int incx,
    const T* beta,
    T* y,
    int incy) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!a.valid() || incx == 0 || incy == 0 || alpha == nullptr ||
      beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const int n = a.size();
  const Scalar<T> factor(handle, alpha);
  const Scalar<T> old(handle, beta);
  return submit(
      function,
      handle,
      {a.extent(),
       {x, vector_bytes(n, incx, sizeof(T))},
       {y, vector_bytes(n, incy, sizeof(T))},
       factor.extent(),
       old.extent()},
      [=] {
        reads({factor.extent(), old.extent()});
        const T by = factor.get();
        const T keep = old.get();
        const int used = by == T{} ? 0 : n;
        reads(triangle_and(
            a,
            used > 0,
            {vector_read(x, used, incx, sizeof(T)),
             vector_read(y, keep == T{} ? 0 : n, incy, sizeof(T))}));
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
          const T* const column = a.column(j);
          const T its = by * in[j];
          T sum = (kHermitian ? T(std::real(column[j])) : column[j]) * in[j];
          const Rows rows = a.rows(j);
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
  return submit(
      function,
      handle,
      {{a, matrix_bytes(m, n, lda, sizeof(T))},
       {x, vector_bytes(m, incx, sizeof(T))},
       {y, vector_bytes(n, incy, sizeof(T))},
       factor.extent()},
      [=] {
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
    const Triangle<T>& a,
    const A* alpha,
    const T* x,
    int incx) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!a.valid() || incx == 0 || alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const int n = a.size();
  const Scalar<A> factor(handle, alpha);
  return submit(
      function,
      handle,
      {a.extent(), {x, vector_bytes(n, incx, sizeof(T))}, factor.extent()},
      [=] {
        reads({factor.extent()});
        const A by = factor.get();
        const int used = by == A{} ? 0 : n;
        reads(
            triangle_and(a, used > 0, {vector_read(x, used, incx, sizeof(T))}));
        const Strided<const T> in(x, n, incx);
        for (int j = 0; by != A{} && j < n; ++j) {
          T* const column = a.column(j);
          const T its = by * mirrored<kHermitian>(in[j]);
          const Rows rows = a.rows(j);
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
    const Triangle<T>& a,
    const T* alpha,
    const T* x,
    int incx,
    const T* y,
    int incy) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!a.valid() || incx == 0 || incy == 0 || alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const int n = a.size();
  const Scalar<T> factor(handle, alpha);
  return submit(
      function,
      handle,
      {a.extent(),
       {x, vector_bytes(n, incx, sizeof(T))},
       {y, vector_bytes(n, incy, sizeof(T))},
       factor.extent()},
      [=] {
        reads({factor.extent()});
        const T by = factor.get();
        const int used = by == T{} ? 0 : n;
        reads(triangle_and(
            a,
            used > 0,
            {vector_read(x, used, incx, sizeof(T)),
             vector_read(y, used, incy, sizeof(T))}));
        const Strided<const T> left(x, n, incx);
        const Strided<const T> right(y, n, incy);
        for (int j = 0; by != T{} && j < n; ++j) {
          T* const column = a.column(j);
          const T its_right = by * mirrored<kHermitian>(right[j]);
          const T its_left =
              mirrored<kHermitian>(by) * mirrored<kHermitian>(left[j]);
          const Rows rows = a.rows(j);
          for (int i = rows.begin; i < rows.end; ++i) {
            column[i] += left[i] * its_right + right[i] * its_left;
          }
          const T diagonal =
              column[j] + left[j] * its_right + right[j] * its_left;
          column[j] = kHermitian ? T(std::real(diagonal)) : diagonal;
        }
      });
}

/// x := op(A) x, or the solution of op(A) x = b.
template <typename T>
cublasStatus_t triangular(
    const char* function,
    cublasHandle_t handle,
    const Triangle<const T>& a,
    cublasOperation_t operation,
    cublasDiagType_t diagonal,
    T* x,
    int incx,
    void (*compute)(
        CBLAS_TRANSPOSE,
        CBLAS_DIAG,
        const Triangle<const T>&,
        T*,
        int)) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!a.valid() || !host::known(operation) || !host::known(diagonal) ||
      incx == 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return submit(
      function,
      handle,
      {a.extent(), {x, vector_bytes(a.size(), incx, sizeof(T))}},
      [=] {
        std::vector<Read> list = a.reads(diagonal == CUBLAS_DIAG_UNIT);
        list.push_back(vector_read(x, a.size(), incx, sizeof(T)));
        reads(list);
        compute(host::transpose(operation), host::diag(diagonal), a, x, incx);
      });
}

/// Copies a triangle from one way to store it to another.
template <typename T>
cublasStatus_t convert(
    const char* function,
    cublasHandle_t handle,
    const Triangle<const T>& from,
    const Triangle<T>& to) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!from.valid() || !to.valid()) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return submit(function, handle, {from.extent(), to.extent()}, [=] {
    reads(from.reads());
    for (int j = 0; j < from.size(); ++j) {
      const Rows rows = from.rows(j);
      const T* const source = from.column(j);
      T* const result = to.column(j);
      std::copy(source + rows.begin, source + rows.end, result + rows.begin);
      result[j] = source[j];
    }
  });
}

} // namespace
} // namespace accelerator::blas

using accelerator::blas::Complex128;
using accelerator::blas::Complex64;
using accelerator::blas::Triangle;
namespace blas = accelerator::blas;

ENTRY_POINTS_REAL(10, cublas, ger, blas::ger<false>)
ENTRY_POINTS_COMPLEX(10, cublas, geru, blas::ger<false>)
ENTRY_POINTS_COMPLEX(10, cublas, gerc, blas::ger<true>)

extern "C" {

// clang-format off
// Symmetric matrices, and Hermitian ones, whose syr has a real alpha.
#define ACCEL_SYMMETRIC(letter, sy, api, type, hermitian, alpha_api, alpha_type)                 \
  cublasStatus_t cublas##letter##sy##mv_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,  \
      const api* alpha, const api* a, int lda, const api* x, int incx, const api* beta, api* y,  \
      int incy) {                                                                                \
    return blas::symv<hermitian, type>("cublas" #letter #sy "mv", handle,                        \
        Triangle<const type>::full((const type*)a, fill, n, lda), (const type*)alpha,            \
        (const type*)x, incx, (const type*)beta, (type*)y, incy);                                \
  }                                                                                              \
  cublasStatus_t cublas##letter##sy##r_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,   \
      const alpha_api* alpha, const api* x, int incx, api* a, int lda) {                         \
    return blas::syr<hermitian, type>("cublas" #letter #sy "r", handle,                          \
        Triangle<type>::full((type*)a, fill, n, lda), (const alpha_type*)alpha, (const type*)x,  \
        incx);                                                                                   \
  }                                                                                              \
  cublasStatus_t cublas##letter##sy##r2_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,  \
      const api* alpha, const api* x, int incx, const api* y, int incy, api* a, int lda) {       \
    return blas::syr2<hermitian, type>("cublas" #letter #sy "r2", handle,                        \
        Triangle<type>::full((type*)a, fill, n, lda), (const type*)alpha, (const type*)x, incx,  \
        (const type*)y, incy);                                                                   \
  }
ACCEL_SYMMETRIC(S, sy, float, float, false, float, float)
ACCEL_SYMMETRIC(D, sy, double, double, false, double, double)
ACCEL_SYMMETRIC(C, sy, cuComplex, Complex64, false, cuComplex, Complex64)
ACCEL_SYMMETRIC(Z, sy, cuDoubleComplex, Complex128, false, cuDoubleComplex, Complex128)
ACCEL_SYMMETRIC(C, he, cuComplex, Complex64, true, float, float)
ACCEL_SYMMETRIC(Z, he, cuDoubleComplex, Complex128, true, double, double)
#undef ACCEL_SYMMETRIC

// The same, packed (sp, hp) and banded (sb, hb). cuBLAS has these of complex numbers for Hermitian
// matrices only.
#define ACCEL_SYMMETRIC(letter, sp, sb, api, type, hermitian, real)                              \
  cublasStatus_t cublas##letter##sp##mv_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,  \
      const api* alpha, const api* a, const api* x, int incx, const api* beta, api* y,           \
      int incy) {                                                                                \
    return blas::symv<hermitian, type>("cublas" #letter #sp "mv", handle,                        \
        Triangle<const type>::packed((const type*)a, fill, n), (const type*)alpha,               \
        (const type*)x, incx, (const type*)beta, (type*)y, incy);                                \
  }                                                                                              \
  cublasStatus_t cublas##letter##sb##mv_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,  \
      int k, const api* alpha, const api* a, int lda, const api* x, int incx, const api* beta,   \
      api* y, int incy) {                                                                        \
    return blas::symv<hermitian, type>("cublas" #letter #sb "mv", handle,                        \
        Triangle<const type>::banded((const type*)a, fill, n, k, lda), (const type*)alpha,       \
        (const type*)x, incx, (const type*)beta, (type*)y, incy);                                \
  }                                                                                              \
  cublasStatus_t cublas##letter##sp##r_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,   \
      const real* alpha, const api* x, int incx, api* a) {                                       \
    return blas::syr<hermitian, type>("cublas" #letter #sp "r", handle,                          \
        Triangle<type>::packed((type*)a, fill, n), alpha, (const type*)x, incx);                 \
  }                                                                                              \
  cublasStatus_t cublas##letter##sp##r2_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,  \
      const api* alpha, const api* x, int incx, const api* y, int incy, api* a) {                \
    return blas::syr2<hermitian, type>("cublas" #letter #sp "r2", handle,                        \
        Triangle<type>::packed((type*)a, fill, n), (const type*)alpha, (const type*)x, incx,     \
        (const type*)y, incy);                                                                   \
  }
ACCEL_SYMMETRIC(S, sp, sb, float, float, false, float)
ACCEL_SYMMETRIC(D, sp, sb, double, double, false, double)
ACCEL_SYMMETRIC(C, hp, hb, cuComplex, Complex64, true, float)
ACCEL_SYMMETRIC(Z, hp, hb, cuDoubleComplex, Complex128, true, double)
#undef ACCEL_SYMMETRIC

#define ACCEL_TRIANGULAR(letter, api, type, name, way, parameters, arguments)                    \
  cublasStatus_t cublas##letter##name##_v2(cublasHandle_t handle, cublasFillMode_t fill,         \
      cublasOperation_t operation, cublasDiagType_t diagonal, int n, ACCEL_LIST parameters,      \
      api* x, int incx) {                                                                        \
    return blas::triangular<type>("cublas" #letter #name, handle,                                \
        Triangle<const type>::way((const type*)a, fill, n ACCEL_LIST arguments), operation,      \
        diagonal, (type*)x, incx, blas::name);                                                   \
  }
#define ACCEL_LIST(...) __VA_ARGS__
#define ACCEL_ALL(letter, api, type)                                                             \
  ACCEL_TRIANGULAR(letter, api, type, trmv, full, (const api* a, int lda), (, lda))              \
  ACCEL_TRIANGULAR(letter, api, type, trsv, full, (const api* a, int lda), (, lda))              \
  ACCEL_TRIANGULAR(letter, api, type, tpmv, packed, (const api* a), ())                          \
  ACCEL_TRIANGULAR(letter, api, type, tpsv, packed, (const api* a), ())                          \
  ACCEL_TRIANGULAR(letter, api, type, tbmv, banded, (int k, const api* a, int lda), (, k, lda))  \
  ACCEL_TRIANGULAR(letter, api, type, tbsv, banded, (int k, const api* a, int lda), (, k, lda))  \
  cublasStatus_t cublas##letter##tpttr(cublasHandle_t handle, cublasFillMode_t fill, int n,      \
      const api* packed, api* a, int lda) {                                                      \
    return blas::convert<type>("cublas" #letter "tpttr", handle,                                 \
        Triangle<const type>::packed((const type*)packed, fill, n),                              \
        Triangle<type>::full((type*)a, fill, n, lda));                                           \
  }                                                                                              \
  cublasStatus_t cublas##letter##trttp(cublasHandle_t handle, cublasFillMode_t fill, int n,      \
      const api* a, int lda, api* packed) {                                                      \
    return blas::convert<type>("cublas" #letter "trttp", handle,                                 \
        Triangle<const type>::full((const type*)a, fill, n, lda),                                \
        Triangle<type>::packed((type*)packed, fill, n));                                         \
  }
ACCEL_ALL(S, float, float)
ACCEL_ALL(D, double, double)
ACCEL_ALL(C, cuComplex, Complex64)
ACCEL_ALL(Z, cuDoubleComplex, Complex128)
#undef ACCEL_ALL
#undef ACCEL_LIST
#undef ACCEL_TRIANGULAR
// clang-format on

} // extern "C"
