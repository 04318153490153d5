// cuBLAS level 3: products and updates of symmetric, Hermitian and triangular
// matrices. gemm is in gemm/gemm.cpp, trsm in triangular.cpp. Source: cuBLAS
// API, chapter 2.7.
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"

namespace accelerator::blas {
namespace {

// The host's routines, by cuBLAS's letters for the types of numbers. Factors
// are given by address, which the ones of real numbers take as values.
// clang-format off
#define ACCEL_REAL(L, l, type)                                                                   \
  void L##symm(CBLAS_SIDE s, CBLAS_UPLO u, int m, int n, const type* alpha, const type* a, int lda, const type* b, int ldb, const type* beta, type* c, int ldc) { \
    cblas_##l##symm(CblasColMajor, s, u, m, n, *alpha, a, lda, b, ldb, *beta, c, ldc);           \
  }                                                                                              \
  void L##syrk(CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, const type* alpha, const type* a, int lda, const type* beta, type* c, int ldc) { \
    cblas_##l##syrk(CblasColMajor, u, t, n, k, *alpha, a, lda, *beta, c, ldc);                   \
  }                                                                                              \
  void L##syr2k(CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, const type* alpha, const type* a, int lda, const type* b, int ldb, const type* beta, type* c, int ldc) { \
    cblas_##l##syr2k(CblasColMajor, u, t, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);          \
  }                                                                                              \
  void trmm(CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int m, int n, type alpha, const type* a, int lda, type* c, int ldc) { \
    cblas_##l##trmm(CblasColMajor, s, u, t, d, m, n, alpha, a, lda, c, ldc);                     \
  }
ACCEL_REAL(S, s, float)
ACCEL_REAL(D, d, double)
#undef ACCEL_REAL

#define ACCEL_COMPLEX(L, l, type, real)                                                          \
  void L##symm(CBLAS_SIDE s, CBLAS_UPLO u, int m, int n, const type* alpha, const type* a, int lda, const type* b, int ldb, const type* beta, type* c, int ldc) { \
    cblas_##l##symm(CblasColMajor, s, u, m, n, alpha, a, lda, b, ldb, beta, c, ldc);             \
  }                                                                                              \
  void L##hemm(CBLAS_SIDE s, CBLAS_UPLO u, int m, int n, const type* alpha, const type* a, int lda, const type* b, int ldb, const type* beta, type* c, int ldc) { \
    cblas_##l##hemm(CblasColMajor, s, u, m, n, alpha, a, lda, b, ldb, beta, c, ldc);             \
  }                                                                                              \
  void L##syrk(CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, const type* alpha, const type* a, int lda, const type* beta, type* c, int ldc) { \
    cblas_##l##syrk(CblasColMajor, u, t, n, k, alpha, a, lda, beta, c, ldc);                     \
  }                                                                                              \
  void L##herk(CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, const real* alpha, const type* a, int lda, const real* beta, type* c, int ldc) { \
    cblas_##l##herk(CblasColMajor, u, t, n, k, *alpha, a, lda, *beta, c, ldc);                   \
  }                                                                                              \
  void L##syr2k(CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, const type* alpha, const type* a, int lda, const type* b, int ldb, const type* beta, type* c, int ldc) { \
    cblas_##l##syr2k(CblasColMajor, u, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc);            \
  }                                                                                              \
  void L##her2k(CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, const type* alpha, const type* a, int lda, const type* b, int ldb, const real* beta, type* c, int ldc) { \
    cblas_##l##her2k(CblasColMajor, u, t, n, k, alpha, a, lda, b, ldb, *beta, c, ldc);           \
  }                                                                                              \
  void trmm(CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int m, int n, type alpha, const type* a, int lda, type* c, int ldc) { \
    cblas_##l##trmm(CblasColMajor, s, u, t, d, m, n, &alpha, a, lda, c, ldc);                    \
  }
ACCEL_COMPLEX(C, c, Complex64, float)
ACCEL_COMPLEX(Z, z, Complex128, double)
#undef ACCEL_COMPLEX
// clang-format on

