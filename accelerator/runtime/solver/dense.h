// The functions of dense matrices, for any type of numbers: what those of the
// API have in common that name the type, and those of 64-bit sizes. Arguments
// are LAPACK's; `function` is the API's name.
#pragma once

#include <cusolverDn.h>

#include "accelerator/runtime/solver/submit.h"

namespace accelerator::solver {

// lu.cpp. Pivots are int or std::int64_t; none: without pivoting.
template <typename T, typename Int>
cusolverStatus_t getrf(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    T* a,
    int lda,
    Int* pivots,
    int* info);
template <typename T, typename Int>
cusolverStatus_t getrs(
    const char* function,
    cusolverDnHandle_t handle,
    cublasOperation_t operation,
    int n,
    int columns,
    const T* a,
    int lda,
    const Int* pivots,
    T* b,
    int ldb,
    int* info);

// ldl.cpp
template <typename T, typename Int>
cusolverStatus_t sytrs(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    int columns,
    const T* a,
    int lda,
    const Int* pivots,
    T* b,
    int ldb,
    int* info);

// cholesky.cpp
template <typename T>
cusolverStatus_t potrf(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    int* info);
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
    int* info);
template <typename T>
cusolverStatus_t trtri(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    cublasDiagType_t diagonal,
    int n,
    T* a,
    int lda,
    int* info);

// qr.cpp
template <typename T>
cusolverStatus_t geqrf(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    T* a,
    int lda,
    T* tau,
    int* info);

// eigen.cpp
template <typename T>
cusolverStatus_t syevd(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    RealOf<T>* values,
    int* info);

// svd.cpp
template <typename T>
cusolverStatus_t gesvd(
    const char* function,
    cusolverDnHandle_t handle,
    signed char left,
    signed char right,
    int rows,
    int columns,
    T* a,
    int lda,
    RealOf<T>* values,
    T* u,
    int ldu,
    T* vt,
    int ldvt,
    RealOf<T>* unconverged,
    int* info);

} // namespace accelerator::solver
