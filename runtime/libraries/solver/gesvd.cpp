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
cusolverStatus_t size_gesvd_work(
    const char*,
    cusolverDnHandle_t handle,
    int rows,
    int columns,
    int* size) {
  return answer_work_size(
      check(handle, {rows >= 0, columns >= 0, columns <= rows}),
      sizeof(T),
      size);
}

template <typename T>
cusolverStatus_t size_gesvd_work(
    const char*,
    cusolverDnHandle_t handle,
    signed char,
    signed char,
    int rows,
    int columns,
    const T*,
    int lda,
    const RealOf<T>*,
    const T*,
    int,
    const T*,
    int,
    std::size_t* device_bytes,
    std::size_t* host_bytes) {
  return answer_work_size(
      check(handle, {columns <= rows, is_matrix(rows, columns, lda)}),
      sizeof(T),
      device_bytes,
      host_bytes);
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
    T*,
    int work_size,
    RealOf<T>* unconverged,
    int* info) {
  const int u_count = vectors_of(left, rows, std::min(rows, columns));
  const int vt_count = vectors_of(right, columns, std::min(rows, columns));
  const std::int64_t rest = std::min(rows, columns) - std::int64_t{1};
  return submit<T>(
      function,
      handle,
      {is_job(left),
       is_job(right),
       !(left == 'O' && right == 'O'),
       columns <= rows, // as cuSOLVER's
       is_matrix(rows, columns, lda),
       ldu >= std::max(1, u_count == 0 ? 1 : rows),
       ldvt >= std::max(1, vt_count),
       work_size >= kWorkSize,
       info != nullptr},
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
    T* work,
    int work_size,
    int* info) {
  return gesvd<T>(
      function,
      handle,
      left,
      right,
      rows,
      columns,
      a,
      lda,
      values,
      u,
      ldu,
      vt,
      ldvt,
      work,
      work_size,
      nullptr,
      info);
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

TYPED_ENTRY_POINTS(4, cusolverDn, gesvd_bufferSize, size_gesvd_work)
ENTRY_POINTS(16, cusolverDn, gesvd, gesvd)

GENERIC_ENTRY_POINT_OF_VALUES(20, cusolverDnXgesvd_bufferSize, size_gesvd_work)
GENERIC_ENTRY_POINT_OF_VALUES(23, cusolverDnXgesvd, gesvd)
