// Triangular systems whose solutions are exact in all types.
#pragma once

#include <vector>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {

/// A matrix of which both triangles can be divided by: powers of two on the
/// diagonal, where complex matrices have an imaginary one.
inline Matrix solvable_matrix(int n, cudaDataType type, unsigned seed) {
  const Wide turn = is_complex(type) ? Wide(0, 1) : Wide(-1);
  const Wide kinds[] = {1, -1, 2, turn};
  Matrix matrix = sparse_matrix(n, n, type, seed);
  for (int i = 0; i < n; ++i) {
    matrix(i, i) = kinds[i % 4];
  }
  return matrix;
}

inline Matrix triangle_of(const Matrix& a, bool is_upper, bool is_unit) {
  Matrix result(a.rows, a.columns);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.columns; ++j) {
      const bool is_in = is_upper ? i <= j : i >= j;
      result(i, j) = i == j && is_unit ? Wide(1) : is_in ? a(i, j) : Wide();
    }
  }
  return result;
}

} // namespace accelerator::sparse::testing
