// QR factorisations, and what is done with their reflectors.
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

template <typename T>
cusolverStatus_t geqrf(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    T* a,
    int lda,
    T* tau,
    int* info) {
  if (const auto status =
          check(handle, {is_matrix(rows, columns, lda), info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return submit<T>(
      function,
      handle,
      {matrix(a, rows, columns, lda),
       vector(tau, std::min(rows, columns)),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({matrix_read(a, rows, columns, lda)});
        *info = lapack.geqrf(rows, columns, a, lda, tau);
        return true;
      });
}

cusolverStatus_t check_orgqr(
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    int reflectors,
    int lda) {
  return check(
      handle,
      {is_matrix(rows, columns, lda),
       columns <= rows,
       reflectors >= 0,
       reflectors <= columns});
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
    int work_size,
    int* info) {
  for (const auto status :
       {check_orgqr(handle, rows, columns, reflectors, lda),
        check(handle, {work_size >= kWorkSize, info != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  return submit<T>(
      function,
      handle,
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
cusolverStatus_t check_ormqr(
    cusolverDnHandle_t handle,
    cublasSideMode_t side,
    cublasOperation_t operation,
    int rows,
    int columns,
    int reflectors,
    int lda,
    int ldc) {
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  const int order = is_left ? rows : columns;
  return check(
      handle,
      {is_left || side == CUBLAS_SIDE_RIGHT,
       is_operation(operation) && !(kIsComplex<T> && operation == CUBLAS_OP_T),
       is_matrix(rows, columns, ldc),
       reflectors >= 0,
       reflectors <= order,
       lda >= std::max(1, order)});
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
    int work_size,
    int* info) {
  for (const auto status :
       {check_ormqr<T>(
            handle, side, operation, rows, columns, reflectors, lda, ldc),
        check(handle, {work_size >= kWorkSize, info != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  const char transposed = kIsComplex<T> ? 'C' : 'T';
  return submit<T>(
      function,
      handle,
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

extern "C" {

#define ACCEL_API(L, T, Api, orthogonal)                                   \
  cusolverStatus_t cusolverDn##L##geqrf_bufferSize(                        \
      cusolverDnHandle_t handle, int m, int n, Api*, int lda, int* size) { \
    return answer_work_size(check(handle, {is_matrix(m, n, lda)}), size);  \
  }                                                                        \
  cusolverStatus_t cusolverDn##L##geqrf(                                   \
      cusolverDnHandle_t handle,                                           \
      int m,                                                               \
      int n,                                                               \
      Api* a,                                                              \
      int lda,                                                             \
      Api* tau,                                                            \
      Api*,                                                                \
      int size,                                                            \
      int* info) {                                                         \
    const auto status = check(handle, {size >= kWorkSize});                \
    return status != CUSOLVER_STATUS_SUCCESS                               \
        ? status                                                           \
        : geqrf(__func__, handle, m, n, as<T>(a), lda, as<T>(tau), info);  \
  }                                                                        \
  cusolverStatus_t cusolverDn##L##orthogonal##gqr_bufferSize(              \
      cusolverDnHandle_t handle,                                           \
      int m,                                                               \
      int n,                                                               \
      int k,                                                               \
      const Api*,                                                          \
      int lda,                                                             \
      const Api*,                                                          \
      int* size) {                                                         \
    return answer_work_size(check_orgqr(handle, m, n, k, lda), size);      \
  }                                                                        \
  cusolverStatus_t cusolverDn##L##orthogonal##gqr(                         \
      cusolverDnHandle_t handle,                                           \
      int m,                                                               \
      int n,                                                               \
      int k,                                                               \
      Api* a,                                                              \
      int lda,                                                             \
      const Api* tau,                                                      \
      Api*,                                                                \
      int size,                                                            \
      int* info) {                                                         \
    return orgqr(                                                          \
        __func__,                                                          \
        handle,                                                            \
        m,                                                                 \
        n,                                                                 \
        k,                                                                 \
        as<T>(a),                                                          \
        lda,                                                               \
        as<const T>(tau),                                                  \
        size,                                                              \
        info);                                                             \
  }                                                                        \
  cusolverStatus_t cusolverDn##L##orthogonal##mqr_bufferSize(              \
      cusolverDnHandle_t handle,                                           \
      cublasSideMode_t side,                                               \
      cublasOperation_t operation,                                         \
      int m,                                                               \
      int n,                                                               \
      int k,                                                               \
      const Api*,                                                          \
      int lda,                                                             \
      const Api*,                                                          \
      const Api*,                                                          \
      int ldc,                                                             \
      int* size) {                                                         \
    return answer_work_size(                                               \
        check_ormqr<T>(handle, side, operation, m, n, k, lda, ldc), size); \
  }                                                                        \
  cusolverStatus_t cusolverDn##L##orthogonal##mqr(                         \
      cusolverDnHandle_t handle,                                           \
      cublasSideMode_t side,                                               \
      cublasOperation_t operation,                                         \
      int m,                                                               \
      int n,                                                               \
      int k,                                                               \
      const Api* a,                                                        \
      int lda,                                                             \
      const Api* tau,                                                      \
      Api* c,                                                              \
      int ldc,                                                             \
      Api*,                                                                \
      int size,                                                            \
      int* info) {                                                         \
    return ormqr(                                                          \
        __func__,                                                          \
        handle,                                                            \
        side,                                                              \
        operation,                                                         \
        m,                                                                 \
        n,                                                                 \
        k,                                                                 \
        as<const T>(a),                                                    \
        lda,                                                               \
        as<const T>(tau),                                                  \
        as<T>(c),                                                          \
        ldc,                                                               \
        size,                                                              \
        info);                                                             \
  }
ACCEL_API(S, float, float, or)
ACCEL_API(D, double, double, or)
ACCEL_API(C, std::complex<float>, cuComplex, un)
ACCEL_API(Z, std::complex<double>, cuDoubleComplex, un)
#undef ACCEL_API

// The same for matrices of 64-bit sizes, whose types are arguments.

cusolverStatus_t cusolverDnXgeqrf_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    int64_t m,
    int64_t n,
    cudaDataType type,
    const void*,
    int64_t lda,
    cudaDataType type_tau,
    const void*,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(
      handle, type, {type_tau, compute_type}, {m, n, lda}, [&](auto zero) {
        return answer<decltype(zero)>(
            check(handle, {is_matrix(narrow(m), narrow(n), narrow(lda))}),
            device_bytes,
            host_bytes);
      });
}

cusolverStatus_t cusolverDnXgeqrf(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    int64_t m,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType type_tau,
    void* tau,
    cudaDataType compute_type,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle,
      type,
      {type_tau, compute_type},
      {m, n, lda},
      device_bytes,
      [&](auto zero) {
        using T = decltype(zero);
        return geqrf(
            "cusolverDnXgeqrf",
            handle,
            narrow(m),
            narrow(n),
            as<T>(a),
            narrow(lda),
            as<T>(tau),
            info);
      });
}

} // extern "C"
