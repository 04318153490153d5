// Systems of equations whose matrix is a sparse triangle.
#pragma once

#include <cusparse.h>

#include <vector>

#include "runtime/libraries/sparse/entries.h"

namespace accelerator::sparse {

/// Which triangle of a matrix counts, and how.
struct Triangle {
  cusparseFillMode_t fill_mode;
  cusparseDiagType_t diagonal;
  cusparseOperation_t operation;
};

/// Entries of a matrix, read once for several solutions.
struct Entries {
  Pattern pattern;
  std::vector<Complex> values;
};

/// Solves op(matrix) * x = b.
/// @param x the right sides, in whose place the solutions come.
template <typename W>
void solve(const Entries& entries, const Triangle& triangle, Dense<W>& x);

} // namespace accelerator::sparse
