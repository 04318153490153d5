// The host's LAPACK routines, overloaded by element type. Only what
// batched.cpp uses. All return LAPACK's info.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/libraries/blas/numeric.h"

namespace accelerator::blas {

// LAPACK has no C header in Debian's OpenBLAS: these are Fortran symbols, with
// the lengths of character arguments at the end.
using Letter = const char*;
using Count = const int*;
using Length = std::size_t;

// clang-format off
extern "C" {
#define ACCEL_LAPACK(letter, type) \
  void letter##getrf_(Count, Count, type*, Count, int*, int*); \
  void letter##getrs_(Letter, Count, Count, const type*, Count, Count, type*, Count, int*, Length); \
  void letter##getri_(Count, type*, Count, Count, type*, Count, int*); \
  void letter##geqrf_(Count, Count, type*, Count, type*, type*, Count, int*); \
  void letter##gels_(Letter, Count, Count, Count, type*, Count, type*, Count, type*, Count, int*, Length);
ACCEL_LAPACK(s, float)
ACCEL_LAPACK(d, double)
ACCEL_LAPACK(c, Complex64)
ACCEL_LAPACK(z, Complex128)
#undef ACCEL_LAPACK
} // extern "C"
// clang-format on

namespace host {

#define ACCEL_LAPACK(letter, type)                                     \
  inline int getrf(int m, int n, type* a, int lda, int* pivots) {      \
    int info = 0;                                                      \
    letter##getrf_(&m, &n, a, &lda, pivots, &info);                    \
    return info;                                                       \
  }                                                                    \
  inline int getrs(                                                    \
      char operation,                                                  \
      int n,                                                           \
      int columns,                                                     \
      const type* a,                                                   \
      int lda,                                                         \
      const int* pivots,                                               \
      type* b,                                                         \
      int ldb) {                                                       \
    int info = 0;                                                      \
    letter##getrs_(                                                    \
        &operation, &n, &columns, a, &lda, pivots, b, &ldb, &info, 1); \
    return info;                                                       \
  }                                                                    \
  inline int getri(int n, type* a, int lda, const int* pivots) {       \
    int info = 0;                                                      \
    const int size = std::max(1, n * 32);                              \
    std::vector<type> work(size);                                      \
    letter##getri_(&n, a, &lda, pivots, work.data(), &size, &info);    \
    return info;                                                       \
  }                                                                    \
  inline int geqrf(int m, int n, type* a, int lda, type* tau) {        \
    int info = 0;                                                      \
    const int size = std::max(1, n * 32);                              \
    std::vector<type> work(size);                                      \
    letter##geqrf_(&m, &n, a, &lda, tau, work.data(), &size, &info);   \
    return info;                                                       \
  }                                                                    \
  inline int gels(                                                     \
      char operation,                                                  \
      int m,                                                           \
      int n,                                                           \
      int columns,                                                     \
      type* a,                                                         \
      int lda,                                                         \
      type* b,                                                         \
      int ldb) {                                                       \
    int info = 0;                                                      \
    const int size = std::max(1, (m + n + columns) * 32);              \
    std::vector<type> work(size);                                      \
    letter##gels_(                                                     \
        &operation,                                                    \
        &m,                                                            \
        &n,                                                            \
        &columns,                                                      \
        a,                                                             \
        &lda,                                                          \
        b,                                                             \
        &ldb,                                                          \
        work.data(),                                                   \
        &size,                                                         \
        &info,                                                         \
        1);                                                            \
    return info;                                                       \
  }
ACCEL_LAPACK(s, float)
ACCEL_LAPACK(d, double)
ACCEL_LAPACK(c, Complex64)
ACCEL_LAPACK(z, Complex128)
#undef ACCEL_LAPACK

} // namespace host
} // namespace accelerator::blas
