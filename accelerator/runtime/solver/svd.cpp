// Singular values by QR iterations.
#include "accelerator/runtime/solver/dense.h"

namespace accelerator::solver {
namespace {

bool is_job(signed char job) {
  return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}

/// How many vectors a job gives apart.
int vectors_of(signed char job, int all, int some) {
  return job == 'A' ? all : job == 'S' ? some : 0;
}

} // namespace

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

#define ACCEL_INSTANTIATE(T)          \
  template cusolverStatus_t gesvd<T>( \
      const char*,                    \
      cusolverDnHandle_t,             \
      signed char,                    \
      signed char,                    \
      int,                            \
      int,                            \
      T*,                             \
      int,                            \
      RealOf<T>*,                     \
      T*,                             \
      int,                            \
      T*,                             \
      int,                            \
      RealOf<T>*,                     \
      int*);
ACCEL_INSTANTIATE(float)
ACCEL_INSTANTIATE(double)
ACCEL_INSTANTIATE(std::complex<float>)
ACCEL_INSTANTIATE(std::complex<double>)
#undef ACCEL_INSTANTIATE

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
ACCEL_API(S, float, float, float)
ACCEL_API(D, double, double, double)
ACCEL_API(C, std::complex<float>, cuComplex, float)
ACCEL_API(Z, std::complex<double>, cuDoubleComplex, double)
#undef ACCEL_API

} // extern "C"
