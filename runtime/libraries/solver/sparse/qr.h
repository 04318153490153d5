// Sparse QR: rows of a matrix are rotated into a triangle, one after the other.
// Source: A. George, M. Heath, Solution of Sparse Linear Least Squares Problems
// Using Givens Rotations, Linear Algebra Appl. 34 (1980).
#pragma once

#include <vector>

#include "runtime/libraries/solver/sparse/csr.h"

namespace accelerator::solver::sparse {

template <typename W>
class SparseQr {
 public:
  /// @param matrix with at least as many rows as columns.
  explicit SparseQr(const Csr<W>& matrix);

  int rows() const {
    return static_cast<int>(steps_.size());
  }
  int columns() const {
    return static_cast<int>(triangle_.size());
  }
  /// The x for which |b - A * x| is least. There is none, but infinities and
  /// NaN, where the diagonal of R has a zero.
  std::vector<W> solve(const std::vector<W>& b) const;

  /// The first j with |R(j, j)| <= tolerance, or -1.
  int first_zero(double tolerance) const;

 private:
  struct Line {
    std::vector<int> columns;
    std::vector<W> values;
  };
  /// Of a row of R with the row that is being worked in: the first numbers of
  /// both, over their length.
  struct Rotation {
    int row;
    W kept;
    W gone;
  };
  /// What became of a row of A.
  struct Step {
    std::vector<Rotation> rotations;
    /// The row of R that is what was left of it; -1 where nothing was.
    int place = -1;
  };

  static void rotate(Line& row, Line& other, W kept, W gone);

  std::vector<Line> triangle_;
  std::vector<Step> steps_;
};

} // namespace accelerator::solver::sparse
