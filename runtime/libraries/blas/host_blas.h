// The host's BLAS and LAPACK (OpenBLAS), overloaded by element type. Matrices
// are column-major on both sides.
#pragma once

#include <cblas.h>
#include <cublas_v2.h>

#include "runtime/libraries/blas/numeric.h"

namespace accelerator::blas::host {

/// Whether cuBLAS has what a caller asks for. The functions below take any
/// other number for one that it has, so that it is to be refused before.
/// CUBLAS_OP_CONJG is in cuBLAS's header as a placeholder only.
inline bool known(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T ||
      operation == CUBLAS_OP_C;
}
inline bool known(cublasSideMode_t mode) {
  return mode == CUBLAS_SIDE_LEFT || mode == CUBLAS_SIDE_RIGHT;
}
/// Of a triangle, which CUBLAS_FILL_MODE_FULL does not name.
inline bool known(cublasFillMode_t mode) {
  return mode == CUBLAS_FILL_MODE_LOWER || mode == CUBLAS_FILL_MODE_UPPER;
}
inline bool known(cublasDiagType_t type) {
  return type == CUBLAS_DIAG_NON_UNIT || type == CUBLAS_DIAG_UNIT;
}

inline CBLAS_TRANSPOSE transpose(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? CblasNoTrans
      : operation == CUBLAS_OP_T  ? CblasTrans
                                  : CblasConjTrans;
}
inline CBLAS_SIDE side(cublasSideMode_t mode) {
  return mode == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}
inline CBLAS_UPLO uplo(cublasFillMode_t mode) {
  return mode == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}
inline CBLAS_DIAG diag(cublasDiagType_t type) {
  return type == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}

// clang-format off
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
    float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasColMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
    double alpha, const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasColMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
    Complex64 alpha, const Complex64* a, int lda, const Complex64* b, int ldb, Complex64 beta, Complex64* c, int ldc) {
  cblas_cgemm(CblasColMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
    Complex128 alpha, const Complex128* a, int lda, const Complex128* b, int ldb, Complex128 beta, Complex128* c, int ldc) {
  cblas_zgemm(CblasColMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

inline void gemv(CBLAS_TRANSPOSE t, int m, int n, float alpha, const float* a, int lda, const float* x, int incx, float beta, float* y, int incy) {
  cblas_sgemv(CblasColMajor, t, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, double alpha, const double* a, int lda, const double* x, int incx, double beta, double* y, int incy) {
  cblas_dgemv(CblasColMajor, t, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, Complex64 alpha, const Complex64* a, int lda, const Complex64* x, int incx, Complex64 beta, Complex64* y, int incy) {
  cblas_cgemv(CblasColMajor, t, m, n, &alpha, a, lda, x, incx, &beta, y, incy);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, Complex128 alpha, const Complex128* a, int lda, const Complex128* x, int incx, Complex128 beta, Complex128* y, int incy) {
  cblas_zgemv(CblasColMajor, t, m, n, &alpha, a, lda, x, incx, &beta, y, incy);
}

inline void trsm(CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int m, int n, float alpha, const float* a, int lda, float* b, int ldb) {
  cblas_strsm(CblasColMajor, s, u, t, d, m, n, alpha, a, lda, b, ldb);
}
inline void trsm(CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int m, int n, double alpha, const double* a, int lda, double* b, int ldb) {
  cblas_dtrsm(CblasColMajor, s, u, t, d, m, n, alpha, a, lda, b, ldb);
}
inline void trsm(CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int m, int n, Complex64 alpha, const Complex64* a, int lda, Complex64* b, int ldb) {
  cblas_ctrsm(CblasColMajor, s, u, t, d, m, n, &alpha, a, lda, b, ldb);
}
inline void trsm(CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int m, int n, Complex128 alpha, const Complex128* a, int lda, Complex128* b, int ldb) {
  cblas_ztrsm(CblasColMajor, s, u, t, d, m, n, &alpha, a, lda, b, ldb);
}

inline void axpy(int n, float alpha, const float* x, int incx, float* y, int incy) { cblas_saxpy(n, alpha, x, incx, y, incy); }
inline void axpy(int n, double alpha, const double* x, int incx, double* y, int incy) { cblas_daxpy(n, alpha, x, incx, y, incy); }
inline void axpy(int n, Complex64 alpha, const Complex64* x, int incx, Complex64* y, int incy) { cblas_caxpy(n, &alpha, x, incx, y, incy); }
inline void axpy(int n, Complex128 alpha, const Complex128* x, int incx, Complex128* y, int incy) { cblas_zaxpy(n, &alpha, x, incx, y, incy); }

inline float nrm2(int n, const float* x, int incx) { return cblas_snrm2(n, x, incx); }
inline double nrm2(int n, const double* x, int incx) { return cblas_dnrm2(n, x, incx); }
inline float nrm2(int n, const Complex64* x, int incx) { return cblas_scnrm2(n, x, incx); }
inline double nrm2(int n, const Complex128* x, int incx) { return cblas_dznrm2(n, x, incx); }
inline float asum(int n, const float* x, int incx) { return cblas_sasum(n, x, incx); }
inline double asum(int n, const double* x, int incx) { return cblas_dasum(n, x, incx); }
inline float asum(int n, const Complex64* x, int incx) { return cblas_scasum(n, x, incx); }
inline double asum(int n, const Complex128* x, int incx) { return cblas_dzasum(n, x, incx); }
// clang-format on

/// A complex number's conjugate, a real number as it is.
template <typename T>
T conjugate(T value) {
  return value;
}
template <typename T>
std::complex<T> conjugate(std::complex<T> value) {
  return std::conj(value);
}

} // namespace accelerator::blas::host
