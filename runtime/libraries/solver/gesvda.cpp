// gesvda in batches: some of the singular values of tall matrices, by LAPACK's
// gesvd. cuSOLVER's, which its a stands for, are approximate; these are not.
#include <cuda_runtime_api.h>

#include "runtime/libraries/solver/decompose.h"

namespace accelerator::solver {
namespace {

/// Where the parts of a batch lie.
struct Steps {
  long long a, values, u, v;
};

cusolverStatus_t check_gesvda(
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    int rank,
    int rows,
    int columns,
    int lda,
    int ldu,
    int ldv,
    int count) {
  const auto status = check(
      handle,
      {columns <= rows,
       rank >= 0,
       rank <= std::min(rows, columns),
       count >= 0});
  return status != CUSOLVER_STATUS_SUCCESS
      ? status
      : check_gesvdj(handle, mode, rows, columns, lda, ldu, ldv);
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
    const Output<T>& output,
    const Steps& steps,
    int work_size,
    int* info,
    double* residuals,
    int count) {
  for (const auto status :
       {check_gesvda(
            handle,
            mode,
            rank,
            rows,
            columns,
            lda,
            output.ldu,
            output.ldv,
            count),
        check(handle, {work_size >= kWorkSize})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  const int wanted = mode == CUSOLVER_EIG_MODE_VECTOR ? rank : 0;
  const auto status = submit<T>(
      function,
      handle,
      {strided_extent(
           a,
           matrix_bytes(rows, columns, lda, sizeof(T)),
           steps.a,
           sizeof(T),
           count),
       strided_extent(
           output.values,
           rank * sizeof(RealOf<T>),
           steps.values,
           sizeof(RealOf<T>),
           count),
       strided_extent(
           output.u,
           matrix_bytes(rows, wanted, output.ldu, sizeof(T)),
           steps.u,
           sizeof(T),
           count),
       strided_extent(
           output.v,
           matrix_bytes(columns, wanted, output.ldv, sizeof(T)),
           steps.v,
           sizeof(T),
           count),
       vector(info, count)},
      [=](const Routines<T>& lapack) {
        std::vector<RealOf<T>> values(std::min(rows, columns) + 1);
        for (int i = 0; i < count; ++i) {
          const Output<T> its = {
              values.data(),
              output.u + i * steps.u,
              output.ldu,
              output.v + i * steps.v,
              output.ldv};
          const int failed = decompose(
              lapack,
              rows,
              columns,
              a + i * steps.a,
              lda,
              its,
              wanted,
              wanted,
              residuals == nullptr ? nullptr : residuals + i);
          std::copy_n(values.begin(), rank, output.values + i * steps.values);
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

extern "C" {

#define ACCEL_API(L, T, Api, Real)                                           \
  cusolverStatus_t cusolverDn##L##gesvdaStridedBatched_bufferSize(           \
      cusolverDnHandle_t handle,                                             \
      cusolverEigMode_t mode,                                                \
      int rank,                                                              \
      int m,                                                                 \
      int n,                                                                 \
      const Api*,                                                            \
      int lda,                                                               \
      long long,                                                             \
      const Real*,                                                           \
      long long,                                                             \
      const Api*,                                                            \
      int ldu,                                                               \
      long long,                                                             \
      const Api*,                                                            \
      int ldv,                                                               \
      long long,                                                             \
      int* size,                                                             \
      int count) {                                                           \
    return answer_work_size(                                                 \
        check_gesvda(handle, mode, rank, m, n, lda, ldu, ldv, count), size); \
  }                                                                          \
  cusolverStatus_t cusolverDn##L##gesvdaStridedBatched(                      \
      cusolverDnHandle_t handle,                                             \
      cusolverEigMode_t mode,                                                \
      int rank,                                                              \
      int m,                                                                 \
      int n,                                                                 \
      const Api* a,                                                          \
      int lda,                                                               \
      long long step_a,                                                      \
      Real* values,                                                          \
      long long step_values,                                                 \
      Api* u,                                                                \
      int ldu,                                                               \
      long long step_u,                                                      \
      Api* v,                                                                \
      int ldv,                                                               \
      long long step_v,                                                      \
      Api*,                                                                  \
      int size,                                                              \
      int* info,                                                             \
      double* residuals,                                                     \
      int count) {                                                           \
    return gesvda<T>(                                                        \
        __func__,                                                            \
        handle,                                                              \
        mode,                                                                \
        rank,                                                                \
        m,                                                                   \
        n,                                                                   \
        as<const T>(a),                                                      \
        lda,                                                                 \
        {values, as<T>(u), ldu, as<T>(v), ldv},                              \
        {step_a, step_values, step_u, step_v},                               \
        size,                                                                \
        info,                                                                \
        residuals,                                                           \
        count);                                                              \
  }
ACCEL_FOR_TYPES(ACCEL_API)
#undef ACCEL_API

} // extern "C"
