// LDL factorisations of symmetric matrices, complex ones too.
#include <cstddef>
#include <vector>

#include "runtime/libraries/blas/lu.h"
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

template <typename T>
cusolverStatus_t size_sytrf_work(
    const char*,
    cusolverDnHandle_t handle,
    int n,
    T*,
    int lda,
    int* size) {
  return answer_work_size(
      check(handle, {is_matrix(n, n, lda)}), sizeof(T), size);
}

template <typename T>
cusolverStatus_t sytrf(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    int* pivots,
    T*,
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
  // LAPACK has none without pivoting.
  if (pivots == nullptr) {
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  return submit<T>(
      function,
      handle,
      {matrix(a, n, n, lda), vector(pivots, n), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({triangle_read(a, triangle, n, lda)});
        *info = lapack.sytrf(letter(triangle), n, a, lda, pivots);
        return true;
      });
}

// The rows that LAPACK's sytrs swaps with. Those of blocks of two rows are
// negative, and come in pairs: LAPACK looks at the other one without asking.
std::vector<int> rows_of(const std::vector<int>& pivots) {
  std::vector<int> rows(pivots);
  for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
    if (rows[k] < 0 && rows[k + 1] < 0) {
      rows[k] = -rows[k];
      rows[k + 1] = -rows[k + 1];
      ++k;
    }
  }
  return rows;
}

bool is_sytrs(cublasFillMode_t triangle, int n, int columns, int lda, int ldb) {
  return is_triangle(triangle) && is_matrix(n, n, lda) &&
      is_matrix(n, columns, ldb);
}

template <typename T>
cusolverStatus_t size_sytrs_work(
    const char*,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    int columns,
    const T*,
    int lda,
    const std::int64_t*,
    T*,
    int ldb,
    std::size_t* device_bytes,
    std::size_t* host_bytes) {
  return answer_work_size(
      check(handle, {is_sytrs(triangle, n, columns, lda, ldb)}),
      sizeof(T),
      device_bytes,
      host_bytes);
}

template <typename T>
cusolverStatus_t sytrs(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    int columns,
    const T* a,
    int lda,
    const std::int64_t* pivots,
    T* b,
    int ldb,
    T*,
    int work_size,
    int* info) {
  return submit<T>(
      function,
      handle,
      {is_sytrs(triangle, n, columns, lda, ldb),
       work_size >= kWorkSize,
       info != nullptr},
      {matrix(a, n, n, lda),
       vector(pivots, n),
       matrix(b, n, columns, ldb),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads(
            {triangle_read(a, triangle, n, lda),
             vector(pivots, n),
             matrix_read(b, n, columns, ldb)});
        const std::vector<int> used = blas::as_ints(pivots, n);
        if (!blas::are_pivots(function, rows_of(used).data(), n, n)) {
          return false;
        }
        *info = lapack.sytrs(
            letter(triangle), n, columns, a, lda, used.data(), b, ldb);
        return true;
      });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

ENTRY_POINTS(5, cusolverDn, sytrf_bufferSize, size_sytrf_work)
ENTRY_POINTS(9, cusolverDn, sytrf, sytrf)

GENERIC_ENTRY_POINT(13, cusolverDnXsytrs_bufferSize, size_sytrs_work)
GENERIC_ENTRY_POINT(16, cusolverDnXsytrs, sytrs)
