// Sparse matrices of all formats as lists of entries, and dense ones as arrays
// of rows: what functions compute with.
#pragma once

#include <cusparse.h>

#include <cstdint>
#include <vector>

#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/numbers.h"

namespace accelerator::sparse {

/// Where the entries of a sparse matrix are, in the order of its format.
struct Pattern {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
  /// Where in the array of values.
  std::vector<std::int64_t> places;

  std::size_t size() const {
    return rows.size();
  }
  /// Of the transposed matrix.
  void transpose() {
    rows.swap(columns);
  }
};

/// Reads an index, without the base.
std::int64_t read_index(
    cusparseIndexType_t type,
    const void* array,
    std::int64_t at,
    cusparseIndexBase_t base);

/// Writes an index, with the base added.
void write_index(
    cusparseIndexType_t type,
    void* array,
    std::int64_t at,
    cusparseIndexBase_t base,
    std::int64_t index);

/// Says on stderr that an index is outside of a matrix. @returns false.
bool is_outside(const char* function, std::int64_t index, std::int64_t size);

/// Reads where the entries of one batch are.
/// @returns whether all are within the matrix; otherwise says on stderr which
/// is not.
bool read_pattern(
    const char* function,
    const cusparseSpMatDescr& matrix,
    int batch,
    Pattern* pattern);

/// Reads the values of one batch, by entry.
template <typename W>
std::vector<W> read_values(
    const cusparseSpMatDescr& matrix,
    int batch,
    const Pattern& pattern);

/// Writes them.
template <typename W>
void write_values(
    const cusparseSpMatDescr& matrix,
    int batch,
    const Pattern& pattern,
    const std::vector<W>& values);

/// A dense matrix by rows, without gaps.
template <typename W>
struct Dense {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<W> values;

  Dense(std::int64_t rows_, std::int64_t columns_)
      : rows(rows_),
        columns(columns_),
        values(static_cast<std::size_t>(rows_ * columns_)) {}
  W* row(std::int64_t i) {
    return values.data() + i * columns;
  }
  const W* row(std::int64_t i) const {
    return values.data() + i * columns;
  }
};

/// Reads op(matrix) of one batch.
template <typename W>
Dense<W> read_dense(
    const cusparseDnMatDescr& matrix,
    int batch,
    cusparseOperation_t operation);

template <typename W>
void write_dense(
    const cusparseDnMatDescr& matrix,
    int batch,
    const Dense<W>& dense);

/// A vector as a matrix of one column.
cusparseDnMatDescr as_matrix(const cusparseDnVecDescr& vector);

} // namespace accelerator::sparse
