// Eigenvalues of symmetric and Hermitian matrices. Jacobi's method gives what
// the others give: LAPACK's is used for all.
#include <cmath>

#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

cusolverStatus_t check_syevd(
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    cublasFillMode_t triangle,
    int n,
    int lda) {
  return check(
      handle, {is_mode(mode), is_triangle(triangle), is_matrix(n, n, lda)});
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
    int work_size,
    int* info,
    syevjInfo_t params) {
  for (const auto status :
       {check_syevd(handle, mode, triangle, n, lda),
        check(
            handle,
            {work_size >= kWorkSize, info != nullptr, params != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
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
    int work_size,
    int* info,
    syevjInfo_t params,
    int count) {
  for (const auto status :
       {check_syevd(handle, mode, triangle, n, lda),
        check(
            handle, {work_size >= kWorkSize, params != nullptr, count >= 0})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
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
  for (const auto status :
       {check_syevd(handle, mode, triangle, n, lda),
        check(handle, {info != nullptr, count >= 0})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  const std::int64_t step = std::int64_t{lda} * n;
  return submit<T>(
      function,
      handle,
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
    int* info) {
  for (const auto status :
       {check_syevd(handle, mode, triangle, n, lda),
        check(handle, {info != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  return submit<T>(
      function,
      handle,
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

extern "C" {

#define ACCEL_API(L, T, Api, Real, symmetric)                       \
  cusolverStatus_t cusolverDn##L##symmetric##evd_bufferSize(        \
      cusolverDnHandle_t handle,                                    \
      cusolverEigMode_t mode,                                       \
      cublasFillMode_t triangle,                                    \
      int n,                                                        \
      const Api*,                                                   \
      int lda,                                                      \
      const Real*,                                                  \
      int* size) {                                                  \
    return answer_work_size(                                        \
        check_syevd(handle, mode, triangle, n, lda), size);         \
  }                                                                 \
  cusolverStatus_t cusolverDn##L##symmetric##evd(                   \
      cusolverDnHandle_t handle,                                    \
      cusolverEigMode_t mode,                                       \
      cublasFillMode_t triangle,                                    \
      int n,                                                        \
      Api* a,                                                       \
      int lda,                                                      \
      Real* values,                                                 \
      Api*,                                                         \
      int size,                                                     \
      int* info) {                                                  \
    const auto status = check(handle, {size >= kWorkSize});         \
    return status != CUSOLVER_STATUS_SUCCESS ? status               \
                                             : syevd(               \
                                                   __func__,        \
                                                   handle,          \
                                                   mode,            \
                                                   triangle,        \
                                                   n,               \
                                                   as<T>(a),        \
                                                   lda,             \
                                                   values,          \
                                                   info);           \
  }                                                                 \
  cusolverStatus_t cusolverDn##L##symmetric##evj_bufferSize(        \
      cusolverDnHandle_t handle,                                    \
      cusolverEigMode_t mode,                                       \
      cublasFillMode_t triangle,                                    \
      int n,                                                        \
      const Api*,                                                   \
      int lda,                                                      \
      const Real*,                                                  \
      int* size,                                                    \
      syevjInfo_t) {                                                \
    return answer_work_size(                                        \
        check_syevd(handle, mode, triangle, n, lda), size);         \
  }                                                                 \
  cusolverStatus_t cusolverDn##L##symmetric##evj(                   \
      cusolverDnHandle_t handle,                                    \
      cusolverEigMode_t mode,                                       \
      cublasFillMode_t triangle,                                    \
      int n,                                                        \
      Api* a,                                                       \
      int lda,                                                      \
      Real* values,                                                 \
      Api*,                                                         \
      int size,                                                     \
      int* info,                                                    \
      syevjInfo_t params) {                                         \
    return syevj(                                                   \
        __func__,                                                   \
        handle,                                                     \
        mode,                                                       \
        triangle,                                                   \
        n,                                                          \
        as<T>(a),                                                   \
        lda,                                                        \
        values,                                                     \
        size,                                                       \
        info,                                                       \
        params);                                                    \
  }                                                                 \
  cusolverStatus_t cusolverDn##L##symmetric##evjBatched_bufferSize( \
      cusolverDnHandle_t handle,                                    \
      cusolverEigMode_t mode,                                       \
      cublasFillMode_t triangle,                                    \
      int n,                                                        \
      const Api*,                                                   \
      int lda,                                                      \
      const Real*,                                                  \
      int* size,                                                    \
      syevjInfo_t,                                                  \
      int count) {                                                  \
    const auto status = check(handle, {count >= 0});                \
    return answer_work_size(                                        \
        status != CUSOLVER_STATUS_SUCCESS                           \
            ? status                                                \
            : check_syevd(handle, mode, triangle, n, lda),          \
        size);                                                      \
  }                                                                 \
  cusolverStatus_t cusolverDn##L##symmetric##evjBatched(            \
      cusolverDnHandle_t handle,                                    \
      cusolverEigMode_t mode,                                       \
      cublasFillMode_t triangle,                                    \
      int n,                                                        \
      Api* a,                                                       \
      int lda,                                                      \
      Real* values,                                                 \
      Api*,                                                         \
      int size,                                                     \
      int* info,                                                    \
      syevjInfo_t params,                                           \
      int count) {                                                  \
    return syevj_batched(                                           \
        __func__,                                                   \
        handle,                                                     \
        mode,                                                       \
        triangle,                                                   \
        n,                                                          \
        as<T>(a),                                                   \
        lda,                                                        \
        values,                                                     \
        size,                                                       \
        info,                                                       \
        params,                                                     \
        count);                                                     \
  }
ACCEL_API(S, float, float, float, sy)
ACCEL_API(D, double, double, double, sy)
ACCEL_API(C, std::complex<float>, cuComplex, float, he)
ACCEL_API(Z, std::complex<double>, cuDoubleComplex, double, he)
#undef ACCEL_API

// The same for matrices of 64-bit sizes, whose types are arguments.

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
            as<T>(a),
            narrow(lda),
            as<accelerator::solver::RealOf<T>>(values),
            info,
            count);
      });
}

} // extern "C"
