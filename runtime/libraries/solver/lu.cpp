// LU factorisations.
#include "runtime/libraries/blas/lu.h"

#include <cstdlib>
#include <numeric>

#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

template <typename T, typename... Size>
cusolverStatus_t size_getrf_work(
    const char*,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    const T*,
    int lda,
    Size... size) {
  return answer_work_size(
      check(handle, {is_matrix(rows, columns, lda)}), sizeof(T), size...);
}

template <typename T, typename Int>
cusolverStatus_t factor_lu(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    T* a,
    int lda,
    int work_size,
    Int* pivots,
    int* info) {
  const int count = std::min(rows, columns);
  return submit<T>(
      function,
      handle,
      {is_matrix(rows, columns, lda), work_size >= kWorkSize, info != nullptr},
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

/// The size of the work area is no argument.
template <typename T>
cusolverStatus_t getrf(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    T* a,
    int lda,
    T*,
    int* pivots,
    int* info) {
  return factor_lu(
      function, handle, rows, columns, a, lda, kWorkSize, pivots, info);
}

template <typename T>
cusolverStatus_t getrf_of_type(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    T* a,
    int lda,
    std::int64_t* pivots,
    T*,
    int work_size,
    int* info) {
  return factor_lu(
      function, handle, rows, columns, a, lda, work_size, pivots, info);
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
  return submit<T>(
      function,
      handle,
      {is_operation(operation),
       is_matrix(n, n, lda),
       is_matrix(n, columns, ldb),
       info != nullptr},
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

ENTRY_POINTS(6, cusolverDn, getrf_bufferSize, size_getrf_work)
ENTRY_POINTS(8, cusolverDn, getrf, getrf)
ENTRY_POINTS(10, cusolverDn, getrs, getrs)
ENTRY_POINTS(8, cusolverDn, laswp, laswp)

GENERIC_ENTRY_POINT(10, cusolverDnXgetrf_bufferSize, size_getrf_work)
GENERIC_ENTRY_POINT(14, cusolverDnXgetrf, getrf_of_type)
GENERIC_ENTRY_POINT(13, cusolverDnXgetrs, getrs)
