// Eigenvalues of symmetric and Hermitian matrices. Jacobi's method gives what
// the others give: LAPACK's is used for all.
#include <cmath>

#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

/// @param size where it is told, and what besides is said of the call.
template <typename T, typename... Size>
cusolverStatus_t size_syevd_work(
    const char*,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    cublasFillMode_t triangle,
    int n,
    const T*,
    int lda,
    const RealOf<T>*,
    Size... size) {
  return answer_work_size(
      check(
          handle, {is_mode(mode), is_triangle(triangle), is_matrix(n, n, lda)}),
      sizeof(T),
      size...);
}

char job_letter(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
}

/// The norm of A V - V W, which is that of what V^H A V has besides W.
/// @param a of whom one triangle counts.
template <typename T>
double residual_norm(
    cublasFillMode_t triangle,
    int n,
    const std::vector<T>& a,
    const T* vectors,
    int ldv,
    const RealOf<T>* values) {
  const auto at = [&](int i, int j) {
    const bool is_there = triangle == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
    const std::size_t row = is_there ? i : j;
    const std::size_t column = is_there ? j : i;
    const std::complex<double> value(a[column * n + row]);
    return is_there ? value : std::conj(value);
  };
  double sum = 0;
  for (int k = 0; k < n; ++k) {
    const T* const vector = vectors + static_cast<std::ptrdiff_t>(k) * ldv;
    for (int i = 0; i < n; ++i) {
      std::complex<double> difference =
          -static_cast<double>(values[k]) * std::complex<double>(vector[i]);
      for (int j = 0; j < n; ++j) {
        difference += at(i, j) * std::complex<double>(vector[j]);
      }
      sum += std::norm(difference);
    }
  }
  return std::sqrt(sum);
}

