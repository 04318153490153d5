// Packed and banded matrices for tests of cuBLAS, and the functions for them by
// the kinds of matrices. What an array has beside the matrix is NaN.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/libraries/blas/testing/symmetric.h"

namespace accelerator::blas::testing {

// clang-format off
#define ACCEL_FUNCTIONS(Name, Base, L, sp, sb)              \
  struct Name : Base {                                      \
    static constexpr auto gbmv = cublas##L##gbmv;           \
    static constexpr auto sbmv = cublas##L##sb##mv;         \
    static constexpr auto spmv = cublas##L##sp##mv;         \
    static constexpr auto spr = cublas##L##sp##r;           \
    static constexpr auto spr2 = cublas##L##sp##r2;         \
    static constexpr auto tpmv = cublas##L##tpmv;           \
    static constexpr auto tpsv = cublas##L##tpsv;           \
    static constexpr auto tbmv = cublas##L##tbmv;           \
    static constexpr auto tbsv = cublas##L##tbsv;           \
    static constexpr auto tpttr = cublas##L##tpttr;         \
    static constexpr auto trttp = cublas##L##trttp;         \
  };
ACCEL_FUNCTIONS(PackedReal32, Real32, S, sp, sb)
ACCEL_FUNCTIONS(PackedReal64, Real64, D, sp, sb)
ACCEL_FUNCTIONS(PackedHermitian32, Hermitian32, C, hp, hb)
ACCEL_FUNCTIONS(PackedHermitian64, Hermitian64, Z, hp, hb)
#undef ACCEL_FUNCTIONS
// clang-format on

/// Each with no diagonal beside the main one, with some, and with more than
/// the matrix has.
inline constexpr int kDiagonals[] = {0, 2, kN + 1};

template <typename F>
class Packed : public SymmetricTest<F> {
 protected:
  using T = typename F::T;

  static constexpr bool has(cublasFillMode_t fill, int i, int j) {
    return fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
  }
  static std::vector<T> nothing(std::size_t size) {
    return std::vector<T>(
        size, T(std::numeric_limits<typename F::Real>::quiet_NaN()));
  }

  /// A triangle, column behind column.
  static std::vector<T> pack(const std::vector<T>& a, cublasFillMode_t fill) {
    std::vector<T> packed;
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kN; ++i) {
        if (has(fill, i, j)) {
          packed.push_back(a[j * kLead + i]);
        }
      }
    }
    return packed;
  }
  /// And where it was.
  static std::vector<T> unpack(
      const std::vector<T>& packed,
      std::vector<T> into,
      cublasFillMode_t fill) {
    auto next = packed.begin();
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kN; ++i) {
        if (has(fill, i, j)) {
          into[j * kLead + i] = *next++;
        }
      }
    }
    return into;
  }
  /// The diagonals from the `above`th above the main one to the `below`th below
  /// it, a row each.
  static std::vector<T> band(
      const std::vector<T>& a,
      int rows,
      int columns,
      int below,
      int above) {
    const int lead = below + above + 2;
    std::vector<T> banded = nothing(lead * columns);
    for (int j = 0; j < columns; ++j) {
      for (int i = std::max(0, j - above); i < std::min(rows, j + below + 1);
           ++i) {
        banded[j * lead + above + i - j] = a[j * kLead + i];
      }
    }
    return banded;
  }
  /// The matrix without all others.
  static std::vector<T> within(std::vector<T> a, int below, int above) {
    for (int j = 0; j < kLead; ++j) {
      for (int i = 0; i < kLead; ++i) {
        if (i - j > below || j - i > above) {
          a[j * kLead + i] = T{};
        }
      }
    }
    return a;
  }
  static int below(cublasFillMode_t fill, int k) {
    return fill == CUBLAS_FILL_MODE_LOWER ? k : 0;
  }
  static int above(cublasFillMode_t fill, int k) {
    return fill == CUBLAS_FILL_MODE_LOWER ? 0 : k;
  }
};

} // namespace accelerator::blas::testing
