// gesvdj and its batches: singular values, with V where gesvd has V^H. They are
// computed by LAPACK's gesvd: Jacobi's method, which cuSOLVER's j stands for,
// would give the same.
#include "runtime/libraries/solver/decompose.h"

namespace accelerator::solver {
namespace {

template <typename T>
cusolverStatus_t size_gesvdj_work(
    const char*,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    int,
    int rows,
    int columns,
    const T*,
    int lda,
    const RealOf<T>*,
    const T*,
    int ldu,
    const T*,
    int ldv,
    int* size,
    gesvdjInfo_t params) {
  return answer_work_size(
      check(handle, {is_gesvdj(mode, rows, columns, lda, ldu, ldv)}),
      sizeof(T),
      size,
      params);
}

template <typename T>
cusolverStatus_t gesvdj(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    int economic,
    int rows,
    int columns,
    T* a,
    int lda,
    RealOf<T>* values,
    T* u,
    int ldu,
    T* v,
    int ldv,
    T*,
    int work_size,
    int* info,
    gesvdjInfo_t params) {
  if (const auto status = check(
          handle,
          {is_gesvdj(mode, rows, columns, lda, ldu, ldv),
           work_size >= kWorkSize,
           info != nullptr,
           params != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  const Output<T> output = {values, u, ldu, v, ldv};
  const bool is_economic = economic != 0;
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

template <typename T>
cusolverStatus_t size_gesvdj_batched_work(
    const char*,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    int rows,
    int columns,
    const T*,
    int lda,
    const RealOf<T>*,
    const T*,
    int ldu,
    const T*,
    int ldv,
    int* size,
    gesvdjInfo_t params,
    int count) {
  return answer_work_size(
      check(
          handle,
          {rows <= kLargestOfBatch,
           columns <= kLargestOfBatch,
           is_gesvdj(mode, rows, columns, lda, ldu, ldv)}),
      sizeof(T),
      size,
      params,
      count);
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
    RealOf<T>* values,
    T* u,
    int ldu,
    T* v,
    int ldv,
    T*,
    int work_size,
    int* info,
    gesvdjInfo_t params,
    int count) {
  if (const auto status = check(
          handle,
          {rows <= kLargestOfBatch,
           columns <= kLargestOfBatch,
           count >= 0,
           is_gesvdj(mode, rows, columns, lda, ldu, ldv),
           work_size >= kWorkSize,
           params != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  const Output<T> output = {values, u, ldu, v, ldv};
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

ENTRY_POINTS(14, cusolverDn, gesvdj_bufferSize, size_gesvdj_work)
ENTRY_POINTS(16, cusolverDn, gesvdj, gesvdj)
ENTRY_POINTS(14, cusolverDn, gesvdjBatched_bufferSize, size_gesvdj_batched_work)
ENTRY_POINTS(16, cusolverDn, gesvdjBatched, gesvdj_batched)
