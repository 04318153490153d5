// More of LAPACK's Fortran symbols than lapack.h has, for host_lapack.cpp,
// with the lengths of character arguments at the end.
#pragma once

#include "runtime/libraries/blas/lapack.h"
#include "runtime/libraries/blas/numeric.h"

namespace accelerator::blas {

// clang-format off
extern "C" {
#define ACCEL_LAPACK(letter, type, real, orthogonal, symmetric) \
  void letter##symmetric##trd_(Letter, Count, type*, Count, real*, real*, type*, type*, Count, int*, Length); \
  void letter##orthogonal##gtr_(Letter, Count, type*, Count, const type*, type*, Count, int*, Length); \
  void letter##orthogonal##mtr_(Letter, Letter, Letter, Count, Count, const type*, Count, const type*, type*, Count, type*, Count, int*, Length, Length, Length); \
  void letter##potrf_(Letter, Count, type*, Count, int*, Length); \
  void letter##potrs_(Letter, Count, Count, const type*, Count, type*, Count, int*, Length); \
  void letter##potri_(Letter, Count, type*, Count, int*, Length); \
  void letter##trtri_(Letter, Letter, Count, type*, Count, int*, Length, Length); \
  void letter##orthogonal##gqr_(Count, Count, Count, type*, Count, const type*, type*, Count, int*); \
  void letter##orthogonal##mqr_(Letter, Letter, Count, Count, Count, const type*, Count, const type*, type*, Count, type*, Count, int*, Length, Length); \
  void letter##sytrf_(Letter, Count, type*, Count, int*, type*, Count, int*, Length); \
  void letter##sytrs_(Letter, Count, Count, const type*, Count, Count, type*, Count, int*, Length);
ACCEL_LAPACK(s, float, float, or, sy)
ACCEL_LAPACK(d, double, double, or, sy)
ACCEL_LAPACK(c, Complex64, float, un, he)
ACCEL_LAPACK(z, Complex128, double, un, he)
#undef ACCEL_LAPACK

#define ACCEL_LAPACK(letter, type) \
  void letter##geev_(Letter, Letter, Count, type*, Count, type*, type*, type*, Count, type*, Count, type*, Count, int*, Length, Length); \
  void letter##syevd_(Letter, Letter, Count, type*, Count, type*, type*, Count, int*, Count, int*, Length, Length); \
  void letter##sygvd_(Count, Letter, Letter, Count, type*, Count, type*, Count, type*, type*, Count, int*, Count, int*, Length, Length); \
  void letter##gesvd_(Letter, Letter, Count, Count, type*, Count, type*, type*, Count, type*, Count, type*, Count, int*, Length, Length);
ACCEL_LAPACK(s, float)
ACCEL_LAPACK(d, double)
#undef ACCEL_LAPACK

#define ACCEL_LAPACK(letter, type, real) \
  void letter##geev_(Letter, Letter, Count, type*, Count, type*, type*, Count, type*, Count, type*, Count, real*, int*, Length, Length); \
  void letter##heevd_(Letter, Letter, Count, type*, Count, real*, type*, Count, real*, Count, int*, Count, int*, Length, Length); \
  void letter##hegvd_(Count, Letter, Letter, Count, type*, Count, type*, Count, real*, type*, Count, real*, Count, int*, Count, int*, Length, Length); \
  void letter##gesvd_(Letter, Letter, Count, Count, type*, Count, real*, type*, Count, type*, Count, type*, Count, real*, int*, Length, Length);
ACCEL_LAPACK(c, Complex64, float)
ACCEL_LAPACK(z, Complex128, double)
#undef ACCEL_LAPACK
} // extern "C"
// clang-format on

} // namespace accelerator::blas
