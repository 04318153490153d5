// QR, eigenvalues and singular values of matrices of 64-bit sizes.
#include <cusolverDn.h>

#include "accelerator/runtime/solver/generic.h"

using namespace accelerator::solver;

extern "C" {

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

cusolverStatus_t cusolverDnXsyevd_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cusolverEigMode_t mode,
    cublasFillMode_t triangle,
    int64_t n,
    cudaDataType type,
    const void*,
    int64_t lda,
    cudaDataType type_values,
    const void*,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(handle, type, {compute_type}, {n, lda}, [&](auto zero) {
    return answer<decltype(zero)>(
        check(
            handle,
            {type_values == real_of(type),
             is_mode(mode),
             is_triangle(triangle),
             is_matrix(narrow(n), narrow(n), narrow(lda))}),
        device_bytes,
        host_bytes);
  });
}

cusolverStatus_t cusolverDnXsyevd(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cusolverEigMode_t mode,
    cublasFillMode_t triangle,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType type_values,
    void* values,
    cudaDataType compute_type,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle, type, {compute_type}, {n, lda}, device_bytes, [&](auto zero) {
        using T = decltype(zero);
        if (type_values != real_of(type)) {
          return CUSOLVER_STATUS_INVALID_VALUE;
        }
        return syevd(
            "cusolverDnXsyevd",
            handle,
            mode,
            triangle,
            narrow(n),
            as<T>(a),
            narrow(lda),
            as<accelerator::solver::RealOf<T>>(values),
            info);
      });
}

cusolverStatus_t cusolverDnXgesvd_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    signed char,
    signed char,
    int64_t m,
    int64_t n,
    cudaDataType type,
    const void*,
    int64_t lda,
    cudaDataType type_values,
    const void*,
    cudaDataType type_u,
    const void*,
    int64_t ldu,
    cudaDataType type_vt,
    const void*,
    int64_t ldvt,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(
      handle,
      type,
      {type_u, type_vt, compute_type},
      {m, n, lda, ldu, ldvt},
      [&](auto zero) {
        return answer<decltype(zero)>(
            check(
                handle,
                {type_values == real_of(type),
                 n <= m,
                 is_matrix(narrow(m), narrow(n), narrow(lda))}),
            device_bytes,
            host_bytes);
      });
}

cusolverStatus_t cusolverDnXgesvd(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    signed char left,
    signed char right,
    int64_t m,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType type_values,
    void* values,
    cudaDataType type_u,
    void* u,
    int64_t ldu,
    cudaDataType type_vt,
    void* vt,
    int64_t ldvt,
    cudaDataType compute_type,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle,
      type,
      {type_u, type_vt, compute_type},
      {m, n, lda, ldu, ldvt},
      device_bytes,
      [&](auto zero) {
        using T = decltype(zero);
        using Real = accelerator::solver::RealOf<T>;
        if (type_values != real_of(type)) {
          return CUSOLVER_STATUS_INVALID_VALUE;
        }
        return gesvd(
            "cusolverDnXgesvd",
            handle,
            left,
            right,
            narrow(m),
            narrow(n),
            as<T>(a),
            narrow(lda),
            as<Real>(values),
            as<T>(u),
            narrow(ldu),
            as<T>(vt),
            narrow(ldvt),
            static_cast<Real*>(nullptr),
            info);
      });
}

} // extern "C"
