#include "runtime/libraries/sparse/entries.h"

#include <cstdio>

#include "runtime/stream_work/stream_work.h"

namespace accelerator::sparse {
namespace {

/// Where an array's batch begins.
const void* batch_of(
    const void* array,
    std::int64_t stride,
    int batch,
    std::size_t size) {
  return static_cast<const char*>(array) + batch * stride * size;
}

/// One batch's arrays of indices.
class Indices {
 public:
  Indices(const cusparseSpMatDescr& matrix, int batch)
      : type_(matrix.index_type),
        base_(matrix.base),
        offsets_(batch_of(
            matrix.offsets,
            matrix.offsets_stride,
            batch,
            size_of(type_))),
        indices_(batch_of(
            matrix.indices,
            matrix.indices_stride,
            batch,
            size_of(type_))) {}
  std::int64_t offset(std::int64_t at) const {
    return read_index(type_, offsets_, at, base_);
  }
  std::int64_t index(std::int64_t at) const {
    return read_index(type_, indices_, at, base_);
  }
  /// ELL's arrays have -1, with or without the base, where there is nothing.
  bool is_padding(std::int64_t at) const {
    return index(at) < 0;
  }

 private:
  cusparseIndexType_t type_;
  cusparseIndexBase_t base_;
  const void* offsets_;
  const void* indices_;
};

/// Entries that are found, as long as they are within the matrix.
class Collector {
 public:
  Collector(
      const char* function,
      const cusparseSpMatDescr& matrix,
      Pattern* pattern)
      : function_(function), matrix_(matrix), pattern_(*pattern) {}
  bool add(std::int64_t row, std::int64_t column, std::int64_t place) {
    if (row < 0 || row >= matrix_.rows) {
      return is_outside(function_, row, matrix_.rows);
    }
    if (column < 0 || column >= matrix_.columns) {
      return is_outside(function_, column, matrix_.columns);
    }
    pattern_.rows.push_back(row);
    pattern_.columns.push_back(column);
    pattern_.places.push_back(place);
    return true;
  }
  /// Of a row or so that offsets tell of, in an array of `count` entries.
  bool are_offsets(std::int64_t begin, std::int64_t end, std::int64_t count)
      const {
    if (begin < 0 || begin > count) {
      return is_outside(function_, begin, count);
    }
    if (end < begin || end > count) {
      return is_outside(function_, end, count);
    }
    return true;
  }

 private:
  const char* function_;
  const cusparseSpMatDescr& matrix_;
  Pattern& pattern_;
};

bool read_coordinates(
    const cusparseSpMatDescr& matrix,
    const Indices& indices,
    Collector& found) {
  for (std::int64_t k = 0; k < matrix.nnz; ++k) {
    if (!found.add(indices.offset(k), indices.index(k), k)) {
      return false;
    }
  }
  return true;
}

bool read_compressed(
    const cusparseSpMatDescr& matrix,
    const Indices& indices,
    Collector& found) {
  const bool by_rows = matrix.format == CUSPARSE_FORMAT_CSR;
  const std::int64_t lines = by_rows ? matrix.rows : matrix.columns;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t begin = indices.offset(line);
    const std::int64_t end = indices.offset(line + 1);
    if (!found.are_offsets(begin, end, matrix.nnz)) {
      return false;
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t index = indices.index(k);
      if (!found.add(by_rows ? line : index, by_rows ? index : line, k)) {
        return false;
      }
    }
  }
  return true;
}

/// The elements of a block at a row and column of the matrix.
bool read_block(
    const cusparseSpMatDescr& matrix,
    std::int64_t row,
    std::int64_t column,
    std::int64_t first_place,
    Collector& found) {
  const bool by_rows = matrix.order == CUSPARSE_ORDER_ROW;
  for (std::int64_t i = 0; i < matrix.block; ++i) {
    for (std::int64_t j = 0; j < matrix.block; ++j) {
      const std::int64_t within =
          by_rows ? i * matrix.block + j : j * matrix.block + i;
      if (!found.add(row + i, column + j, first_place + within)) {
        return false;
      }
    }
  }
  return true;
}

bool read_blocks(
    const cusparseSpMatDescr& matrix,
    const Indices& indices,
    Collector& found) {
  for (std::int64_t line = 0; line < matrix.rows / matrix.block; ++line) {
    const std::int64_t begin = indices.offset(line);
    const std::int64_t end = indices.offset(line + 1);
    if (!found.are_offsets(begin, end, indices_count(matrix))) {
      return false;
    }
    for (std::int64_t k = begin; k < end; ++k) {
      if (!read_block(
              matrix,
              line * matrix.block,
              indices.index(k) * matrix.block,
              k * matrix.block * matrix.block,
              found)) {
        return false;
      }
    }
  }
  return true;
}

bool read_blocked_ell(
    const cusparseSpMatDescr& matrix,
    const Indices& indices,
    Collector& found) {
  const std::int64_t across = matrix.ell_size / matrix.block;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t j = 0; j < matrix.ell_size; ++j) {
      const std::int64_t at = row / matrix.block * across + j / matrix.block;
      if (!indices.is_padding(at) &&
          !found.add(
              row,
              indices.index(at) * matrix.block + j % matrix.block,
              row * matrix.ell_size + j)) {
        return false;
      }
    }
  }
  return true;
}

/// Slices hold the first entries of their rows, then the second ones.
bool read_sliced_ell(
    const cusparseSpMatDescr& matrix,
    const Indices& indices,
    Collector& found) {
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t slice = row / matrix.block;
    const std::int64_t begin = indices.offset(slice);
    const std::int64_t end = indices.offset(slice + 1);
    if (!found.are_offsets(begin, end, matrix.ell_size)) {
      return false;
    }
    for (std::int64_t k = begin + row % matrix.block; k < end;
         k += matrix.block) {
      if (!indices.is_padding(k) && !found.add(row, indices.index(k), k)) {
        return false;
      }
    }
  }
  return true;
}

} // namespace