/// C := alpha A B + beta C, or B A, with a symmetric or Hermitian A.
/// @param compute the host's routine.
template <typename T, typename Compute>
cublasStatus_t symm(
    const char* function,
    Compute compute,
    cublasHandle_t handle,
    cublasSideMode_t side,
    cublasFillMode_t fill,
    int m,
    int n,
    const T* alpha,
    const T* a,
    int lda,
    const T* b,
    int ldb,
    const T* beta,
    T* c,
    int ldc) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  if (!host::known(side) || !host::known(fill) || m < 0 || n < 0 ||
      lda < std::max(1, order) || ldb < std::max(1, m) ||
      ldc < std::max(1, m) || alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (m == 0 || n == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const Scalar<T> factor(handle, alpha);
  const Scalar<T> old(handle, beta);
  return submit(
      function,
      handle,
      {{a, matrix_bytes(order, order, lda, sizeof(T))},
       {b, matrix_bytes(m, n, ldb, sizeof(T))},
       {c, matrix_bytes(m, n, ldc, sizeof(T))},
       factor.extent(),
       old.extent()},
      [=] {
        reads({factor.extent(), old.extent()});
        const T by = factor.get();
        const T keep = old.get();
        const bool is_used = by != T{};
        reads(
            {triangle_read(
                 a, is_upper(fill), is_used ? order : 0, lda, sizeof(T)),
             matrix_read(b, is_used ? m : 0, n, ldb, sizeof(T)),
             matrix_read(c, keep == T{} ? 0 : m, n, ldc, sizeof(T))});
        compute(
            host::side(side),
            host::uplo(fill),
            m,
            n,
            &by,
            a,
            lda,
            b,
            ldb,
            &keep,
            c,
            ldc);
      });
}

/// What an update of a triangle takes: which operation makes A's transpose.
template <typename T>
bool is_update(
    bool hermitian,
    cublasFillMode_t fill,
    cublasOperation_t operation,
    int n,
    int k,
    int ldc) {
  constexpr bool kReal = std::is_floating_point_v<T>;
  const bool transposes = hermitian
      ? operation == CUBLAS_OP_C
      : operation == CUBLAS_OP_T || (kReal && operation == CUBLAS_OP_C);
  return host::known(fill) && (operation == CUBLAS_OP_N || transposes) &&
      n >= 0 && k >= 0 && ldc >= std::max(1, n);
}

/// A factor of an update: op(A) has n rows and k columns.
template <typename T>
std::size_t factor_bytes(cublasOperation_t operation, int n, int k, int lda) {
  return operation == CUBLAS_OP_N ? matrix_bytes(n, k, lda, sizeof(T))
                                  : matrix_bytes(k, n, lda, sizeof(T));
}
template <typename T>
Read factor_read(
    const T* a,
    cublasOperation_t operation,
    int n,
    int k,
    int lda) {
  return operation == CUBLAS_OP_N ? matrix_read(a, n, k, lda, sizeof(T))
                                  : matrix_read(a, k, n, lda, sizeof(T));
}
bool fits(cublasOperation_t operation, int n, int k, int lda) {
  return lda >= std::max(1, operation == CUBLAS_OP_N ? n : k);
}

/// The host's operation; a real matrix has no conjugate.
template <typename T>
CBLAS_TRANSPOSE transpose(cublasOperation_t operation) {
  return std::is_floating_point_v<T> && operation == CUBLAS_OP_C
      ? CblasTrans
      : host::transpose(operation);
}

/// C := alpha op(A) op(A)^T + beta C, or ^H.
/// @param F the factors' type.
template <bool kHermitian, typename T, typename F, typename Compute>
cublasStatus_t syrk(
    const char* function,
    Compute compute,
    cublasHandle_t handle,
    cublasFillMode_t fill,
    cublasOperation_t operation,
    int n,
    int k,
    const F* alpha,
    const T* a,
    int lda,
    const F* beta,
    T* c,
    int ldc) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!is_update<T>(kHermitian, fill, operation, n, k, ldc) ||
      !fits(operation, n, k, lda) || alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<F> factor(handle, alpha);
  const Scalar<F> old(handle, beta);
  return submit(
      function,
      handle,
      {{a, factor_bytes<T>(operation, n, k, lda)},
       {c, matrix_bytes(n, n, ldc, sizeof(T))},
       factor.extent(),
       old.extent()},
      [=] {
        reads({factor.extent(), old.extent()});
        const F by = factor.get();
        const F keep = old.get();
        reads(
            {factor_read<T>(a, operation, n, by == F{} ? 0 : k, lda),
             triangle_read(
                 c, is_upper(fill), keep == F{} ? 0 : n, ldc, sizeof(T))});
        compute(
            host::uplo(fill),
            transpose<T>(operation),
            n,
            k,
            &by,
            a,
            lda,
            &keep,
            c,
            ldc);
      });
}

