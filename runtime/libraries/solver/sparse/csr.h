// Sparse matrices in CSR as cuSOLVER's functions are told of them, and as the
// host computes with them: in double precision.
#pragma once

#include <cusolverSp.h>

#include <algorithm>
#include <complex>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/libraries/solver/submit.h"

namespace accelerator::solver::sparse {

using Complex = std::complex<double>;

/// What numbers of a type are computed as.
template <typename T>
using WideOf = std::conditional_t<kIsComplex<T>, Complex, double>;

template <typename T>
T narrow_value(const WideOf<T>& value) {
  return static_cast<T>(value);
}

/// `count` of them, in double precision.
template <typename T>
std::vector<WideOf<T>> widened(const T* values, int count) {
  return {values, values + count};
}

/// Rounds and stores them.
template <typename W, typename T>
void narrow_to(const std::vector<W>& values, T* result) {
  std::transform(values.begin(), values.end(), result, narrow_value<T>);
}

inline double conjugate(double value) {
  return value;
}
inline Complex conjugate(Complex value) {
  return std::conj(value);
}

/// By row, in each by column, without repetitions.
template <typename W>
struct Csr {
  int rows = 0;
  int columns = 0;
  std::vector<int> offsets{0};
  std::vector<int> indices;
  std::vector<W> values;

  void begin_row() {
    ++rows;
    offsets.push_back(offsets.back());
  }
  /// Adds to the last row.
  void add(int column, W value) {
    indices.push_back(column);
    values.push_back(value);
    ++offsets.back();
  }
};

/// The arrays of a call, on the host or on the device.
struct Form {
  int rows = 0;
  int columns = 0;
  int nnz = 0;
  int base = 0;
  const int* offsets = nullptr;
  const int* indices = nullptr;
  /// Where rows end; the next ones' offsets, usually.
  const int* ends = nullptr;
};

/// @returns why a call cannot be about this matrix, if so. Only general
/// matrices are taken, as by NVIDIA's functions.
cusolverStatus_t make_form(
    cusolverSpHandle_t handle,
    int rows,
    int columns,
    int nnz,
    cusparseMatDescr_t description,
    const int* offsets,
    const int* indices,
    Form* form);

std::vector<Extent> memory_of(const Form& form);

/// Reads where entries are.
/// @param places the number of each in the array of values; may be null.
/// @returns whether all are within the matrix; otherwise says on stderr which
/// is not.
bool read_pattern(
    const char* function,
    const Form& form,
    Csr<char>* pattern,
    std::vector<int>* places);

/// Reads a matrix. What is there twice is added up.
template <typename T>
bool read_matrix(
    const char* function,
    const Form& form,
    const T* values,
    Csr<WideOf<T>>* matrix) {
  Csr<char> pattern;
  std::vector<int> places;
  if (!read_pattern(function, form, &pattern, &places)) {
    return false;
  }
  *matrix = {};
  matrix->columns = form.columns;
  for (int row = 0; row < form.rows; ++row) {
    matrix->begin_row();
    const int begin = matrix->offsets.back();
    for (int k = pattern.offsets[row]; k < pattern.offsets[row + 1]; ++k) {
      const WideOf<T> value(values[places[k]]);
      if (matrix->offsets.back() > begin &&
          matrix->indices.back() == pattern.indices[k]) {
        matrix->values.back() += value;
      } else {
        matrix->add(pattern.indices[k], value);
      }
    }
  }
  return true;
}

/// Rows and columns in another order: entry (i, j) is what (order[i],
/// order[j]) was.
template <typename W>
Csr<W> permuted(const Csr<W>& matrix, const std::vector<int>& order) {
  std::vector<int> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<int>(i);
  }
  Csr<W> result;
  result.columns = matrix.columns;
  std::vector<std::pair<int, W>> line;
  for (const int row : order) {
    line.clear();
    for (int k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      line.emplace_back(place[matrix.indices[k]], matrix.values[k]);
    }
    std::sort(line.begin(), line.end(), [](const auto& a, const auto& b) {
      return a.first < b.first;
    });
    result.begin_row();
    for (const auto& [column, value] : line) {
      result.add(column, value);
    }
  }
  return result;
}

/// The Hermitian matrix that has this one's lower triangle.
template <typename W>
Csr<W> from_lower_triangle(const Csr<W>& matrix) {
  std::vector<std::vector<std::pair<int, W>>> lines(matrix.rows);
  for (int row = 0; row < matrix.rows; ++row) {
    for (int k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const int column = matrix.indices[k];
      if (column <= row) {
        lines[row].emplace_back(column, matrix.values[k]);
      }
      if (column < row) {
        lines[column].emplace_back(row, conjugate(matrix.values[k]));
      }
    }
  }
  Csr<W> result;
  result.columns = matrix.columns;
  for (const auto& line : lines) {
    result.begin_row();
    for (const auto& [column, value] : line) {
      result.add(column, value);
    }
  }
  return result;
}

/// matrix - shift * I.
template <typename W>
Csr<W> shifted(const Csr<W>& matrix, W shift) {
  if (shift == W()) {
    return matrix;
  }
  Csr<W> result;
  result.columns = matrix.columns;
  for (int row = 0; row < matrix.rows; ++row) {
    result.begin_row();
    bool is_done = row >= matrix.columns;
    for (int k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const int column = matrix.indices[k];
      if (!is_done && column >= row) {
        is_done = true;
        if (column > row) {
          result.add(row, -shift);
        }
        result.add(
            column,
            column == row ? matrix.values[k] - shift : matrix.values[k]);
      } else {
        result.add(column, matrix.values[k]);
      }
    }
    if (!is_done) {
      result.add(row, -shift);
    }
  }
  return result;
}

template <typename W>
std::vector<W> product(const Csr<W>& matrix, const std::vector<W>& x) {
  std::vector<W> result(matrix.rows);
  for (int row = 0; row < matrix.rows; ++row) {
    for (int k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      result[row] += matrix.values[k] * x[matrix.indices[k]];
    }
  }
  return result;
}

} // namespace accelerator::solver::sparse
