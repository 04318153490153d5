// gesvdj and its batches: singular values, with V where gesvd has V^H. They are
// computed by LAPACK's gesvd: Jacobi's method, which cuSOLVER's j stands for,
// would give the same.
#include "runtime/libraries/solver/decompose.h"

namespace accelerator::solver {
namespace {

template <typename T>
cusolverStatus_t gesvdj(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    bool is_economic,
    int rows,
    int columns,
    T* a,
    int lda,
    const Output<T>& output,
    int work_size,
    int* info,
    gesvdjInfo_t params) {
  for (const auto status :
       {check_gesvdj(handle, mode, rows, columns, lda, output.ldu, output.ldv),
        check(
            handle,
            {work_size >= kWorkSize, info != nullptr, params != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  const int least = std::min(rows, columns);
  const bool is_wanted = mode == CUSOLVER_EIG_MODE_VECTOR;
  const int u_count = !is_wanted ? 0 : is_economic ? least : rows;
  const int v_count = !is_wanted ? 0 : is_economic ? least : columns;
  auto residual = std::make_shared<std::atomic<double>>(std::nan(""));
  params->residual = residual;
  return submit<T>(
      function,
      handle,
      {matrix(a, rows, columns, lda),
       vector(output.values, least),
       matrix(output.u, rows, u_count, output.ldu),
       matrix(output.v, columns, v_count, output.ldv),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        double norm = 0;
        const int failed = decompose(
            lapack, rows, columns, a, lda, output, u_count, v_count, &norm);
        *info = info_of(failed, rows, columns);
        *residual = norm;
        return true;
      });
}

/// cuSOLVER's limit of matrices in a batch.
constexpr int kLargestOfBatch = 32;

cusolverStatus_t check_gesvdj_batched(
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    int rows,
    int columns,
    int lda,
    int ldu,
    int ldv,
    int count) {
  const auto status = check(
      handle,
      {rows <= kLargestOfBatch, columns <= kLargestOfBatch, count >= 0});
  return status != CUSOLVER_STATUS_SUCCESS
      ? status
      : check_gesvdj(handle, mode, rows, columns, lda, ldu, ldv);
}

/// `count` matrices of so many columns, without gaps between them.
template <typename T>
Extent batch(const T* a, int rows, int columns, int leading, int count) {
  return strided_extent(
      a,
      matrix_bytes(rows, columns, leading, sizeof(T)),
      std::int64_t{leading} * columns,
      sizeof(T),
      count);
}

template <typename T>
cusolverStatus_t gesvdj_batched(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    int rows,
    int columns,
    T* a,
    int lda,
    const Output<T>& output,
    int work_size,
    int* info,
    gesvdjInfo_t params,
    int count) {
  for (const auto status :
       {check_gesvdj_batched(
            handle, mode, rows, columns, lda, output.ldu, output.ldv, count),
        check(handle, {work_size >= kWorkSize, params != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  params->residual = nullptr;
  const int least = std::min(rows, columns);
  const bool is_wanted = mode == CUSOLVER_EIG_MODE_VECTOR;
  const int u_count = is_wanted ? rows : 0;
  const int v_count = is_wanted ? columns : 0;
  return submit<T>(
      function,
      handle,
      {batch(a, rows, columns, lda, count),
       vector(output.values, std::int64_t{least} * count),
       batch(output.u, rows, u_count, output.ldu, count),
       batch(output.v, columns, v_count, output.ldv, count),
       vector(info, count)},
      [=](const Routines<T>& lapack) {
        for (std::ptrdiff_t i = 0; i < count; ++i) {
          const Output<T> its = {
              output.values + i * least,
              output.u + i * output.ldu * u_count,
              output.ldu,
              output.v + i * output.ldv * v_count,
              output.ldv};
          const int failed = decompose(
              lapack,
              rows,
              columns,
              a + i * lda * columns,
              lda,
              its,
              u_count,
              v_count,
              nullptr);
          info[i] = info_of(failed, rows, columns);
        }
        return true;
      });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

extern "C" {

#define ACCEL_API(L, T, Api, Real)                                             \
  cusolverStatus_t cusolverDn##L##gesvdj_bufferSize(                           \
      cusolverDnHandle_t handle,                                               \
      cusolverEigMode_t mode,                                                  \
      int,                                                                     \
      int m,                                                                   \
      int n,                                                                   \
      const Api*,                                                              \
      int lda,                                                                 \
      const Real*,                                                             \
      const Api*,                                                              \
      int ldu,                                                                 \
      const Api*,                                                              \
      int ldv,                                                                 \
      int* size,                                                               \
      gesvdjInfo_t) {                                                          \
    return answer_work_size(                                                   \
        check_gesvdj(handle, mode, m, n, lda, ldu, ldv), size);                \
  }                                                                            \
  cusolverStatus_t cusolverDn##L##gesvdj(                                      \
      cusolverDnHandle_t handle,                                               \
      cusolverEigMode_t mode,                                                  \
      int economic,                                                            \
      int m,                                                                   \
      int n,                                                                   \
      Api* a,                                                                  \
      int lda,                                                                 \
      Real* values,                                                            \
      Api* u,                                                                  \
      int ldu,                                                                 \
      Api* v,                                                                  \
      int ldv,                                                                 \
      Api*,                                                                    \
      int size,                                                                \
      int* info,                                                               \
      gesvdjInfo_t params) {                                                   \
    return gesvdj<T>(                                                          \
        __func__,                                                              \
        handle,                                                                \
        mode,                                                                  \
        economic != 0,                                                         \
        m,                                                                     \
        n,                                                                     \
        as<T>(a),                                                              \
        lda,                                                                   \
        {values, as<T>(u), ldu, as<T>(v), ldv},                                \
        size,                                                                  \
        info,                                                                  \
        params);                                                               \
  }                                                                            \
  cusolverStatus_t cusolverDn##L##gesvdjBatched_bufferSize(                    \
      cusolverDnHandle_t handle,                                               \
      cusolverEigMode_t mode,                                                  \
      int m,                                                                   \
      int n,                                                                   \
      const Api*,                                                              \
      int lda,                                                                 \
      const Real*,                                                             \
      const Api*,                                                              \
      int ldu,                                                                 \
      const Api*,                                                              \
      int ldv,                                                                 \
      int* size,                                                               \
      gesvdjInfo_t,                                                            \
      int count) {                                                             \
    return answer_work_size(                                                   \
        check_gesvdj_batched(handle, mode, m, n, lda, ldu, ldv, count), size); \
  }                                                                            \
  cusolverStatus_t cusolverDn##L##gesvdjBatched(                               \
      cusolverDnHandle_t handle,                                               \
      cusolverEigMode_t mode,                                                  \
      int m,                                                                   \
      int n,                                                                   \
      Api* a,                                                                  \
      int lda,                                                                 \
      Real* values,                                                            \
      Api* u,                                                                  \
      int ldu,                                                                 \
      Api* v,                                                                  \
      int ldv,                                                                 \
      Api*,                                                                    \
      int size,                                                                \
      int* info,                                                               \
      gesvdjInfo_t params,                                                     \
      int count) {                                                             \
    return gesvdj_batched<T>(                                                  \
        __func__,                                                              \
        handle,                                                                \
        mode,                                                                  \
        m,                                                                     \
        n,                                                                     \
        as<T>(a),                                                              \
        lda,                                                                   \
        {values, as<T>(u), ldu, as<T>(v), ldv},                                \
        size,                                                                  \
        info,                                                                  \
        params,                                                                \
        count);                                                                \
  }
ACCEL_FOR_TYPES(ACCEL_API)
#undef ACCEL_API

} // extern "C"
