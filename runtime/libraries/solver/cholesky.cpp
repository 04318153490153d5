// Cholesky factorisations, and inverses of triangles.
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

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
        reads(
            {triangle_read(a, triangle, n, lda),
             matrix_read(b, n, columns, ldb)});
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

extern "C" {

#define ACCEL_API(L, T, Api, Real)                                           \
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
ACCEL_FOR_TYPES(ACCEL_API)
#undef ACCEL_API

// The same for matrices of 64-bit sizes, whose types are arguments.

cusolverStatus_t cusolverDnXpotrf_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cublasFillMode_t triangle,
    int64_t n,
    cudaDataType type,
    const void*,
    int64_t lda,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(handle, type, {compute_type}, {n, lda}, [&](auto zero) {
    return answer<decltype(zero)>(
        check(
            handle,
            {is_triangle(triangle),
             is_matrix(narrow(n), narrow(n), narrow(lda))}),
        device_bytes,
        host_bytes);
  });
}

cusolverStatus_t cusolverDnXpotrf(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cublasFillMode_t triangle,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType compute_type,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle, type, {compute_type}, {n, lda}, device_bytes, [&](auto zero) {
        using T = decltype(zero);
        return potrf(
            "cusolverDnXpotrf",
            handle,
            triangle,
            narrow(n),
            as<T>(a),
            narrow(lda),
            info);
      });
}

cusolverStatus_t cusolverDnXpotrs(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cublasFillMode_t triangle,
    int64_t n,
    int64_t columns,
    cudaDataType type,
    const void* a,
    int64_t lda,
    cudaDataType type_b,
    void* b,
    int64_t ldb,
    int* info) {
  return dispatch(
      handle, type, {type_b}, {n, columns, lda, ldb}, [&](auto zero) {
        using T = decltype(zero);
        return potrs(
            "cusolverDnXpotrs",
            handle,
            triangle,
            narrow(n),
            narrow(columns),
            as<const T>(a),
            narrow(lda),
            as<T>(b),
            narrow(ldb),
            info);
      });
}

cusolverStatus_t cusolverDnXtrtri_bufferSize(
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    cublasDiagType_t,
    int64_t n,
    cudaDataType type,
    void*,
    int64_t lda,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(handle, type, {}, {n, lda}, [&](auto zero) {
    return answer<decltype(zero)>(
        check(
            handle,
            {is_triangle(triangle),
             is_matrix(narrow(n), narrow(n), narrow(lda))}),
        device_bytes,
        host_bytes);
  });
}

cusolverStatus_t cusolverDnXtrtri(
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    cublasDiagType_t diagonal,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle, type, {}, {n, lda}, device_bytes, [&](auto zero) {
        using T = decltype(zero);
        return trtri(
            "cusolverDnXtrtri",
            handle,
            triangle,
            diagonal,
            narrow(n),
            as<T>(a),
            narrow(lda),
            info);
      });
}

} // extern "C"
