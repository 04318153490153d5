// gesvd: singular values as LAPACK's gesvd gives them.
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

bool is_job(signed char job) {
  return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}

/// How many vectors a job gives apart.
int vectors_of(signed char job, int all, int some) {
  return job == 'A' ? all : job == 'S' ? some : 0;
}

template <typename T>
cusolverStatus_t gesvd(
    const char* function,
    cusolverDnHandle_t handle,
    signed char left,
    signed char right,
    int rows,
    int columns,
    T* a,
    int lda,
    RealOf<T>* values,
    T* u,
    int ldu,
    T* vt,
    int ldvt,
    RealOf<T>* unconverged,
    int* info) {
  const int u_count = vectors_of(left, rows, std::min(rows, columns));
  const int vt_count = vectors_of(right, columns, std::min(rows, columns));
  if (const auto status = check(
          handle,
          {is_job(left),
           is_job(right),
           !(left == 'O' && right == 'O'),
           // Nor has cuSOLVER's routine broad matrices.
           columns <= rows,
           is_matrix(rows, columns, lda),
           ldu >= std::max(1, u_count == 0 ? 1 : rows),
           ldvt >= std::max(1, vt_count),
           info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  const int rest = std::min(rows, columns) - 1;
  return submit<T>(
      function,
      handle,
      {matrix(a, rows, columns, lda),
       vector(values, std::min(rows, columns)),
       matrix(u, rows, u_count, ldu),
       matrix(vt, vt_count, columns, ldvt),
       vector(unconverged, unconverged == nullptr ? 0 : rest),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({matrix_read(a, rows, columns, lda)});
        *info = lapack.gesvd(
            static_cast<char>(left),
            static_cast<char>(right),
            rows,
            columns,
            a,
            lda,
            values,
            u,
            ldu,
            vt,
            ldvt,
            unconverged);
        return true;
      });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

extern "C" {

#define ACCEL_API(L, T, Api, Real)                                          \
  cusolverStatus_t cusolverDn##L##gesvd_bufferSize(                         \
      cusolverDnHandle_t handle, int m, int n, int* size) {                 \
    return answer_work_size(check(handle, {m >= 0, n >= 0, n <= m}), size); \
  }                                                                         \
  cusolverStatus_t cusolverDn##L##gesvd(                                    \
      cusolverDnHandle_t handle,                                            \
      signed char left,                                                     \
      signed char right,                                                    \
      int m,                                                                \
      int n,                                                                \
      Api* a,                                                               \
      int lda,                                                              \
      Real* values,                                                         \
      Api* u,                                                               \
      int ldu,                                                              \
      Api* vt,                                                              \
      int ldvt,                                                             \
      Api*,                                                                 \
      int size,                                                             \
      Real* unconverged,                                                    \
      int* info) {                                                          \
    const auto status = check(handle, {size >= kWorkSize});                 \
    return status != CUSOLVER_STATUS_SUCCESS ? status                       \
                                             : gesvd(                       \
                                                   __func__,                \
                                                   handle,                  \
                                                   left,                    \
                                                   right,                   \
                                                   m,                       \
                                                   n,                       \
                                                   as<T>(a),                \
                                                   lda,                     \
                                                   values,                  \
                                                   as<T>(u),                \
                                                   ldu,                     \
                                                   as<T>(vt),               \
                                                   ldvt,                    \
                                                   unconverged,             \
                                                   info);                   \
  }
ACCEL_FOR_TYPES(ACCEL_API)
#undef ACCEL_API

// The same for matrices of 64-bit sizes, whose types are arguments.

cusolverStatus_t cusolverDnXgesvd_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    signed char,
    signed char,
    int64_t m,
    int64_t n,
    cudaDataType type,
    const void*,
    int64_t lda,
    cudaDataType type_values,
    const void*,
    cudaDataType type_u,
    const void*,
    int64_t ldu,
    cudaDataType type_vt,
    const void*,
    int64_t ldvt,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(
      handle,
      type,
      {type_u, type_vt, compute_type},
      {m, n, lda, ldu, ldvt},
      [&](auto zero) {
        return answer<decltype(zero)>(
            check(
                handle,
                {type_values == real_of(type),
                 n <= m,
                 is_matrix(narrow(m), narrow(n), narrow(lda))}),
            device_bytes,
            host_bytes);
      });
}

cusolverStatus_t cusolverDnXgesvd(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    signed char left,
    signed char right,
    int64_t m,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType type_values,
    void* values,
    cudaDataType type_u,
    void* u,
    int64_t ldu,
    cudaDataType type_vt,
    void* vt,
    int64_t ldvt,
    cudaDataType compute_type,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle,
      type,
      {type_u, type_vt, compute_type},
      {m, n, lda, ldu, ldvt},
      device_bytes,
      [&](auto zero) {
        using T = decltype(zero);
        using Real = accelerator::solver::RealOf<T>;
        if (type_values != real_of(type)) {
          return CUSOLVER_STATUS_INVALID_VALUE;
        }
        return gesvd(
            "cusolverDnXgesvd",
            handle,
            left,
            right,
            narrow(m),
            narrow(n),
            as<T>(a),
            narrow(lda),
            as<Real>(values),
            as<T>(u),
            narrow(ldu),
            as<T>(vt),
            narrow(ldvt),
            static_cast<Real*>(nullptr),
            info);
      });
}

} // extern "C"
