// gesv of two precisions: solves a system with an LU factorisation. NVIDIA's
// factors in the lower precision and refines the solution; here the
// factorisation has the precision of the solution, so that there is nothing to
// refine.
#include "runtime/libraries/blas/lu.h"

#include "runtime/libraries/solver/submit.h"

namespace accelerator::solver {
namespace {

bool is_gesv(int n, int columns, int lda, int ldb, int ldx) {
  return is_matrix(n, n, lda) && is_matrix(n, columns, ldb) &&
      is_matrix(n, columns, ldx);
}

template <typename T>
cusolverStatus_t size_gesv_work(
    const char*,
    cusolverDnHandle_t handle,
    int n,
    int columns,
    T*,
    int lda,
    int*,
    T*,
    int ldb,
    T*,
    int ldx,
    void*,
    std::size_t* bytes) {
  const auto status =
      check(handle, {is_gesv(n, columns, lda, ldb, ldx), bytes != nullptr});
  if (status == CUSOLVER_STATUS_SUCCESS) {
    *bytes = kWorkSize * sizeof(T);
  }
  return status;
}

template <typename T>
cusolverStatus_t gesv(
    const char* function,
    cusolverDnHandle_t handle,
    int n,
    int columns,
    T* a,
    int lda,
    int* pivots,
    T* b,
    int ldb,
    T* x,
    int ldx,
    void*,
    std::size_t work_bytes,
    int* iterations,
    int* info) {
  if (const auto status = check(
          handle,
          {is_gesv(n, columns, lda, ldb, ldx),
           work_bytes >= kWorkSize * sizeof(T),
           iterations != nullptr,
           info != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
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

// The second letter is the lower precision.
#define ACCEL_GESV(letters)                                             \
  ENTRY_POINT(12, cusolverDn##letters##gesv_bufferSize, size_gesv_work) \
  ENTRY_POINT(14, cusolverDn##letters##gesv, gesv)
ACCEL_GESV(SS)
ACCEL_GESV(SH)
ACCEL_GESV(SB)
ACCEL_GESV(SX)
ACCEL_GESV(DD)
ACCEL_GESV(DS)
ACCEL_GESV(DH)
ACCEL_GESV(DB)
ACCEL_GESV(DX)
ACCEL_GESV(CC)
ACCEL_GESV(CE)
ACCEL_GESV(CK)
ACCEL_GESV(CY)
ACCEL_GESV(ZZ)
ACCEL_GESV(ZC)
ACCEL_GESV(ZE)
ACCEL_GESV(ZK)
ACCEL_GESV(ZY)
#undef ACCEL_GESV
