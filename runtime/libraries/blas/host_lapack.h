// The LAPACK of libcublas.so.12, for libcusolver.so.11: one copy of it is
// enough for both, and its symbols stay hidden from the torch in the same
// process.
#pragma once

#include <complex>

namespace accelerator::blas {

template <typename T>
struct RealOf {
  using type = T;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using type = R;
};

/// Routines of one element type, by LAPACK's names for real numbers and with
/// its arguments, but for the work areas, which they make themselves. All
/// return LAPACK's info, and throw std::bad_alloc.
template <typename T>
struct LapackRoutines {
  using Real = typename RealOf<T>::type;

  int (*getrf)(int rows, int columns, T* a, int lda, int* pivots);
  int (*getrs)(
      char operation,
      int n,
      int columns,
      const T* a,
      int lda,
      const int* pivots,
      T* b,
      int ldb);
  int (*potrf)(char triangle, int n, T* a, int lda);
  int (*potrs)(
      char triangle,
      int n,
      int columns,
      const T* a,
      int lda,
      T* b,
      int ldb);
  int (*potri)(char triangle, int n, T* a, int lda);
  int (*trtri)(char triangle, char diagonal, int n, T* a, int lda);
  int (*geqrf)(int rows, int columns, T* a, int lda, T* tau);
  int (*orgqr)(
      int rows,
      int columns,
      int reflectors,
      T* a,
      int lda,
      const T* tau);
  int (*ormqr)(
      char side,
      char operation,
      int rows,
      int columns,
      int reflectors,
      const T* a,
      int lda,
      const T* tau,
      T* c,
      int ldc);
  int (*sytrf)(char triangle, int n, T* a, int lda, int* pivots);
  int (*sytrs)(
      char triangle,
      int n,
      int columns,
      const T* a,
      int lda,
      const int* pivots,
      T* b,
      int ldb);
  /// To a tridiagonal matrix, by orthogonal ones that are left in `a`; of
  /// Hermitian matrices, where the numbers are complex.
  /// @param diagonal n numbers, off_diagonal and tau n - 1.
  int (*sytrd)(
      char triangle,
      int n,
      T* a,
      int lda,
      Real* diagonal,
      Real* off_diagonal,
      T* tau);
  int (*orgtr)(char triangle, int n, T* a, int lda, const T* tau);
  int (*ormtr)(
      char side,
      char triangle,
      char operation,
      int rows,
      int columns,
      const T* a,
      int lda,
      const T* tau,
      T* c,
      int ldc);
  /// Of Hermitian matrices, where the numbers are complex.
  int (*syevd)(char vectors, char triangle, int n, T* a, int lda, Real* values);
  /// Of pairs: A x = l B x, A B x = l x, or B A x = l x. B becomes its Cholesky
  /// factor.
  int (*sygvd)(
      int type,
      char vectors,
      char triangle,
      int n,
      T* a,
      int lda,
      T* b,
      int ldb,
      Real* values);
  /// Of matrices of any kind; also real ones have complex values. A pair of
  /// complex vectors of a real matrix is in two columns, the real part first.
  int (*geev)(
      char left,
      char right,
      int n,
      T* a,
      int lda,
      std::complex<Real>* values,
      T* vl,
      int ldvl,
      T* vr,
      int ldvr);
  /// @param unconverged min(rows, columns) - 1 numbers that are left when it
  /// fails; may be null.
  int (*gesvd)(
      char left,
      char right,
      int rows,
      int columns,
      T* a,
      int lda,
      Real* values,
      T* u,
      int ldu,
      T* vt,
      int ldvt,
      Real* unconverged);
};

struct HostLapack {
  LapackRoutines<float> s;
  LapackRoutines<double> d;
  LapackRoutines<std::complex<float>> c;
  LapackRoutines<std::complex<double>> z;
};

} // namespace accelerator::blas

/// For use in work of a stream, as with all of OpenBLAS.
extern "C" const accelerator::blas::HostLapack* accel_host_lapack();
