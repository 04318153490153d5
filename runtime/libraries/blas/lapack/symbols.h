// More of LAPACK's Fortran symbols than lapack.h has, for host_lapack.cpp,
// with the lengths of character arguments at the end.
#pragma once

#include <cstddef>

#include "runtime/libraries/blas/numeric.h"

extern "C" {
#define ACCEL_LAPACK(letter, type, orthogonal)                        \
  void letter##potrf_(                                                \
      const char*, const int*, type*, const int*, int*, std::size_t); \
  void letter##potrs_(                                                \
      const char*,                                                    \
      const int*,                                                     \
      const int*,                                                     \
      const type*,                                                    \
      const int*,                                                     \
      type*,                                                          \
      const int*,                                                     \
      int*,                                                           \
      std::size_t);                                                   \
  void letter##potri_(                                                \
      const char*, const int*, type*, const int*, int*, std::size_t); \
  void letter##trtri_(                                                \
      const char*,                                                    \
      const char*,                                                    \
      const int*,                                                     \
      type*,                                                          \
      const int*,                                                     \
      int*,                                                           \
      std::size_t,                                                    \
      std::size_t);                                                   \
  void letter##orthogonal##gqr_(                                      \
      const int*,                                                     \
      const int*,                                                     \
      const int*,                                                     \
      type*,                                                          \
      const int*,                                                     \
      const type*,                                                    \
      type*,                                                          \
      const int*,                                                     \
      int*);                                                          \
  void letter##orthogonal##mqr_(                                      \
      const char*,                                                    \
      const char*,                                                    \
      const int*,                                                     \
      const int*,                                                     \
      const int*,                                                     \
      const type*,                                                    \
      const int*,                                                     \
      const type*,                                                    \
      type*,                                                          \
      const int*,                                                     \
      type*,                                                          \
      const int*,                                                     \
      int*,                                                           \
      std::size_t,                                                    \
      std::size_t);                                                   \
  void letter##sytrf_(                                                \
      const char*,                                                    \
      const int*,                                                     \
      type*,                                                          \
      const int*,                                                     \
      int*,                                                           \
      type*,                                                          \
      const int*,                                                     \
      int*,                                                           \
      std::size_t);                                                   \
  void letter##sytrs_(                                                \
      const char*,                                                    \
      const int*,                                                     \
      const int*,                                                     \
      const type*,                                                    \
      const int*,                                                     \
      const int*,                                                     \
      type*,                                                          \
      const int*,                                                     \
      int*,                                                           \
      std::size_t);
ACCEL_LAPACK(s, float, or)
ACCEL_LAPACK(d, double, or)
ACCEL_LAPACK(c, accelerator::blas::Complex64, un)
ACCEL_LAPACK(z, accelerator::blas::Complex128, un)
#undef ACCEL_LAPACK

#define ACCEL_LAPACK(letter, type) \
  void letter##geev_(              \
      const char*,                 \
      const char*,                 \
      const int*,                  \
      type*,                       \
      const int*,                  \
      type*,                       \
      type*,                       \
      type*,                       \
      const int*,                  \
      type*,                       \
      const int*,                  \
      type*,                       \
      const int*,                  \
      int*,                        \
      std::size_t,                 \
      std::size_t);                \
  void letter##syevd_(             \
      const char*,                 \
      const char*,                 \
      const int*,                  \
      type*,                       \
      const int*,                  \
      type*,                       \
      type*,                       \
      const int*,                  \
      int*,                        \
      const int*,                  \
      int*,                        \
      std::size_t,                 \
      std::size_t);                \
  void letter##sygvd_(             \
      const int*,                  \
      const char*,                 \
      const char*,                 \
      const int*,                  \
      type*,                       \
      const int*,                  \
      type*,                       \
      const int*,                  \
      type*,                       \
      type*,                       \
      const int*,                  \
      int*,                        \
      const int*,                  \
      int*,                        \
      std::size_t,                 \
      std::size_t);                \
  void letter##gesvd_(             \
      const char*,                 \
      const char*,                 \
      const int*,                  \
      const int*,                  \
      type*,                       \
      const int*,                  \
      type*,                       \
      type*,                       \
      const int*,                  \
      type*,                       \
      const int*,                  \
      type*,                       \
      const int*,                  \
      int*,                        \
      std::size_t,                 \
      std::size_t);
ACCEL_LAPACK(s, float)
ACCEL_LAPACK(d, double)
#undef ACCEL_LAPACK

#define ACCEL_LAPACK(letter, type, real) \
  void letter##geev_(                    \
      const char*,                       \
      const char*,                       \
      const int*,                        \
      type*,                             \
      const int*,                        \
      type*,                             \
      type*,                             \
      const int*,                        \
      type*,                             \
      const int*,                        \
      type*,                             \
      const int*,                        \
      real*,                             \
      int*,                              \
      std::size_t,                       \
      std::size_t);                      \
  void letter##heevd_(                   \
      const char*,                       \
      const char*,                       \
      const int*,                        \
      type*,                             \
      const int*,                        \
      real*,                             \
      type*,                             \
      const int*,                        \
      real*,                             \
      const int*,                        \
      int*,                              \
      const int*,                        \
      int*,                              \
      std::size_t,                       \
      std::size_t);                      \
  void letter##hegvd_(                   \
      const int*,                        \
      const char*,                       \
      const char*,                       \
      const int*,                        \
      type*,                             \
      const int*,                        \
      type*,                             \
      const int*,                        \
      real*,                             \
      type*,                             \
      const int*,                        \
      real*,                             \
      const int*,                        \
      int*,                              \
      const int*,                        \
      int*,                              \
      std::size_t,                       \
      std::size_t);                      \
  void letter##gesvd_(                   \
      const char*,                       \
      const char*,                       \
      const int*,                        \
      const int*,                        \
      type*,                             \
      const int*,                        \
      real*,                             \
      type*,                             \
      const int*,                        \
      type*,                             \
      const int*,                        \
      type*,                             \
      const int*,                        \
      real*,                             \
      int*,                              \
      std::size_t,                       \
      std::size_t);
ACCEL_LAPACK(c, accelerator::blas::Complex64, float)
ACCEL_LAPACK(z, accelerator::blas::Complex128, double)
#undef ACCEL_LAPACK
}
