// What LAPACK's LU factorisation does not do: it without pivoting, and looking
// at pivots before it goes where they say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

namespace accelerator::blas {

/// Pivots of 32 or 64 bits as LAPACK takes them. What an int does not hold
/// becomes the nearest that it does, which is no row either.
template <typename Int>
std::vector<int> as_ints(const Int* pivots, int count) {
  static constexpr std::int64_t kLargest = std::numeric_limits<int>::max();
  std::vector<int> ints(std::max(1, count));
  std::transform(pivots, pivots + count, ints.begin(), [](std::int64_t pivot) {
    return static_cast<int>(std::clamp(pivot, -kLargest, kLargest));
  });
  return ints;
}

/// Whether pivots name rows of the matrix.
inline bool are_pivots(
    const char* function,
    const int* pivots,
    int count,
    int rows) {
  for (int i = 0; i < count; ++i) {
    if (pivots[i] < 1 || pivots[i] > rows) {
      std::fprintf(
          stderr,
          "torch_cuda: %s: illegal memory access: pivot %d of a matrix with %d "
          "rows\n",
          function,
          pivots[i],
          rows);
      return false;
    }
  }
  return true;
}

/// LU without pivoting, as with a null pivot array. Returns LAPACK's info: the
/// first zero pivot, counted from 1, or 0.
template <typename T>
int factor_without_pivots(int rows, int columns, T* a, int lda) {
  int info = 0;
  for (int k = 0; k < std::min(rows, columns); ++k) {
    T* column = a + static_cast<std::ptrdiff_t>(k) * lda;
    if (column[k] == T{}) {
      info = info == 0 ? k + 1 : info;
      continue;
    }
    for (int i = k + 1; i < rows; ++i) {
      column[i] /= column[k];
    }
    for (int j = k + 1; j < columns; ++j) {
      T* other = a + static_cast<std::ptrdiff_t>(j) * lda;
      for (int i = k + 1; i < rows; ++i) {
        other[i] -= column[i] * other[k];
      }
    }
  }
  return info;
}

} // namespace accelerator::blas