std::int64_t read_index(
    cusparseIndexType_t type,
    const void* array,
    std::int64_t at,
    cusparseIndexBase_t base) {
  const std::size_t bytes = size_of(type);
  stream_work::reads(
      {{static_cast<const char*>(array) + at * static_cast<std::int64_t>(bytes),
        bytes}});
  return (type == CUSPARSE_INDEX_64I
              ? static_cast<const std::int64_t*>(array)[at]
              : static_cast<const std::int32_t*>(array)[at]) -
      base;
}

void write_index(
    cusparseIndexType_t type,
    void* array,
    std::int64_t at,
    cusparseIndexBase_t base,
    std::int64_t index) {
  if (type == CUSPARSE_INDEX_64I) {
    static_cast<std::int64_t*>(array)[at] = index + base;
  } else {
    static_cast<std::int32_t*>(array)[at] =
        static_cast<std::int32_t>(index + base);
  }
}

bool is_outside(const char* function, std::int64_t index, std::int64_t size) {
  std::fprintf(
      stderr,
      "torch_cuda: %s: illegal memory access: index %lld of %lld\n",
      function,
      static_cast<long long>(index),
      static_cast<long long>(size));
  return false;
}

bool read_pattern(
    const char* function,
    const cusparseSpMatDescr& matrix,
    int batch,
    Pattern* pattern) {
  *pattern = {};
  // Its arrays may be null pointers.
  if (matrix.nnz == 0) {
    return true;
  }
  const Indices indices(matrix, batch);
  Collector found(function, matrix, pattern);
  switch (matrix.format) {
    case CUSPARSE_FORMAT_CSR:
    case CUSPARSE_FORMAT_CSC:
      return read_compressed(matrix, indices, found);
    case CUSPARSE_FORMAT_COO:
      return read_coordinates(matrix, indices, found);
    case CUSPARSE_FORMAT_BSR:
      return read_blocks(matrix, indices, found);
    case CUSPARSE_FORMAT_BLOCKED_ELL:
      return read_blocked_ell(matrix, indices, found);
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
      return read_sliced_ell(matrix, indices, found);
  }
  return false;
}

template <typename W>
std::vector<W> read_values(
    const cusparseSpMatDescr& matrix,
    int batch,
    const Pattern& pattern) {
  const void* const array = batch_of(
      matrix.values, matrix.values_stride, batch, size_of(matrix.type));
  std::vector<W> values(pattern.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    load(matrix.type, array, pattern.places[k], 1, 1, &values[k]);
  }
  return values;
}

template <typename W>
void write_values(
    const cusparseSpMatDescr& matrix,
    int batch,
    const Pattern& pattern,
    const std::vector<W>& values) {
  void* const array = const_cast<void*>(batch_of(
      matrix.values, matrix.values_stride, batch, size_of(matrix.type)));
  for (std::size_t k = 0; k < values.size(); ++k) {
    store(matrix.type, array, pattern.places[k], 1, 1, &values[k]);
  }
}

template <typename W>
Dense<W> read_dense(
    const cusparseDnMatDescr& matrix,
    int batch,
    cusparseOperation_t operation) {
  const bool is_turned = operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
  Dense<W> dense(
      is_turned ? matrix.columns : matrix.rows,
      is_turned ? matrix.rows : matrix.columns);
  // Neighbours in a row of the result are neighbours in memory, or far apart.
  const bool are_near = (matrix.order == CUSPARSE_ORDER_ROW) != is_turned;
  const std::int64_t step = are_near ? 1 : matrix.leading;
  const std::int64_t down = are_near ? matrix.leading : 1;
  for (std::int64_t i = 0; i < dense.rows; ++i) {
    load(
        matrix.type,
        matrix.values,
        batch * matrix.stride + i * down,
        step,
        dense.columns,
        dense.row(i));
  }
  if (operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
    for (W& value : dense.values) {
      value = conjugate(value);
    }
  }
  return dense;
}

template <typename W>
void write_dense(
    const cusparseDnMatDescr& matrix,
    int batch,
    const Dense<W>& dense) {
  const bool by_rows = matrix.order == CUSPARSE_ORDER_ROW;
  for (std::int64_t i = 0; i < dense.rows; ++i) {
    store(
        matrix.type,
        matrix.values,
        batch * matrix.stride + i * (by_rows ? matrix.leading : 1),
        by_rows ? 1 : matrix.leading,
        dense.columns,
        dense.row(i));
  }
}

cusparseDnMatDescr as_matrix(const cusparseDnVecDescr& vector) {
  cusparseDnMatDescr matrix;
  matrix.rows = vector.size;
  matrix.columns = 1;
  matrix.leading = vector.size;
  matrix.values = vector.values;
  matrix.type = vector.type;
  return matrix;
}

#define ACCEL_INSTANTIATE(W)                                                  \
  template std::vector<W> read_values<W>(                                     \
      const cusparseSpMatDescr&, int, const Pattern&);                        \
  template void write_values<W>(                                              \
      const cusparseSpMatDescr&, int, const Pattern&, const std::vector<W>&); \
  template Dense<W> read_dense<W>(                                            \
      const cusparseDnMatDescr&, int, cusparseOperation_t);                   \
  template void write_dense<W>(const cusparseDnMatDescr&, int, const Dense<W>&);
ACCEL_INSTANTIATE(double)
ACCEL_INSTANTIATE(Complex)
#undef ACCEL_INSTANTIATE

} // namespace accelerator::sparse
