#include "runtime/libraries/solver/sparse/qr.h"

#include <algorithm>
#include <cmath>

namespace accelerator::solver::sparse {
namespace {

/// The numbers of two rows in one column, rotated.
template <typename W>
void rotate_pair(W& row, W& other, W kept, W gone) {
  const W first = row, second = other;
  row = conjugate(kept) * first + conjugate(gone) * second;
  other = kept * second - gone * first;
}

} // namespace

template <typename W>
void SparseQr<W>::rotate(Line& row, Line& other, W kept, W gone) {
  if (row.columns != other.columns) {
    // Both rows get the columns of both.
    Line rows, others;
    std::size_t i = 0, j = 0;
    while (i < row.columns.size() || j < other.columns.size()) {
      const bool has_row = i < row.columns.size() &&
          (j == other.columns.size() || row.columns[i] <= other.columns[j]);
      const bool has_other = j < other.columns.size() &&
          (i == row.columns.size() || other.columns[j] <= row.columns[i]);
      const int column = has_row ? row.columns[i] : other.columns[j];
      rows.columns.push_back(column);
      others.columns.push_back(column);
      rows.values.push_back(has_row ? row.values[i++] : W());
      others.values.push_back(has_other ? other.values[j++] : W());
    }
    row = std::move(rows);
    other = std::move(others);
  }
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    rotate_pair(row.values[i], other.values[i], kept, gone);
  }
  other.columns.erase(other.columns.begin());
  other.values.erase(other.values.begin());
}

template <typename W>
SparseQr<W>::SparseQr(const Csr<W>& matrix)
    : triangle_(matrix.columns), steps_(matrix.rows) {
  for (int i = 0; i < matrix.rows; ++i) {
    const int begin = matrix.offsets[i], end = matrix.offsets[i + 1];
    Line line{
        {matrix.indices.begin() + begin, matrix.indices.begin() + end},
        {matrix.values.begin() + begin, matrix.values.begin() + end}};
    Step& step = steps_[i];
    while (!line.columns.empty()) {
      const int column = line.columns.front();
      Line& row = triangle_[column];
      if (row.columns.empty()) {
        row = std::move(line);
        step.place = column;
        break;
      }
      const double length =
          std::hypot(std::abs(row.values[0]), std::abs(line.values[0]));
      const W kept = length == 0 ? W(1) : row.values[0] / length;
      const W gone = length == 0 ? W() : line.values[0] / length;
      step.rotations.push_back({column, kept, gone});
      rotate(row, line, kept, gone);
    }
  }
}

template <typename W>
std::vector<W> SparseQr<W>::solve(const std::vector<W>& b) const {
  std::vector<W> x(triangle_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    W value = b[i];
    for (const Rotation& rotation : steps_[i].rotations) {
      rotate_pair(x[rotation.row], value, rotation.kept, rotation.gone);
    }
    if (steps_[i].place >= 0) {
      x[steps_[i].place] = value;
    }
  }
  for (int j = columns() - 1; j >= 0; --j) {
    const Line& row = triangle_[j];
    for (std::size_t k = 1; k < row.columns.size(); ++k) {
      x[j] -= row.values[k] * x[row.columns[k]];
    }
    x[j] /= row.values.empty() ? W() : row.values[0];
  }
  return x;
}

template <typename W>
int SparseQr<W>::first_zero(double tolerance) const {
  for (int j = 0; j < columns(); ++j) {
    const Line& row = triangle_[j];
    // Not "<=", so that NaN counts as well.
    if (row.values.empty() || !(std::abs(row.values[0]) > tolerance)) {
      return j;
    }
  }
  return -1;
}

template class SparseQr<double>;
template class SparseQr<Complex>;

} // namespace accelerator::solver::sparse
