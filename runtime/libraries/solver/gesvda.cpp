// gesvda in batches: some of the singular values of tall matrices, by LAPACK's
// gesvd. cuSOLVER's, which its a stands for, are approximate; these are not.
#include <cuda_runtime_api.h>

#include "runtime/libraries/solver/decompose.h"

namespace accelerator::solver {
namespace {

bool is_gesvda(
    cusolverEigMode_t mode,
    int rank,
    int rows,
    int columns,
    int lda,
    int ldu,
    int ldv,
    int count) {
  return columns <= rows && rank >= 0 && rank <= std::min(rows, columns) &&
      count >= 0 && is_gesvdj(mode, rows, columns, lda, ldu, ldv);
}

template <typename T>
cusolverStatus_t size_gesvda_work(
    const char*,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    int rank,
    int rows,
    int columns,
    const T*,
    int lda,
    long long,
    const RealOf<T>*,
    long long,
    const T*,
    int ldu,
    long long,
    const T*,
    int ldv,
    long long,
    int* size,
    int count) {
  return answer_work_size(
      check(
          handle, {is_gesvda(mode, rank, rows, columns, lda, ldu, ldv, count)}),
      sizeof(T),
      size);
}

template <typename T>
cusolverStatus_t gesvda(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    int rank,
    int rows,
    int columns,
    const T* a,
    int lda,
    long long step_a,
    RealOf<T>* values,
    long long step_values,
    T* u,
    int ldu,
    long long step_u,
    T* v,
    int ldv,
    long long step_v,
    T*,
    int work_size,
    int* info,
    double* residuals,
    int count) {
  const int wanted = mode == CUSOLVER_EIG_MODE_VECTOR ? rank : 0;
  const auto status = submit<T>(
      function,
      handle,
      {is_gesvda(mode, rank, rows, columns, lda, ldu, ldv, count),
       work_size >= kWorkSize},
      {strided_extent(
           a,
           matrix_bytes(rows, columns, lda, sizeof(T)),
           step_a,
           sizeof(T),
           count),
       strided_extent(
           values,
           rank * sizeof(RealOf<T>),
           step_values,
           sizeof(RealOf<T>),
           count),
       strided_extent(
           u,
           matrix_bytes(rows, wanted, ldu, sizeof(T)),
           step_u,
           sizeof(T),
           count),
       strided_extent(
           v,
           matrix_bytes(columns, wanted, ldv, sizeof(T)),
           step_v,
           sizeof(T),
           count),
       vector(info, count)},
      [=](const Routines<T>& lapack) {
        std::vector<RealOf<T>> all(std::min(rows, columns) + 1);
        for (int i = 0; i < count; ++i) {
          const Output<T> its = {
              all.data(), u + i * step_u, ldu, v + i * step_v, ldv};
          const int failed = decompose(
              lapack,
              rows,
              columns,
              a + i * step_a,
              lda,
              its,
              wanted,
              wanted,
              residuals == nullptr ? nullptr : residuals + i);
          std::copy_n(all.begin(), rank, values + i * step_values);
          info[i] = info_of(failed, rows, columns);
        }
        return true;
      });
  // The residuals are the host's.
  if (status == CUSOLVER_STATUS_SUCCESS && residuals != nullptr &&
      cudaStreamSynchronize(handle->stream) != cudaSuccess) {
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  return status;
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

ENTRY_POINTS(18, cusolverDn, gesvdaStridedBatched_bufferSize, size_gesvda_work)
ENTRY_POINTS(21, cusolverDn, gesvdaStridedBatched, gesvda)
