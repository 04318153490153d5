// Incomplete factorizations without fill: those of the matrix's entries alone
// are computed, in their type.
// Source: Y. Saad, Iterative Methods for Sparse Linear Systems, 10.3.2.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/libraries/sparse/entries.h"

namespace accelerator::sparse {

/// What replaces pivots that are too small.
struct Boost {
  bool is_on = false;
  double tolerance = 0;
  Complex value;
};

/// Entries of a square matrix by row, and there by column.
class SortedRows {
 public:
  static constexpr std::int64_t kNone = -1;

  SortedRows(const Pattern& pattern, std::int64_t rows)
      : begin_(rows + 1),
        entries_(pattern.size()),
        columns_(pattern.columns),
        diagonal_(rows, kNone) {
    std::iota(entries_.begin(), entries_.end(), 0);
    std::stable_sort(
        entries_.begin(), entries_.end(), [&](std::int64_t a, std::int64_t b) {
          return pattern.rows[a] != pattern.rows[b]
              ? pattern.rows[a] < pattern.rows[b]
              : pattern.columns[a] < pattern.columns[b];
        });
    for (std::size_t k = 0; k < pattern.size(); ++k) {
      ++begin_[pattern.rows[k] + 1];
      if (pattern.rows[k] == pattern.columns[k]) {
        diagonal_[pattern.rows[k]] = static_cast<std::int64_t>(k);
      }
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  }
  std::int64_t size() const {
    return static_cast<std::int64_t>(diagonal_.size());
  }
  std::int64_t column(std::int64_t entry) const {
    return columns_[entry];
  }
  /// The entry on a row's diagonal, or kNone.
  std::int64_t diagonal(std::int64_t row) const {
    return diagonal_[row];
  }
  /// Calls with the entries of a row.
  template <typename Call>
  void each(std::int64_t row, Call call) const {
    for (std::int64_t i = begin_[row]; i < begin_[row + 1]; ++i) {
      call(entries_[i]);
    }
  }

 private:
  std::vector<std::int64_t> begin_;
  std::vector<std::int64_t> entries_;
  std::vector<std::int64_t> columns_;
  std::vector<std::int64_t> diagonal_;
};

/// Which entry a row has in each column.
class Places {
 public:
  explicit Places(const SortedRows& rows)
      : rows_(rows), at_(rows.size(), SortedRows::kNone) {}
  void enter(std::int64_t row) {
    rows_.each(row, [&](std::int64_t k) { at_[rows_.column(k)] = k; });
  }
  void leave(std::int64_t row) {
    rows_.each(
        row, [&](std::int64_t k) { at_[rows_.column(k)] = SortedRows::kNone; });
  }
  std::int64_t of(std::int64_t column) const {
    return at_[column];
  }

 private:
  const SortedRows& rows_;
  std::vector<std::int64_t> at_;
};

template <typename T>
T pivot_of(
    const SortedRows& rows,
    std::int64_t row,
    const std::vector<T>& all) {
  const std::int64_t place = rows.diagonal(row);
  return place == SortedRows::kNone ? T() : all[place];
}

inline float conjugate_of(float value) {
  return value;
}
inline double conjugate_of(double value) {
  return value;
}
template <typename R>
std::complex<R> conjugate_of(std::complex<R> value) {
  return std::conj(value);
}

template <typename T>
T narrowed(const Complex& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(value);
  }
}

/// A = L * U, with ones on the diagonal of L, which are not stored.
/// @param values of A, in whose place those of both come.
/// @returns the first row without a pivot, or whose pivot is zero; or kNone.
template <typename T>
std::int64_t factor_lu(
    const SortedRows& rows,
    const Boost& boost,
    std::vector<T>& values) {
  std::int64_t first = SortedRows::kNone;
  Places places(rows);
  for (std::int64_t row = 0; row < rows.size(); ++row) {
    places.enter(row);
    rows.each(row, [&](std::int64_t k) {
      const std::int64_t upper = rows.column(k);
      if (upper >= row) {
        return;
      }
      const T factor = values[k] /= pivot_of(rows, upper, values);
      rows.each(upper, [&](std::int64_t its) {
        const std::int64_t place = places.of(rows.column(its));
        if (rows.column(its) > upper && place != SortedRows::kNone) {
          values[place] -= factor * values[its];
        }
      });
    });
    places.leave(row);
    const std::int64_t place = rows.diagonal(row);
    if (boost.is_on && place != SortedRows::kNone &&
        boost.tolerance >= std::abs(values[place])) {
      values[place] = narrowed<T>(boost.value);
    }
    if (first == SortedRows::kNone && pivot_of(rows, row, values) == T()) {
      first = row;
    }
  }
  return first;
}

/// A = L * conjugate transpose of L.
/// @param rows of the lower triangle.
/// @param values of A's, in whose place those of L come. An imaginary part on
/// the diagonal does not count.
/// @returns the first row without a pivot, or whose pivot is not positive; or
/// kNone.
template <typename T>
std::int64_t factor_cholesky(const SortedRows& rows, std::vector<T>& values) {
  std::int64_t first = SortedRows::kNone;
  Places places(rows);
  for (std::int64_t row = 0; row < rows.size(); ++row) {
    places.enter(row);
    bool is_positive = false;
    rows.each(row, [&](std::int64_t k) {
      const std::int64_t column = rows.column(k);
      rows.each(column, [&](std::int64_t its) {
        const std::int64_t place = places.of(rows.column(its));
        if (rows.column(its) < column && place != SortedRows::kNone) {
          values[k] -= values[place] * conjugate_of(values[its]);
        }
      });
      if (column < row) {
        values[k] /= pivot_of(rows, column, values);
      } else {
        is_positive = std::real(values[k]) > 0;
        values[k] = T(std::sqrt(std::real(values[k])));
      }
    });
    places.leave(row);
    if (first == SortedRows::kNone && !is_positive) {
      first = row;
    }
  }
  return first;
}

} // namespace accelerator::sparse
