// Cholesky factorisations, and inverses of triangles.
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

/// Of factors and inverses.
template <typename T, typename... Size>
cusolverStatus_t size_triangle_work(
    const char*,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    const T*,
    int lda,
    Size... size) {
  return answer_work_size(
      check(handle, {is_triangle(triangle), is_matrix(n, n, lda)}),
      sizeof(T),
      size...);
}

template <typename T>
cusolverStatus_t potrf(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
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
      {matrix(a, n, n, lda), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({triangle_read(a, triangle, n, lda)});
        *info = lapack.potrf(letter(triangle), n, a, lda);
        return true;
      });
}

template <typename T>
cusolverStatus_t potrs(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    int columns,
    const T* a,
    int lda,
    T* b,
    int ldb,
    int* info) {
  return submit<T>(
      function,
      handle,
      {is_triangle(triangle),
       is_matrix(n, n, lda),
       is_matrix(n, columns, ldb),
       info != nullptr},
      {matrix(a, n, n, lda), matrix(b, n, columns, ldb), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads(
            {triangle_read(a, triangle, n, lda),
             matrix_read(b, n, columns, ldb)});
        *info = lapack.potrs(letter(triangle), n, columns, a, lda, b, ldb);
        return true;
      });
}

template <typename T>
cusolverStatus_t size_trtri_work(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    cublasDiagType_t,
    int n,
    T* a,
    int lda,
    std::size_t* device_bytes,
    std::size_t* host_bytes) {
  return size_triangle_work<T>(
      function, handle, triangle, n, a, lda, device_bytes, host_bytes);
}

template <typename T>
cusolverStatus_t trtri(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    cublasDiagType_t diagonal,
    int n,
    T* a,
    int lda,
    T*,
    int work_size,
    int* info) {
  const bool is_unit = diagonal == CUBLAS_DIAG_UNIT;
  return submit<T>(
      function,
      handle,
      {is_triangle(triangle),
       is_unit || diagonal == CUBLAS_DIAG_NON_UNIT,
       is_matrix(n, n, lda),
       work_size >= kWorkSize,
       info != nullptr},
      {matrix(a, n, n, lda), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({triangle_read(a, triangle, n, lda, is_unit)});
        *info = lapack.trtri(letter(triangle), is_unit ? 'U' : 'N', n, a, lda);
        return true;
      });
}

template <typename T>
cusolverStatus_t potri(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
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
      {matrix(a, n, n, lda), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({triangle_read(a, triangle, n, lda)});
        *info = lapack.potri(letter(triangle), n, a, lda);
        return true;
      });
}

template <typename T>
cusolverStatus_t potrf_batched(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* const a[],
    int lda,
    int* info,
    int count) {
  return submit<T>(
      function,
      handle,
      {is_triangle(triangle), is_matrix(n, n, lda), count >= 0},
      {vector(a, count), vector(info, count)},
      [=](const Routines<T>& lapack) {
        reads({vector(a, count)});
        for (int i = 0; i < count; ++i) {
          if (!accessible(function, {matrix(a[i], n, n, lda)})) {
            return false;
          }
          reads({triangle_read(a[i], triangle, n, lda)});
          info[i] = lapack.potrf(letter(triangle), n, a[i], lda);
        }
        return true;
      });
}

template <typename T>
cusolverStatus_t potrs_batched(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    int columns,
    const T* const a[],
    int lda,
    T* const b[],
    int ldb,
    int* info,
    int count) {
  return submit<T>(
      function,
      handle,
      {is_triangle(triangle),
       is_matrix(n, n, lda),
       is_matrix(n, columns, ldb),
       columns <= 1, // as cuSOLVER's
       count >= 0,
       info != nullptr},
      {vector(a, count), vector(b, count), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({vector(a, count), vector(b, count)});
        *info = 0;
        for (int i = 0; i < count; ++i) {
          if (!accessible(
                  function,
                  {matrix(a[i], n, n, lda), matrix(b[i], n, columns, ldb)})) {
            return false;
          }
          reads(
              {triangle_read(a[i], triangle, n, lda),
               matrix_read(b[i], n, columns, ldb)});
          lapack.potrs(letter(triangle), n, columns, a[i], lda, b[i], ldb);
        }
        return true;
      });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

ENTRY_POINTS(6, cusolverDn, potrf_bufferSize, size_triangle_work)
ENTRY_POINTS(8, cusolverDn, potrf, potrf)
ENTRY_POINTS(9, cusolverDn, potrs, potrs)
ENTRY_POINTS(6, cusolverDn, potri_bufferSize, size_triangle_work)
ENTRY_POINTS(8, cusolverDn, potri, potri)
ENTRY_POINTS(7, cusolverDn, potrfBatched, potrf_batched)
ENTRY_POINTS(10, cusolverDn, potrsBatched, potrs_batched)

GENERIC_ENTRY_POINT(10, cusolverDnXpotrf_bufferSize, size_triangle_work)
GENERIC_ENTRY_POINT(13, cusolverDnXpotrf, potrf)
GENERIC_ENTRY_POINT(12, cusolverDnXpotrs, potrs)
GENERIC_ENTRY_POINT(9, cusolverDnXtrtri_bufferSize, size_trtri_work)
GENERIC_ENTRY_POINT(12, cusolverDnXtrtri, trtri)
