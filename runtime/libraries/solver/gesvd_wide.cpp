// gesvdp and gesvdr, for matrices of 64-bit sizes: singular values by NVIDIA's
// polar and random methods. Here they are LAPACK's, which are as exact as the
// type allows.
#include "runtime/libraries/solver/decompose.h"
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

/// Where singular values and vectors go, and how many of each.
template <typename T>
struct Parts {
  Output<T> output;
  int values;
  int u_count;
  int v_count;
};

template <typename T>
cusolverStatus_t submit_parts(
    const char* function,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    const T* a,
    int lda,
    const Parts<T>& its,
    int* info) {
  if (const auto status = check(handle, {info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return submit<T>(
      function,
      handle,
      {matrix(a, rows, columns, lda),
       vector(its.output.values, its.values),
       matrix(its.output.u, rows, its.u_count, its.output.ldu),
       matrix(its.output.v, columns, its.v_count, its.output.ldv),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        std::vector<RealOf<T>> all(std::min(rows, columns) + std::size_t{1});
        Output<T> output = its.output;
        output.values = all.data();
        const int failed = decompose(
            lapack,
            rows,
            columns,
            a,
            lda,
            output,
            its.u_count,
            its.v_count,
            nullptr);
        std::copy_n(all.begin(), its.values, its.output.values);
        *info = info_of(failed, rows, columns);
        return true;
      });
}

template <typename T>
cusolverStatus_t size_gesvdp_work(
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
    std::size_t* device_bytes,
    std::size_t* host_bytes) {
  return answer_work_size(
      check(handle, {is_gesvdj(mode, rows, columns, lda, ldu, ldv)}),
      sizeof(T),
      device_bytes,
      host_bytes);
}

template <typename T>
cusolverStatus_t gesvdp(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverEigMode_t mode,
    int economic,
    int rows,
    int columns,
    const T* a,
    int lda,
    RealOf<T>* values,
    T* u,
    int ldu,
    T* v,
    int ldv,
    T*,
    int work_size,
    int* info,
    double* perturbation) {
  if (const auto status = check(
          handle,
          {work_size >= kWorkSize,
           perturbation != nullptr,
           is_gesvdj(mode, rows, columns, lda, ldu, ldv)});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  // NVIDIA's changes small singular values, and says how much.
  *perturbation = 0;
  const int least = std::min(rows, columns);
  const bool is_wanted = mode == CUSOLVER_EIG_MODE_VECTOR;
  return submit_parts(
      function,
      handle,
      rows,
      columns,
      a,
      lda,
      Parts<T>{
          {values, u, ldu, v, ldv},
          least,
          !is_wanted          ? 0
              : economic != 0 ? least
                              : rows,
          !is_wanted          ? 0
              : economic != 0 ? least
                              : columns},
      info);
}

bool is_random_job(signed char job) {
  return job == 'S' || job == 'N';
}

cusolverStatus_t check_gesvdr(
    cusolverDnHandle_t handle,
    signed char left,
    signed char right,
    int rows,
    int columns,
    int rank,
    std::int64_t oversampling,
    std::int64_t iterations,
    int lda,
    int ldu,
    int ldv) {
  return check(
      handle,
      {is_random_job(left),
       is_random_job(right),
       is_matrix(rows, columns, lda),
       rank >= 1,
       oversampling >= 0,
       iterations >= 0,
       rank + oversampling <= std::min(rows, columns),
       ldu >= (left == 'S' ? std::max(1, rows) : 1),
       ldv >= (right == 'S' ? std::max(1, columns) : 1)});
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

GENERIC_ENTRY_POINT_OF_VALUES(
    20,
    cusolverDnXgesvdp_bufferSize,
    size_gesvdp_work)
GENERIC_ENTRY_POINT_OF_VALUES(24, cusolverDnXgesvdp, gesvdp)

// Of gesvdr, not all 64-bit sizes have to be LAPACK's.
extern "C" {

cusolverStatus_t cusolverDnXgesvdr_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    signed char left,
    signed char right,
    int64_t m,
    int64_t n,
    int64_t rank,
    int64_t oversampling,
    int64_t iterations,
    cudaDataType type,
    const void*,
    int64_t lda,
    cudaDataType type_values,
    const void*,
    cudaDataType type_u,
    const void*,
    int64_t ldu,
    cudaDataType type_v,
    const void*,
    int64_t ldv,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(
      handle,
      type,
      {type_u, type_v, compute_type},
      {m, n, rank, lda, ldu, ldv},
      [&](auto zero) {
        const auto status = check(handle, {type_values == real_of(type)});
        return answer_work_size(
            status != CUSOLVER_STATUS_SUCCESS ? status
                                              : check_gesvdr(
                                                    handle,
                                                    left,
                                                    right,
                                                    narrow(m),
                                                    narrow(n),
                                                    narrow(rank),
                                                    oversampling,
                                                    iterations,
                                                    narrow(lda),
                                                    narrow(ldu),
                                                    narrow(ldv)),
            sizeof(zero),
            device_bytes,
            host_bytes);
      });
}

cusolverStatus_t cusolverDnXgesvdr(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    signed char left,
    signed char right,
    int64_t m,
    int64_t n,
    int64_t rank,
    int64_t oversampling,
    int64_t iterations,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType type_values,
    void* values,
    cudaDataType type_u,
    void* u,
    int64_t ldu,
    cudaDataType type_v,
    void* v,
    int64_t ldv,
    cudaDataType compute_type,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle,
      type,
      {type_u, type_v, compute_type},
      {m, n, rank, lda, ldu, ldv},
      device_bytes,
      [&](auto zero) {
        using T = decltype(zero);
        using Real = accelerator::solver::RealOf<T>;
        for (const auto status :
             {check(handle, {type_values == real_of(type)}),
              check_gesvdr(
                  handle,
                  left,
                  right,
                  narrow(m),
                  narrow(n),
                  narrow(rank),
                  oversampling,
                  iterations,
                  narrow(lda),
                  narrow(ldu),
                  narrow(ldv))}) {
          if (status != CUSOLVER_STATUS_SUCCESS) {
            return status;
          }
        }
        return submit_parts(
            "cusolverDnXgesvdr",
            handle,
            narrow(m),
            narrow(n),
            static_cast<const T*>(a),
            narrow(lda),
            Parts<T>{
                {static_cast<Real*>(values),
                 static_cast<T*>(u),
                 narrow(ldu),
                 static_cast<T*>(v),
                 narrow(ldv)},
                narrow(rank),
                left == 'S' ? narrow(rank) : 0,
                right == 'S' ? narrow(rank) : 0},
            info);
      });
}

} // extern "C"