template <typename T>
cusolverStatus_t syevj(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    RealOf<T>* values,
    T*,
    int work_size,
    int* info,
    syevjInfo_t params) {
  if (const auto status = check(
          handle,
          {is_mode(mode),
           is_triangle(triangle),
           is_matrix(n, n, lda),
           work_size >= kWorkSize,
           info != nullptr,
           params != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  auto residual = std::make_shared<std::atomic<double>>(std::nan(""));
  params->residual = residual;
  return submit<T>(
      function,
      handle,
      {matrix(a, n, n, lda), vector(values, n), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({triangle_read(a, triangle, n, lda)});
        std::vector<T> before(static_cast<std::size_t>(n) * n);
        for (int j = 0; j < n; ++j) {
          std::copy_n(
              a + static_cast<std::ptrdiff_t>(j) * lda,
              n,
              before.begin() + static_cast<std::ptrdiff_t>(j) * n);
        }
        // The residual is that of the vectors, even where nobody wants them.
        std::vector<T> own(before);
        const bool is_wanted = mode == CUSOLVER_EIG_MODE_VECTOR;
        T* const vectors = is_wanted ? a : own.data();
        const int leading = is_wanted ? lda : std::max(1, n);
        const int failed =
            lapack.syevd('V', letter(triangle), n, vectors, leading, values);
        *info = failed > 0 ? n + 1 : failed;
        *residual =
            residual_norm(triangle, n, before, vectors, leading, values);
        return true;
      });
}

template <typename T>
cusolverStatus_t syevj_batched(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    RealOf<T>* values,
    T*,
    int work_size,
    int* info,
    syevjInfo_t params,
    int count) {
  if (const auto status = check(
          handle,
          {is_mode(mode),
           is_triangle(triangle),
           is_matrix(n, n, lda),
           work_size >= kWorkSize,
           params != nullptr,
           count >= 0});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  params->residual = nullptr;
  const std::int64_t step = std::int64_t{lda} * n;
  return submit<T>(
      function,
      handle,
      {strided_extent(
           a, matrix_bytes(n, n, lda, sizeof(T)), step, sizeof(T), count),
       vector(values, std::int64_t{n} * count),
       vector(info, count)},
      [=](const Routines<T>& lapack) {
        for (int i = 0; i < count; ++i) {
          reads({triangle_read(a + i * step, triangle, n, lda)});
          const int failed = lapack.syevd(
              job_letter(mode),
              letter(triangle),
              n,
              a + i * step,
              lda,
              values + static_cast<std::ptrdiff_t>(i) * n);
          info[i] = failed > 0 ? n + 1 : failed;
        }
        return true;
      });
}

template <typename T>
cusolverStatus_t syevd_batched(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    cublasFillMode_t triangle,
    int n,
    T* a,
    int lda,
    RealOf<T>* values,
    int* info,
    std::int64_t count) {
  const std::int64_t step = std::int64_t{lda} * n;
  return submit<T>(
      function,
      handle,
      {is_mode(mode),
       is_triangle(triangle),
       is_matrix(n, n, lda),
       info != nullptr,
       count >= 0},
      {strided_extent(
           a, matrix_bytes(n, n, lda, sizeof(T)), step, sizeof(T), count),
       strided_extent(
           values, n * sizeof(RealOf<T>), n, sizeof(RealOf<T>), count),
       vector(info, count)},
      [=](const Routines<T>& lapack) {
        for (std::int64_t i = 0; i < count; ++i) {
          reads({triangle_read(a + i * step, triangle, n, lda)});
          info[i] = lapack.syevd(
              job_letter(mode),
              letter(triangle),
              n,
              a + i * step,
              lda,
              values + i * n);
        }
        return true;
      });
}

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
    T*,
    int work_size,
    int* info) {
  return submit<T>(
      function,
      handle,
      {is_mode(mode),
       is_triangle(triangle),
       is_matrix(n, n, lda),
       work_size >= kWorkSize,
       info != nullptr},
      {matrix(a, n, n, lda), vector(values, n), vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({triangle_read(a, triangle, n, lda)});
        *info =
            lapack.syevd(job_letter(mode), letter(triangle), n, a, lda, values);
        return true;
      });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

ENTRY_POINTS_REAL(8, cusolverDn, syevd_bufferSize, size_syevd_work)
ENTRY_POINTS_COMPLEX(8, cusolverDn, heevd_bufferSize, size_syevd_work)
ENTRY_POINTS_REAL(10, cusolverDn, syevd, syevd)
ENTRY_POINTS_COMPLEX(10, cusolverDn, heevd, syevd)
ENTRY_POINTS_REAL(9, cusolverDn, syevj_bufferSize, size_syevd_work)
ENTRY_POINTS_COMPLEX(9, cusolverDn, heevj_bufferSize, size_syevd_work)
ENTRY_POINTS_REAL(11, cusolverDn, syevj, syevj)
ENTRY_POINTS_COMPLEX(11, cusolverDn, heevj, syevj)
ENTRY_POINTS_REAL(10, cusolverDn, syevjBatched_bufferSize, size_syevd_work)
ENTRY_POINTS_COMPLEX(10, cusolverDn, heevjBatched_bufferSize, size_syevd_work)
ENTRY_POINTS_REAL(12, cusolverDn, syevjBatched, syevj_batched)
ENTRY_POINTS_COMPLEX(12, cusolverDn, heevjBatched, syevj_batched)

GENERIC_ENTRY_POINT_OF_VALUES(13, cusolverDnXsyevd_bufferSize, size_syevd_work)
GENERIC_ENTRY_POINT_OF_VALUES(16, cusolverDnXsyevd, syevd)

extern "C" {

// The headers of CUDA 12.4 lack the next two.

cusolverStatus_t cusolverDnXsyevBatched_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t params,
    cusolverEigMode_t mode,
    cublasFillMode_t triangle,
    int64_t n,
    cudaDataType type,
    const void* a,
    int64_t lda,
    cudaDataType type_values,
    const void* values,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes,
    int64_t count) {
  if (const auto status = check(handle, {count >= 0});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return cusolverDnXsyevd_bufferSize(
      handle,
      params,
      mode,
      triangle,
      n,
      type,
      a,
      lda,
      type_values,
      values,
      compute_type,
      device_bytes,
      host_bytes);
}

cusolverStatus_t cusolverDnXsyevBatched(
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
    int* info,
    int64_t count) {
  return dispatch_with_work(
      handle, type, {compute_type}, {n, lda}, device_bytes, [&](auto zero) {
        using T = decltype(zero);
        if (type_values != real_of(type)) {
          return CUSOLVER_STATUS_INVALID_VALUE;
        }
        return syevd_batched(
            "cusolverDnXsyevBatched",
            handle,
            mode,
            triangle,
            narrow(n),
            static_cast<T*>(a),
            narrow(lda),
            static_cast<accelerator::solver::RealOf<T>*>(values),
            info,
            count);
      });
}

} // extern "C"
