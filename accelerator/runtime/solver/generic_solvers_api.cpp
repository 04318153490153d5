// Solving, with matrices of 64-bit sizes.
#include <cusolverDn.h>

#include "accelerator/runtime/solver/generic.h"

using namespace accelerator::solver;

extern "C" {

cusolverStatus_t cusolverDnXgetrf_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    int64_t m,
    int64_t n,
    cudaDataType type,
    const void*,
    int64_t lda,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(handle, type, {compute_type}, {m, n, lda}, [&](auto zero) {
    return answer<decltype(zero)>(
        check(handle, {is_matrix(narrow(m), narrow(n), narrow(lda))}),
        device_bytes,
        host_bytes);
  });
}

cusolverStatus_t cusolverDnXgetrf(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    int64_t m,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    int64_t* pivots,
    cudaDataType compute_type,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle, type, {compute_type}, {m, n, lda}, device_bytes, [&](auto zero) {
        using T = decltype(zero);
        return getrf(
            "cusolverDnXgetrf",
            handle,
            narrow(m),
            narrow(n),
            as<T>(a),
            narrow(lda),
            pivots,
            info);
      });
}

cusolverStatus_t cusolverDnXgetrs(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cublasOperation_t operation,
    int64_t n,
    int64_t columns,
    cudaDataType type,
    const void* a,
    int64_t lda,
    const int64_t* pivots,
    cudaDataType type_b,
    void* b,
    int64_t ldb,
    int* info) {
  return dispatch(
      handle, type, {type_b}, {n, columns, lda, ldb}, [&](auto zero) {
        using T = decltype(zero);
        return getrs(
            "cusolverDnXgetrs",
            handle,
            operation,
            narrow(n),
            narrow(columns),
            as<const T>(a),
            narrow(lda),
            pivots,
            as<T>(b),
            narrow(ldb),
            info);
      });
}

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

cusolverStatus_t cusolverDnXsytrs_bufferSize(
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int64_t n,
    int64_t columns,
    cudaDataType type,
    const void*,
    int64_t lda,
    const int64_t*,
    cudaDataType type_b,
    void*,
    int64_t ldb,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(
      handle, type, {type_b}, {n, columns, lda, ldb}, [&](auto zero) {
        return answer<decltype(zero)>(
            check(
                handle,
                {is_triangle(triangle),
                 is_matrix(narrow(n), narrow(n), narrow(lda)),
                 is_matrix(narrow(n), narrow(columns), narrow(ldb))}),
            device_bytes,
            host_bytes);
      });
}

cusolverStatus_t cusolverDnXsytrs(
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int64_t n,
    int64_t columns,
    cudaDataType type,
    const void* a,
    int64_t lda,
    const int64_t* pivots,
    cudaDataType type_b,
    void* b,
    int64_t ldb,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle,
      type,
      {type_b},
      {n, columns, lda, ldb},
      device_bytes,
      [&](auto zero) {
        using T = decltype(zero);
        return sytrs(
            "cusolverDnXsytrs",
            handle,
            triangle,
            narrow(n),
            narrow(columns),
            as<const T>(a),
            narrow(lda),
            pivots,
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
