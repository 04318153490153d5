#include "runtime/libraries/solver/sparse/cholesky.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace accelerator::solver::sparse {
namespace {

constexpr int kNoParent = -1;

/// The elimination tree: for each column the row of its first entry in L below
/// the diagonal.
template <typename W>
std::vector<int> elimination_tree(const Csr<W>& matrix) {
  std::vector<int> parents(matrix.rows, kNoParent), roots(parents);
  for (int row = 0; row < matrix.rows; ++row) {
    for (int k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      int node = matrix.indices[k];
      while (node != kNoParent && node < row) {
        const int next = roots[node];
        roots[node] = row;
        if (next == kNoParent) {
          parents[node] = row;
        }
        node = next;
      }
    }
  }
  return parents;
}

} // namespace

template <typename W>
SparseCholesky<W>::SparseCholesky(const Csr<W>& matrix)
    : diagonal_(matrix.rows), below_(matrix.rows) {
  const std::vector<int> parents = elimination_tree(matrix);
  std::vector<int> marks(matrix.rows, kNoParent);
  std::vector<int> columns;
  std::vector<W> line(matrix.rows);
  for (int row = 0; row < matrix.rows; ++row) {
    double pivot = 0;
    columns.clear();
    marks[row] = row;
    for (int k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const int column = matrix.indices[k];
      if (column > row) {
        continue;
      }
      if (column == row) {
        pivot = std::real(matrix.values[k]);
        continue;
      }
      line[column] = matrix.values[k];
      for (int node = column; marks[node] != row; node = parents[node]) {
        marks[node] = row;
        columns.push_back(node);
      }
    }
    std::sort(columns.begin(), columns.end());
    for (const int column : columns) {
      const W value = line[column] / diagonal_[column];
      line[column] = W();
      for (const auto& [below, factor] : below_[column]) {
        line[below] -= value * conjugate(factor);
      }
      below_[column].emplace_back(row, value);
      pivot -= std::norm(value);
    }
    if (!(pivot > 0)) {
      return;
    }
    diagonal_[row] = std::sqrt(pivot);
    ++complete_;
  }
}

template <typename W>
int SparseCholesky<W>::first_zero(double tolerance) const {
  for (int j = 0; j < complete_; ++j) {
    if (diagonal_[j] <= tolerance) {
      return j;
    }
  }
  return is_complete() ? -1 : complete_;
}

template <typename W>
std::vector<W> SparseCholesky<W>::solve(const std::vector<W>& b) const {
  std::vector<W> x(b);
  for (int j = 0; j < rows(); ++j) {
    x[j] /= diagonal_[j];
    for (const auto& [row, value] : below_[j]) {
      x[row] -= value * x[j];
    }
  }
  for (int j = rows() - 1; j >= 0; --j) {
    for (const auto& [row, value] : below_[j]) {
      x[j] -= conjugate(value) * x[row];
    }
    x[j] /= diagonal_[j];
  }
  return x;
}

template class SparseCholesky<double>;
template class SparseCholesky<Complex>;

} // namespace accelerator::solver::sparse
