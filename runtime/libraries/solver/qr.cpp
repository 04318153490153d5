// QR factorisations, and what is done with their reflectors.
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

template <typename T>
cusolverStatus_t size_geqrf_work(
    const char*,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    T*,
    int lda,
    int* size) {
  return answer_work_size(
      check(handle, {is_matrix(rows, columns, lda)}), sizeof(T), size);
}

template <typename T>
cusolverStatus_t size_geqrf_work(
    const char*,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    const T*,
    int lda,
    const T*,
    std::size_t* device_bytes,
    std::size_t* host_bytes) {
  return answer_work_size(
      check(handle, {is_matrix(rows, columns, lda)}),
      sizeof(T),
      device_bytes,
      host_bytes);
}

template <typename T>
cusolverStatus_t geqrf(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    T* a,
    int lda,
    T* tau,
    T*,
    int work_size,
    int* info) {
  return submit<T>(
      function,
      handle,
      {is_matrix(rows, columns, lda), work_size >= kWorkSize, info != nullptr},
      {matrix(a, rows, columns, lda),
       vector(tau, std::min(rows, columns)),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({matrix_read(a, rows, columns, lda)});
        *info = lapack.geqrf(rows, columns, a, lda, tau);
        return true;
      });
}

bool is_orgqr(int rows, int columns, int reflectors, int lda) {
  return is_matrix(rows, columns, lda) && columns <= rows && reflectors >= 0 &&
      reflectors <= columns;
}

template <typename T>
cusolverStatus_t size_orgqr_work(
    const char*,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    int reflectors,
    const T*,
    int lda,
    const T*,
    int* size) {
  return answer_work_size(
      check(handle, {is_orgqr(rows, columns, reflectors, lda)}),
      sizeof(T),
      size);
}

template <typename T>
cusolverStatus_t orgqr(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    int reflectors,
    T* a,
    int lda,
    const T* tau,
    T*,
    int work_size,
    int* info) {
  return submit<T>(
      function,
      handle,
      {is_orgqr(rows, columns, reflectors, lda),
       work_size >= kWorkSize,
       info != nullptr},
      {matrix(a, rows, columns, lda), vector(tau, reflectors), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads(
            {reflectors_read(a, rows, reflectors, lda),
             vector(tau, reflectors)});
        *info = lapack.orgqr(rows, columns, reflectors, a, lda, tau);
        return true;
      });
}

template <typename T>
bool is_ormqr(
    cublasSideMode_t side,
    cublasOperation_t operation,
    int rows,
    int columns,
    int reflectors,
    int lda,
    int ldc) {
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  const int order = is_left ? rows : columns;
  return (is_left || side == CUBLAS_SIDE_RIGHT) && is_operation(operation) &&
      !(kIsComplex<T> && operation == CUBLAS_OP_T) &&
      is_matrix(rows, columns, ldc) && reflectors >= 0 && reflectors <= order &&
      lda >= std::max(1, order);
}

template <typename T>
cusolverStatus_t size_ormqr_work(
    const char*,
    cusolverDnHandle_t handle,
    cublasSideMode_t side,
    cublasOperation_t operation,
    int rows,
    int columns,
    int reflectors,
    const T*,
    int lda,
    const T*,
    const T*,
    int ldc,
    int* size) {
  return answer_work_size(
      check(
          handle,
          {is_ormqr<T>(side, operation, rows, columns, reflectors, lda, ldc)}),
      sizeof(T),
      size);
}

template <typename T>
cusolverStatus_t ormqr(
    const char* function,
    cusolverDnHandle_t handle,
    cublasSideMode_t side,
    cublasOperation_t operation,
    int rows,
    int columns,
    int reflectors,
    const T* a,
    int lda,
    const T* tau,
    T* c,
    int ldc,
    T*,
    int work_size,
    int* info) {
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  const char transposed = kIsComplex<T> ? 'C' : 'T';
  return submit<T>(
      function,
      handle,
      {is_ormqr<T>(side, operation, rows, columns, reflectors, lda, ldc),
       work_size >= kWorkSize,
       info != nullptr},
      {matrix(a, is_left ? rows : columns, reflectors, lda),
       vector(tau, reflectors),
       matrix(c, rows, columns, ldc),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads(
            {reflectors_read(a, is_left ? rows : columns, reflectors, lda),
             vector(tau, reflectors),
             matrix_read(c, rows, columns, ldc)});
        *info = lapack.ormqr(
            is_left ? 'L' : 'R',
            operation == CUBLAS_OP_N ? 'N' : transposed,
            rows,
            columns,
            reflectors,
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

ENTRY_POINTS(6, cusolverDn, geqrf_bufferSize, size_geqrf_work)
ENTRY_POINTS(9, cusolverDn, geqrf, geqrf)
ENTRY_POINTS_REAL(8, cusolverDn, orgqr_bufferSize, size_orgqr_work)
ENTRY_POINTS_COMPLEX(8, cusolverDn, ungqr_bufferSize, size_orgqr_work)
ENTRY_POINTS_REAL(10, cusolverDn, orgqr, orgqr)
ENTRY_POINTS_COMPLEX(10, cusolverDn, ungqr, orgqr)
ENTRY_POINTS_REAL(12, cusolverDn, ormqr_bufferSize, size_ormqr_work)
ENTRY_POINTS_COMPLEX(12, cusolverDn, unmqr_bufferSize, size_ormqr_work)
ENTRY_POINTS_REAL(14, cusolverDn, ormqr, ormqr)
ENTRY_POINTS_COMPLEX(14, cusolverDn, unmqr, ormqr)

GENERIC_ENTRY_POINT(12, cusolverDnXgeqrf_bufferSize, size_geqrf_work)
GENERIC_ENTRY_POINT(15, cusolverDnXgeqrf, geqrf)
