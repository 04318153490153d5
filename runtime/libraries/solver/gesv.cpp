// gesv of two precisions: solves a system with an LU factorisation. NVIDIA's
// factors in the lower precision and refines the solution; here the
// factorisation has the precision of the solution, so that there is nothing to
// refine.
#include "runtime/libraries/blas/lu.h"

#include "runtime/libraries/solver/submit.h"

namespace accelerator::solver {
namespace {

cusolverStatus_t check_gesv(
    cusolverDnHandle_t handle,
    int n,
    int columns,
    int lda,
    int ldb,
    int ldx) {
  return check(
      handle,
      {is_matrix(n, n, lda),
       is_matrix(n, columns, ldb),
       is_matrix(n, columns, ldx)});
}

template <typename T>
cusolverStatus_t gesv(
    const char* function,
    cusolverDnHandle_t handle,
    int n,
    int columns,
    const T* a,
    int lda,
    int* pivots,
    const T* b,
    int ldb,
    T* x,
    int ldx,
    std::size_t work_bytes,
    int* iterations,
    int* info) {
  for (const auto status :
       {check_gesv(handle, n, columns, lda, ldb, ldx),
        check(
            handle,
            {work_bytes >= kWorkSize * sizeof(T),
             iterations != nullptr,
             info != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  *iterations = 0;
  return submit<T>(
      function,
      handle,
      {matrix(a, n, n, lda),
       vector(pivots, pivots == nullptr ? 0 : n),
       matrix(b, n, columns, ldb),
       matrix(x, n, columns, ldx),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({matrix_read(a, n, n, lda), matrix_read(b, n, columns, ldb)});
        // As after NVIDIA's refinement, A is what it was.
        const int leading = std::max(1, n);
        std::vector<T> factors(static_cast<std::size_t>(leading) * n);
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          std::copy_n(a + j * lda, n, factors.begin() + j * leading);
        }
        std::vector<int> found(static_cast<std::size_t>(leading));
        *info = lapack.getrf(n, n, factors.data(), leading, found.data());
        if (pivots != nullptr) {
          std::copy_n(found.begin(), n, pivots);
        }
        if (*info != 0) {
          return true;
        }
        for (std::ptrdiff_t j = 0; x != b && j < columns; ++j) {
          std::copy_n(b + j * ldb, n, x + j * ldx);
        }
        *info = lapack.getrs(
            'N', n, columns, factors.data(), leading, found.data(), x, ldx);
        return true;
      });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

extern "C" {

// clang-format off
#define ACCEL_API(Letters, T, Api)                                                               \
  cusolverStatus_t cusolverDn##Letters##gesv_bufferSize(cusolverDnHandle_t handle,               \
      cusolver_int_t n, cusolver_int_t columns, Api*, cusolver_int_t lda, cusolver_int_t*, Api*, \
      cusolver_int_t ldb, Api*, cusolver_int_t ldx, void*, size_t* bytes) {                      \
    const auto status = check_gesv(handle, n, columns, lda, ldb, ldx);                           \
    if (status != CUSOLVER_STATUS_SUCCESS) {                                                     \
      return status;                                                                             \
    }                                                                                            \
    if (bytes == nullptr) {                                                                      \
      return CUSOLVER_STATUS_INVALID_VALUE;                                                      \
    }                                                                                            \
    *bytes = kWorkSize * sizeof(T);                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                              \
  }                                                                                              \
  cusolverStatus_t cusolverDn##Letters##gesv(cusolverDnHandle_t handle, cusolver_int_t n,        \
      cusolver_int_t columns, Api* a, cusolver_int_t lda, cusolver_int_t* pivots, Api* b,        \
      cusolver_int_t ldb, Api* x, cusolver_int_t ldx, void*, size_t bytes,                       \
      cusolver_int_t* iterations, cusolver_int_t* info) {                                        \
    return gesv(__func__, handle, n, columns, as<const T>(a), lda, pivots, as<const T>(b), ldb,  \
        as<T>(x), ldx, bytes, iterations, info);                                                 \
  }
#define ACCEL_REAL(L, T) ACCEL_API(L, T, T)
ACCEL_REAL(SS, float)
ACCEL_REAL(SH, float)
ACCEL_REAL(SB, float)
ACCEL_REAL(SX, float)
ACCEL_REAL(DD, double)
ACCEL_REAL(DS, double)
ACCEL_REAL(DH, double)
ACCEL_REAL(DB, double)
ACCEL_REAL(DX, double)
#undef ACCEL_REAL
#define ACCEL_COMPLEX(L, R, Api) ACCEL_API(L, std::complex<R>, Api)
ACCEL_COMPLEX(CC, float, cuComplex)
ACCEL_COMPLEX(CE, float, cuComplex)
ACCEL_COMPLEX(CK, float, cuComplex)
ACCEL_COMPLEX(CY, float, cuComplex)
ACCEL_COMPLEX(ZZ, double, cuDoubleComplex)
ACCEL_COMPLEX(ZC, double, cuDoubleComplex)
ACCEL_COMPLEX(ZE, double, cuDoubleComplex)
ACCEL_COMPLEX(ZK, double, cuDoubleComplex)
ACCEL_COMPLEX(ZY, double, cuDoubleComplex)
#undef ACCEL_COMPLEX
#undef ACCEL_API
// clang-format on

} // extern "C"
