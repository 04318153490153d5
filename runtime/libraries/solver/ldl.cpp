// LDL factorisations of symmetric matrices, complex ones too.
#include <cstddef>
#include <vector>

#include "runtime/libraries/blas/lu.h"
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

template <typename T>
cusolverStatus_t sytrf(
    const char* function,
    cusolverDnHandle_t handle,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    int* pivots,
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

extern "C" {

#define ACCEL_API(L, T, Api, Real)                                         \
  cusolverStatus_t cusolverDn##L##sytrf_bufferSize(                        \
      cusolverDnHandle_t handle, int n, Api*, int lda, int* size) {        \
    return answer_work_size(check(handle, {is_matrix(n, n, lda)}), size);  \
  }                                                                        \
  cusolverStatus_t cusolverDn##L##sytrf(                                   \
      cusolverDnHandle_t handle,                                           \
      cublasFillMode_t triangle,                                           \
      int n,                                                               \
      Api* a,                                                              \
      int lda,                                                             \
      int* pivots,                                                         \
      Api*,                                                                \
      int size,                                                            \
      int* info) {                                                         \
    return sytrf(                                                          \
        __func__, handle, triangle, n, as<T>(a), lda, pivots, size, info); \
  }
ACCEL_FOR_TYPES(ACCEL_API)
#undef ACCEL_API

// The same for matrices of 64-bit sizes, whose types are arguments.

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

} // extern "C"