/// C := alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C, or with ^H and the
/// conjugate of alpha.
/// @param B beta's type.
template <bool kHermitian, typename T, typename B, typename Compute>
cublasStatus_t syr2k(
    const char* function,
    Compute compute,
    cublasHandle_t handle,
    cublasFillMode_t fill,
    cublasOperation_t operation,
    int n,
    int k,
    const T* alpha,
    const T* a,
    int lda,
    const T* b,
    int ldb,
    const B* beta,
    T* c,
    int ldc) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!is_update<T>(kHermitian, fill, operation, n, k, ldc) ||
      !fits(operation, n, k, lda) || !fits(operation, n, k, ldb) ||
      alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> factor(handle, alpha);
  const Scalar<B> old(handle, beta);
  return submit(
      function,
      handle,
      {{a, factor_bytes<T>(operation, n, k, lda)},
       {b, factor_bytes<T>(operation, n, k, ldb)},
       {c, matrix_bytes(n, n, ldc, sizeof(T))},
       factor.extent(),
       old.extent()},
      [=] {
        reads({factor.extent(), old.extent()});
        const T by = factor.get();
        const B keep = old.get();
        const int depth = by == T{} ? 0 : k;
        reads(
            {factor_read<T>(a, operation, n, depth, lda),
             factor_read<T>(b, operation, n, depth, ldb),
             triangle_read(
                 c, is_upper(fill), keep == B{} ? 0 : n, ldc, sizeof(T))});
        compute(
            host::uplo(fill),
            transpose<T>(operation),
            n,
            k,
            &by,
            a,
            lda,
            b,
            ldb,
            &keep,
            c,
            ldc);
      });
}

/// C := alpha op(A) B, or B op(A), with a triangular A. C may be B.
template <typename T>
cublasStatus_t trmm(
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
    const T* b,
    int ldb,
    T* c,
    int ldc) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  if (!host::known(side) || !host::known(fill) || !host::known(operation) ||
      !host::known(diagonal) || m < 0 || n < 0 || lda < std::max(1, order) ||
      ldb < std::max(1, m) || ldc < std::max(1, m) || (b == c && ldb != ldc) ||
      alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (m == 0 || n == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const Scalar<T> factor(handle, alpha);
  return submit(
      function,
      handle,
      {{a, matrix_bytes(order, order, lda, sizeof(T))},
       {b, matrix_bytes(m, n, ldb, sizeof(T))},
       {c, matrix_bytes(m, n, ldc, sizeof(T))},
       factor.extent()},
      [=] {
        reads({factor.extent()});
        const bool is_used = factor.get() != T{};
        reads(
            {triangle_read(
                 a,
                 is_upper(fill),
                 is_used ? order : 0,
                 lda,
                 sizeof(T),
                 diagonal == CUBLAS_DIAG_UNIT),
             matrix_read(b, is_used ? m : 0, n, ldb, sizeof(T))});
        for (std::ptrdiff_t j = 0; b != c && j < n; ++j) {
          std::copy_n(b + j * ldb, m, c + j * ldc);
        }
        trmm(
            host::side(side),
            host::uplo(fill),
            host::transpose(operation),
            host::diag(diagonal),
            m,
            n,
            factor.get(),
            a,
            lda,
            c,
            ldc);
      });
}

/// C := alpha op(A) op(B)^T + beta C, or ^H, of which the caller knows that it
/// is symmetric, or Hermitian: one triangle of it. As the host's syr2k.
template <bool kHermitian, typename T, typename B>
void one_of_two(
    CBLAS_UPLO fill,
    CBLAS_TRANSPOSE operation,
    int n,
    int k,
    const T* alpha,
    const T* a,
    int lda,
    const T* b,
    int ldb,
    const B* beta,
    T* c,
    int ldc) {
  const bool is_plain = operation == CblasNoTrans;
  const auto other = kHermitian ? CblasConjTrans : CblasTrans;
  std::vector<T> product(static_cast<std::size_t>(n) * n);
  host::gemm(
      operation,
      is_plain ? other : CblasNoTrans,
      n,
      n,
      k,
      *alpha,
      a,
      lda,
      b,
      ldb,
      T{},
      product.data(),
      std::max(1, n));
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    const std::ptrdiff_t begin = fill == CblasLower ? j : 0;
    const std::ptrdiff_t end = fill == CblasLower ? n : j + 1;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      T& element = c[j * ldc + i];
      // What is multiplied by zero is not read, be it NaN.
      element = product[j * n + i] + (*beta == B{} ? T{} : *beta * element);
      if (kHermitian && i == j) {
        element = std::real(element);
      }
    }
  }
}

