// cuSOLVER's work for streams: checks of arguments, memory, and the host's
// LAPACK.
#pragma once

#include <cusolverDn.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "runtime/libraries/blas/host_lapack.h"
#include "runtime/libraries/solver/context.h"
#include "runtime/signatures/entry_points.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::solver {

using stream_work::accessible;
using stream_work::Extent;
using stream_work::matrix_bytes;
using stream_work::Read;
using stream_work::reads;
using stream_work::strided_extent;

template <typename T>
using RealOf = typename blas::RealOf<T>::type;

template <typename T>
using Routines = blas::LapackRoutines<T>;

template <typename T>
constexpr bool kIsComplex = !std::is_same_v<T, RealOf<T>>;

/// The elements a work area has to have, which the host does not use.
constexpr int kWorkSize = 1;

template <typename T>
const Routines<T>& routines(const blas::HostLapack& all) {
  if constexpr (std::is_same_v<T, float>) {
    return all.s;
  } else if constexpr (std::is_same_v<T, double>) {
    return all.d;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return all.c;
  } else {
    return all.z;
  }
}

/// CUSOLVER_STATUS_NOT_INITIALIZED without a handle,
/// CUSOLVER_STATUS_INVALID_VALUE where something is not as it should be.
cusolverStatus_t check(
    cusolverDnHandle_t handle,
    std::initializer_list<bool> good);

/// Makes a handle, and the context of its device.
template <typename T>
cusolverStatus_t create_handle(const char* function, T** handle) {
  return stream_work::make_context() == cudaSuccess
      ? create(function, handle)
      : CUSOLVER_STATUS_NOT_INITIALIZED;
}

/// Sizes and a leading dimension that go together.
inline bool is_matrix(int rows, int columns, int leading) {
  return rows >= 0 && columns >= 0 && leading >= std::max(1, rows);
}

inline bool is_triangle(cublasFillMode_t triangle) {
  return triangle == CUBLAS_FILL_MODE_LOWER ||
      triangle == CUBLAS_FILL_MODE_UPPER;
}

inline char letter(cublasFillMode_t triangle) {
  return triangle == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
}

inline bool is_operation(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T ||
      operation == CUBLAS_OP_C;
}

inline char letter(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? 'N' : operation == CUBLAS_OP_T ? 'T' : 'C';
}

inline bool is_mode(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_NOVECTOR || mode == CUSOLVER_EIG_MODE_VECTOR;
}

template <typename T>
Extent matrix(const T* a, int rows, int columns, int leading) {
  return {a, matrix_bytes(rows, columns, leading, sizeof(T))};
}

template <typename T>
Extent vector(const T* a, std::int64_t size) {
  return {a, size <= 0 ? 0 : stream_work::times(size, sizeof(T))};
}

/// What work tells that it reads (stream_work::reads).
template <typename T>
Read matrix_read(const T* a, int rows, int columns, int leading) {
  return stream_work::matrix_read(a, rows, columns, leading, sizeof(T));
}

/// @param is_unit whether the diagonal is not read.
template <typename T>
Read triangle_read(
    const T* a,
    cublasFillMode_t triangle,
    int n,
    int leading,
    bool is_unit = false) {
  return stream_work::triangle_read(
      a, triangle == CUBLAS_FILL_MODE_UPPER, n, leading, sizeof(T), is_unit);
}

/// The reflectors of a QR factorisation, which lie below the diagonal.
template <typename T>
Read reflectors_read(const T* a, int rows, int count, int leading) {
  Read read = triangle_read(a, CUBLAS_FILL_MODE_LOWER, rows, leading, true);
  read.lines = std::min<std::int64_t>(read.lines, count);
  return read;
}

/// Answers what a function's work area has to be, in elements.
/// @param element_bytes those of an element.
/// @param params, count where a function has them: those of Jacobi's method,
/// and how many matrices there are.
cusolverStatus_t answer_work_size(
    cusolverStatus_t checked,
    std::size_t element_bytes,
    int* size,
    const JacobiInfo* params = nullptr,
    int count = 0);

/// The same in bytes, on the device and on the host.
cusolverStatus_t answer_work_size(
    cusolverStatus_t checked,
    std::size_t element_bytes,
    std::size_t* device_bytes,
    std::size_t* host_bytes);

/// Work that is given LAPACK, and returns whether all memory was there that it
/// followed pointers to.
cusolverStatus_t submit_any(
    const char* function,
    cusolverDnHandle_t handle,
    std::initializer_list<Extent> extents,
    std::function<bool(const blas::HostLapack&)> work);

/// The same with the routines of one type of numbers.
template <typename T, typename Work>
cusolverStatus_t submit(
    const char* function,
    cusolverDnHandle_t handle,
    std::initializer_list<Extent> extents,
    Work work) {
  return submit_any(
      function,
      handle,
      extents,
      [work = std::move(work)](const blas::HostLapack& all) {
        return work(routines<T>(all));
      });
}

/// The same for a call that is valid if all is good (check).
template <typename T, typename Work>
cusolverStatus_t submit(
    const char* function,
    cusolverDnHandle_t handle,
    std::initializer_list<bool> good,
    std::initializer_list<Extent> extents,
    Work work) {
  const cusolverStatus_t status = check(handle, good);
  return status != CUSOLVER_STATUS_SUCCESS
      ? status
      : submit<T>(function, handle, extents, std::move(work));
}

} // namespace accelerator::solver
