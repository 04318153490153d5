// Cholesky factorisations, and inverses of triangles.
#include "accelerator/runtime/solver/dense.h"

namespace accelerator::solver {

template <typename T>
cusolverStatus_t potrf(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    int* info) {
  if (const auto status = check(
          handle,
          {is_triangle(triangle), is_matrix(n, n, lda), info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return submit<T>(
      function,
      handle,
      {matrix(a, n, n, lda), vector(info, 1)},
      [=](const Routines<T>& lapack) {
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
  if (const auto status = check(
          handle,
          {is_triangle(triangle),
           is_matrix(n, n, lda),
           is_matrix(n, columns, ldb),
           info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return submit<T>(
      function,
      handle,
      {matrix(a, n, n, lda), matrix(b, n, columns, ldb), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        *info = lapack.potrs(letter(triangle), n, columns, a, lda, b, ldb);
        return true;
      });
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
    int* info) {
  const bool is_unit = diagonal == CUBLAS_DIAG_UNIT;
  if (const auto status = check(
          handle,
          {is_triangle(triangle),
           is_unit || diagonal == CUBLAS_DIAG_NON_UNIT,
           is_matrix(n, n, lda),
           info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return submit<T>(
      function,
      handle,
      {matrix(a, n, n, lda), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        *info = lapack.trtri(letter(triangle), is_unit ? 'U' : 'N', n, a, lda);
        return true;
      });
}

namespace {

template <typename T>
cusolverStatus_t potri(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    int work_size,
    int* info) {
  if (const auto status = check(
          handle,
          {is_triangle(triangle),
           is_matrix(n, n, lda),
           work_size >= kWorkSize,
           info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return submit<T>(
      function,
      handle,
      {matrix(a, n, n, lda), vector(info, 1)},
      [=](const Routines<T>& lapack) {
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
  if (const auto status = check(
          handle, {is_triangle(triangle), is_matrix(n, n, lda), count >= 0});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return submit<T>(
      function,
      handle,
      {vector(a, count), vector(info, count)},
      [=](const Routines<T>& lapack) {
        for (int i = 0; i < count; ++i) {
          if (!accessible(function, {matrix(a[i], n, n, lda)})) {
            return false;
          }
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
  // cuSOLVER's, too, has but one column.
  if (const auto status = check(
          handle,
          {is_triangle(triangle),
           is_matrix(n, n, lda),
           is_matrix(n, columns, ldb),
           columns <= 1,
           count >= 0,
           info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return submit<T>(
      function,
      handle,
      {vector(a, count), vector(b, count), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        *info = 0;
        for (int i = 0; i < count; ++i) {
          if (!accessible(
                  function,
                  {matrix(a[i], n, n, lda), matrix(b[i], n, columns, ldb)})) {
            return false;
          }
          lapack.potrs(letter(triangle), n, columns, a[i], lda, b[i], ldb);
        }
        return true;
      });
}

} // namespace

#define ACCEL_INSTANTIATE(T)                                                  \
  template cusolverStatus_t potrf<T>(                                         \
      const char*, cusolverDnHandle_t, cublasFillMode_t, int, T*, int, int*); \
  template cusolverStatus_t potrs<T>(                                         \
      const char*,                                                            \
      cusolverDnHandle_t,                                                     \
      cublasFillMode_t,                                                       \
      int,                                                                    \
      int,                                                                    \
      const T*,                                                               \
      int,                                                                    \
      T*,                                                                     \
      int,                                                                    \
      int*);                                                                  \
  template cusolverStatus_t trtri<T>(                                         \
      const char*,                                                            \
      cusolverDnHandle_t,                                                     \
      cublasFillMode_t,                                                       \
      cublasDiagType_t,                                                       \
      int,                                                                    \
      T*,                                                                     \
      int,                                                                    \
      int*);
ACCEL_INSTANTIATE(float)
ACCEL_INSTANTIATE(double)
ACCEL_INSTANTIATE(std::complex<float>)
ACCEL_INSTANTIATE(std::complex<double>)
#undef ACCEL_INSTANTIATE

} // namespace accelerator::solver

using namespace accelerator::solver;

extern "C" {

#define ACCEL_API(L, T, Api)                                                 \
  cusolverStatus_t cusolverDn##L##potrf_bufferSize(                          \
      cusolverDnHandle_t handle,                                             \
      cublasFillMode_t triangle,                                             \
      int n,                                                                 \
      Api*,                                                                  \
      int lda,                                                               \
      int* size) {                                                           \
    return answer_work_size(                                                 \
        check(handle, {is_triangle(triangle), is_matrix(n, n, lda)}), size); \
  }                                                                          \
  cusolverStatus_t cusolverDn##L##potrf(                                     \
      cusolverDnHandle_t handle,                                             \
      cublasFillMode_t triangle,                                             \
      int n,                                                                 \
      Api* a,                                                                \
      int lda,                                                               \
      Api*,                                                                  \
      int size,                                                              \
      int* info) {                                                           \
    const auto status = check(handle, {size >= kWorkSize});                  \
    return status != CUSOLVER_STATUS_SUCCESS                                 \
        ? status                                                             \
        : potrf(__func__, handle, triangle, n, as<T>(a), lda, info);         \
  }                                                                          \
  cusolverStatus_t cusolverDn##L##potrs(                                     \
      cusolverDnHandle_t handle,                                             \
      cublasFillMode_t triangle,                                             \
      int n,                                                                 \
      int columns,                                                           \
      const Api* a,                                                          \
      int lda,                                                               \
      Api* b,                                                                \
      int ldb,                                                               \
      int* info) {                                                           \
    return potrs(                                                            \
        __func__,                                                            \
        handle,                                                              \
        triangle,                                                            \
        n,                                                                   \
        columns,                                                             \
        as<const T>(a),                                                      \
        lda,                                                                 \
        as<T>(b),                                                            \
        ldb,                                                                 \
        info);                                                               \
  }                                                                          \
  cusolverStatus_t cusolverDn##L##potri_bufferSize(                          \
      cusolverDnHandle_t handle,                                             \
      cublasFillMode_t triangle,                                             \
      int n,                                                                 \
      Api*,                                                                  \
      int lda,                                                               \
      int* size) {                                                           \
    return answer_work_size(                                                 \
        check(handle, {is_triangle(triangle), is_matrix(n, n, lda)}), size); \
  }                                                                          \
  cusolverStatus_t cusolverDn##L##potri(                                     \
      cusolverDnHandle_t handle,                                             \
      cublasFillMode_t triangle,                                             \
      int n,                                                                 \
      Api* a,                                                                \
      int lda,                                                               \
      Api*,                                                                  \
      int size,                                                              \
      int* info) {                                                           \
    return potri(__func__, handle, triangle, n, as<T>(a), lda, size, info);  \
  }                                                                          \
  cusolverStatus_t cusolverDn##L##potrfBatched(                              \
      cusolverDnHandle_t handle,                                             \
      cublasFillMode_t triangle,                                             \
      int n,                                                                 \
      Api* a[],                                                              \
      int lda,                                                               \
      int* info,                                                             \
      int count) {                                                           \
    return potrf_batched(                                                    \
        __func__, handle, triangle, n, as<T*>(a), lda, info, count);         \
  }                                                                          \
  cusolverStatus_t cusolverDn##L##potrsBatched(                              \
      cusolverDnHandle_t handle,                                             \
      cublasFillMode_t triangle,                                             \
      int n,                                                                 \
      int columns,                                                           \
      Api* a[],                                                              \
      int lda,                                                               \
      Api* b[],                                                              \
      int ldb,                                                               \
      int* info,                                                             \
      int count) {                                                           \
    return potrs_batched<T>(                                                 \
        __func__,                                                            \
        handle,                                                              \
        triangle,                                                            \
        n,                                                                   \
        columns,                                                             \
        as<T*>(a),                                                           \
        lda,                                                                 \
        as<T*>(b),                                                           \
        ldb,                                                                 \
        info,                                                                \
        count);                                                              \
  }
ACCEL_API(S, float, float)
ACCEL_API(D, double, double)
ACCEL_API(C, std::complex<float>, cuComplex)
ACCEL_API(Z, std::complex<double>, cuDoubleComplex)
#undef ACCEL_API

} // extern "C"