constexpr auto Ssyrkx = one_of_two<false, float, float>;
constexpr auto Dsyrkx = one_of_two<false, double, double>;
constexpr auto Csyrkx = one_of_two<false, Complex64, Complex64>;
constexpr auto Zsyrkx = one_of_two<false, Complex128, Complex128>;
constexpr auto Cherkx = one_of_two<true, Complex64, float>;
constexpr auto Zherkx = one_of_two<true, Complex128, double>;

} // namespace
} // namespace accelerator::blas

using namespace accelerator::blas;

ENTRY_POINT_WITH(13, cublasSsymm, Ssymm, symm)
ENTRY_POINT_WITH(13, cublasDsymm, Dsymm, symm)
ENTRY_POINT_WITH(13, cublasCsymm, Csymm, symm)
ENTRY_POINT_WITH(13, cublasZsymm, Zsymm, symm)
ENTRY_POINT_WITH(13, cublasChemm, Chemm, symm)
ENTRY_POINT_WITH(13, cublasZhemm, Zhemm, symm)

ENTRY_POINT_WITH(11, cublasSsyrk, Ssyrk, syrk<false>)
ENTRY_POINT_WITH(11, cublasDsyrk, Dsyrk, syrk<false>)
ENTRY_POINT_WITH(11, cublasCsyrk, Csyrk, syrk<false>)
ENTRY_POINT_WITH(11, cublasZsyrk, Zsyrk, syrk<false>)
ENTRY_POINT_WITH(11, cublasCherk, Cherk, syrk<true>)
ENTRY_POINT_WITH(11, cublasZherk, Zherk, syrk<true>)

ENTRY_POINT_WITH(13, cublasSsyr2k, Ssyr2k, syr2k<false>)
ENTRY_POINT_WITH(13, cublasDsyr2k, Dsyr2k, syr2k<false>)
ENTRY_POINT_WITH(13, cublasCsyr2k, Csyr2k, syr2k<false>)
ENTRY_POINT_WITH(13, cublasZsyr2k, Zsyr2k, syr2k<false>)
ENTRY_POINT_WITH(13, cublasCher2k, Cher2k, syr2k<true>)
ENTRY_POINT_WITH(13, cublasZher2k, Zher2k, syr2k<true>)

ENTRY_POINT_WITH(13, cublasSsyrkx, Ssyrkx, syr2k<false>)
ENTRY_POINT_WITH(13, cublasDsyrkx, Dsyrkx, syr2k<false>)
ENTRY_POINT_WITH(13, cublasCsyrkx, Csyrkx, syr2k<false>)
ENTRY_POINT_WITH(13, cublasZsyrkx, Zsyrkx, syr2k<false>)
ENTRY_POINT_WITH(13, cublasCherkx, Cherkx, syr2k<true>)
ENTRY_POINT_WITH(13, cublasZherkx, Zherkx, syr2k<true>)

ENTRY_POINTS(14, cublas, trmm, trmm)

extern "C" {

// clang-format off
// Of single complex numbers with given types, and computed with three products of real matrices
// for one of complex ones (3m), which is not done here.
#define ACCEL_SYRK_EX(name, factor, type, hermitian, compute)                                    \
  cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t operation, \
      int n, int k, const factor* alpha, const void* a, cudaDataType a_type, int lda,            \
      const factor* beta, void* c, cudaDataType c_type, int ldc) {                               \
    if (handle != nullptr && (a_type != CUDA_C_32F || c_type != CUDA_C_32F)) {                   \
      return CUBLAS_STATUS_NOT_SUPPORTED;                                                        \
    }                                                                                            \
    return syrk<hermitian>(#name, compute, handle, fill, operation, n, k, (const type*)alpha,    \
        (const Complex64*)a, lda, (const type*)beta, (Complex64*)c, ldc);                        \
  }
ACCEL_SYRK_EX(cublasCsyrkEx, cuComplex, Complex64, false, Csyrk)
ACCEL_SYRK_EX(cublasCsyrk3mEx, cuComplex, Complex64, false, Csyrk)
ACCEL_SYRK_EX(cublasCherkEx, float, float, true, Cherk)
ACCEL_SYRK_EX(cublasCherk3mEx, float, float, true, Cherk)
#undef ACCEL_SYRK_EX

// clang-format on

} // extern "C"
