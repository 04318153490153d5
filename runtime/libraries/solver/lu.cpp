// LU factorisations.
#include "runtime/libraries/blas/lu.h"

#include <cstdlib>
#include <numeric>

#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

template <typename T, typename Int>
cusolverStatus_t getrf(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    T* a,
    int lda,
    Int* pivots,
    int* info) {
  if (const auto status =
          check(handle, {is_matrix(rows, columns, lda), info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  const int count = std::min(rows, columns);
  return submit<T>(
      function,
      handle,
      {matrix(a, rows, columns, lda),
       vector(pivots, pivots == nullptr ? 0 : count),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({matrix_read(a, rows, columns, lda)});
        if (pivots == nullptr) {
          *info = blas::factor_without_pivots(rows, columns, a, lda);
          return true;
        }
        std::vector<int> found(std::max(1, count));
        *info = lapack.getrf(rows, columns, a, lda, found.data());
        std::copy_n(found.begin(), count, pivots);
        return true;
      });
}

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
    int* info) {
  if (const auto status = check(
          handle,
          {is_operation(operation),
           is_matrix(n, n, lda),
           is_matrix(n, columns, ldb),
           info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return submit<T>(
      function,
      handle,
      {matrix(a, n, n, lda),
       vector(pivots, pivots == nullptr ? 0 : n),
       matrix(b, n, columns, ldb),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads(
            {matrix_read(a, n, n, lda),
             vector(pivots, pivots == nullptr ? 0 : n),
             matrix_read(b, n, columns, ldb)});
        std::vector<int> used(std::max(1, n));
        if (pivots == nullptr) {
          std::iota(used.begin(), used.end(), 1);
        } else {
          used = blas::as_ints(pivots, n);
        }
        if (!blas::are_pivots(function, used.data(), n, n)) {
          return false;
        }
        *info = lapack.getrs(
            letter(operation), n, columns, a, lda, used.data(), b, ldb);
        return true;
      });
}

/// Exchanges rows from k1 to k2, counted from 1, in the order of the pivots, or
/// backwards.
template <typename T>
cusolverStatus_t laswp(
    const char* function,
    cusolverDnHandle_t handle,
    int columns,
    T* a,
    int lda,
    int k1,
    int k2,
    const int* pivots,
    int stride) {
  if (const auto status = check(
          handle,
          {columns >= 0, lda >= 1, k1 >= 1, k2 >= k1, k2 <= lda, stride != 0});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  const int step = std::abs(stride);
  const std::int64_t first = k1 - 1;
  return submit<T>(
      function,
      handle,
      {matrix(a, k2, columns, lda),
       vector(pivots, first + std::int64_t{k2 - k1} * step + 1)},
      [=](const Routines<T>&) {
        for (int i = 0; i <= k2 - k1; ++i) {
          const int place = stride > 0 ? i : k2 - k1 - i;
          const int row = k1 - 1 + place;
          const int* const pivot =
              pivots + first + static_cast<std::ptrdiff_t>(place) * step;
          reads({vector(pivot, 1)});
          const int other = *pivot;
          if (!accessible(
                  function, {matrix(a, std::max(1, other), columns, lda)}) ||
              !blas::are_pivots(function, &other, 1, lda)) {
            return false;
          }
          if (other != row + 1) {
            reads(
                {matrix_read(a + row, 1, columns, lda),
                 matrix_read(a + other - 1, 1, columns, lda)});
          }
          for (int j = 0; j < columns; ++j) {
            T* const column = a + static_cast<std::ptrdiff_t>(j) * lda;
            std::swap(column[row], column[other - 1]);
          }
        }
        return true;
      });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

extern "C" {

#define ACCEL_API(L, T, Api, Real)                                         \
  cusolverStatus_t cusolverDn##L##getrf_bufferSize(                        \
      cusolverDnHandle_t handle, int m, int n, Api*, int lda, int* size) { \
    return answer_work_size(check(handle, {is_matrix(m, n, lda)}), size);  \
  }                                                                        \
  cusolverStatus_t cusolverDn##L##getrf(                                   \
      cusolverDnHandle_t handle,                                           \
      int m,                                                               \
      int n,                                                               \
      Api* a,                                                              \
      int lda,                                                             \
      Api*,                                                                \
      int* pivots,                                                         \
      int* info) {                                                         \
    return getrf(__func__, handle, m, n, as<T>(a), lda, pivots, info);     \
  }                                                                        \
  cusolverStatus_t cusolverDn##L##getrs(                                   \
      cusolverDnHandle_t handle,                                           \
      cublasOperation_t operation,                                         \
      int n,                                                               \
      int columns,                                                         \
      const Api* a,                                                        \
      int lda,                                                             \
      const int* pivots,                                                   \
      Api* b,                                                              \
      int ldb,                                                             \
      int* info) {                                                         \
    return getrs(                                                          \
        __func__,                                                          \
        handle,                                                            \
        operation,                                                         \
        n,                                                                 \
        columns,                                                           \
        as<const T>(a),                                                    \
        lda,                                                               \
        pivots,                                                            \
        as<T>(b),                                                          \
        ldb,                                                               \
        info);                                                             \
  }                                                                        \
  cusolverStatus_t cusolverDn##L##laswp(                                   \
      cusolverDnHandle_t handle,                                           \
      int columns,                                                         \
      Api* a,                                                              \
      int lda,                                                             \
      int k1,                                                              \
      int k2,                                                              \
      const int* pivots,                                                   \
      int stride) {                                                        \
    return laswp(                                                          \
        __func__, handle, columns, as<T>(a), lda, k1, k2, pivots, stride); \
  }
ACCEL_FOR_TYPES(ACCEL_API)
#undef ACCEL_API

// The same for matrices of 64-bit sizes, whose types are arguments.

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

} // extern "C"
