// Symmetric and Hermitian matrices as tridiagonal ones between orthogonal
// matrices, and what is done with these.
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

template <typename T>
cusolverStatus_t size_sytrd_work(
    const char*,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    const T*,
    int lda,
    const RealOf<T>*,
    const RealOf<T>*,
    const T*,
    int* size) {
  return answer_work_size(
      check(handle, {is_triangle(triangle), is_matrix(n, n, lda)}),
      sizeof(T),
      size);
}

template <typename T>
cusolverStatus_t sytrd(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    RealOf<T>* diagonal,
    RealOf<T>* off_diagonal,
    T* tau,
    T*,
    int work_size,
    int* info) {
  return submit<T>(
      function,
      handle,
      {is_triangle(triangle),
       is_matrix(n, n, lda),
       work_size >= kWorkSize,
       info != nullptr},
      {matrix(a, n, n, lda),
       vector(diagonal, n),
       vector(off_diagonal, n - 1),
       vector(tau, n - 1),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({triangle_read(a, triangle, n, lda)});
        *info = lapack.sytrd(
            letter(triangle), n, a, lda, diagonal, off_diagonal, tau);
        return true;
      });
}

template <typename T>
cusolverStatus_t size_orgtr_work(
    const char*,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    const T*,
    int lda,
    const T*,
    int* size) {
  return answer_work_size(
      check(handle, {is_triangle(triangle), is_matrix(n, n, lda)}),
      sizeof(T),
      size);
}

template <typename T>
cusolverStatus_t orgtr(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    const T* tau,
    T*,
    int work_size,
    int* info) {
  return submit<T>(
      function,
      handle,
      {is_triangle(triangle),
       is_matrix(n, n, lda),
       work_size >= kWorkSize,
       info != nullptr},
      {matrix(a, n, n, lda), vector(tau, n - 1), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({triangle_read(a, triangle, n, lda, true), vector(tau, n - 1)});
        *info = lapack.orgtr(letter(triangle), n, a, lda, tau);
        return true;
      });
}

template <typename T>
bool is_ormtr(
    cublasSideMode_t side,
    cublasFillMode_t triangle,
    cublasOperation_t operation,
    int rows,
    int columns,
    int lda,
    int ldc) {
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  return (is_left || side == CUBLAS_SIDE_RIGHT) && is_triangle(triangle) &&
      is_operation(operation) && !(kIsComplex<T> && operation == CUBLAS_OP_T) &&
      is_matrix(rows, columns, ldc) &&
      lda >= std::max(1, is_left ? rows : columns);
}

template <typename T>
cusolverStatus_t size_ormtr_work(
    const char*,
    cusolverDnHandle_t handle,
    cublasSideMode_t side,
    cublasFillMode_t triangle,
    cublasOperation_t operation,
    int rows,
    int columns,
    const T*,
    int lda,
    const T*,
    const T*,
    int ldc,
    int* size) {
  return answer_work_size(
      check(
          handle,
          {is_ormtr<T>(side, triangle, operation, rows, columns, lda, ldc)}),
      sizeof(T),
      size);
}

template <typename T>
cusolverStatus_t ormtr(
    const char* function,
    cusolverDnHandle_t handle,
    cublasSideMode_t side,
    cublasFillMode_t triangle,
    cublasOperation_t operation,
    int rows,
    int columns,
    const T* a,
    int lda,
    const T* tau,
    T* c,
    int ldc,
    T*,
    int work_size,
    int* info) {
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  const int order = is_left ? rows : columns;
  const char transposed = kIsComplex<T> ? 'C' : 'T';
  return submit<T>(
      function,
      handle,
      {is_ormtr<T>(side, triangle, operation, rows, columns, lda, ldc),
       work_size >= kWorkSize,
       info != nullptr},
      {matrix(a, order, order, lda),
       vector(tau, order - 1),
       matrix(c, rows, columns, ldc),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads(
            {triangle_read(a, triangle, order, lda, true),
             vector(tau, order - 1),
             matrix_read(c, rows, columns, ldc)});
        *info = lapack.ormtr(
            is_left ? 'L' : 'R',
            letter(triangle),
            operation == CUBLAS_OP_N ? 'N' : transposed,
            rows,
            columns,
            a,
            lda,
            tau,
            c,
            ldc);
        return true;
      });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

ENTRY_POINTS_REAL(9, cusolverDn, sytrd_bufferSize, size_sytrd_work)
ENTRY_POINTS_COMPLEX(9, cusolverDn, hetrd_bufferSize, size_sytrd_work)
ENTRY_POINTS_REAL(11, cusolverDn, sytrd, sytrd)
ENTRY_POINTS_COMPLEX(11, cusolverDn, hetrd, sytrd)
ENTRY_POINTS_REAL(7, cusolverDn, orgtr_bufferSize, size_orgtr_work)
ENTRY_POINTS_COMPLEX(7, cusolverDn, ungtr_bufferSize, size_orgtr_work)
ENTRY_POINTS_REAL(9, cusolverDn, orgtr, orgtr)
ENTRY_POINTS_COMPLEX(9, cusolverDn, ungtr, orgtr)
ENTRY_POINTS_REAL(12, cusolverDn, ormtr_bufferSize, size_ormtr_work)
ENTRY_POINTS_COMPLEX(12, cusolverDn, unmtr_bufferSize, size_ormtr_work)
ENTRY_POINTS_REAL(14, cusolverDn, ormtr, ormtr)
ENTRY_POINTS_COMPLEX(14, cusolverDn, unmtr, ormtr)
