// Sparse Cholesky: A = L * conjugate transpose of L, row by row.
// Source: T. Davis, Direct Methods for Sparse Linear Systems, chapter 4.
#pragma once

#include <utility>
#include <vector>

#include "runtime/libraries/solver/sparse/csr.h"

namespace accelerator::solver::sparse {

template <typename W>
class SparseCholesky {
 public:
  /// @param matrix whose lower triangle counts.
  explicit SparseCholesky(const Csr<W>& matrix);

  int rows() const {
    return static_cast<int>(diagonal_.size());
  }
  const std::vector<double>& diagonal() const {
    return diagonal_;
  }
  /// Whether all pivots were positive; otherwise L ends before the first that
  /// was not.
  bool is_complete() const {
    return complete_ == rows();
  }
  /// The first j with L(j, j) <= tolerance, or whose pivot is not positive; or
  /// -1.
  int first_zero(double tolerance) const;

  /// Needs a complete factorization.
  std::vector<W> solve(const std::vector<W>& b) const;

 private:
  std::vector<double> diagonal_;
  /// What is below the diagonal, by column: rows and values.
  std::vector<std::vector<std::pair<int, W>>> below_;
  int complete_ = 0;
};

} // namespace accelerator::solver::sparse
