// Sparse matrices made dense, and dense ones made sparse.
#include <cusparse.h>

#include <memory>

#include "runtime/libraries/sparse/entries.h"
#include "runtime/libraries/sparse/submit.h"

namespace accelerator::sparse {
namespace {

cusparseStatus_t check_matrices(
    const cusparseContext* handle,
    const cusparseSpMatDescr* sparse,
    const cusparseDnMatDescr* dense,
    int algorithm) {
  if (!are_there(handle, sparse, dense)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return check(
      {valid(algorithm == 0),
       valid(sparse->rows == dense->rows && sparse->columns == dense->columns),
       supported(sparse->index_type != CUSPARSE_INDEX_16U),
       supported(
           sparse->format == CUSPARSE_FORMAT_CSR ||
           sparse->format == CUSPARSE_FORMAT_CSC ||
           sparse->format == CUSPARSE_FORMAT_COO ||
           sparse->format == CUSPARSE_FORMAT_BLOCKED_ELL),
       supported(!sparse->is_triangular),
       supported(sparse->batches == 1 && dense->batches == 1),
       supported(sparse->type == dense->type && sparse->type != CUDA_R_32I)});
}

cusparseStatus_t check_reverse(
    const cusparseContext* handle,
    const cusparseDnMatDescr* dense,
    const cusparseSpMatDescr* sparse,
    int algorithm) {
  return check_matrices(handle, sparse, dense, algorithm);
}

/// Where a dense matrix is not zero, in the order of a format.
template <typename W>
Pattern find_entries(const Dense<W>& dense, cusparseFormat_t format) {
  const bool by_columns = format == CUSPARSE_FORMAT_CSC;
  const std::int64_t lines = by_columns ? dense.columns : dense.rows;
  const std::int64_t across = by_columns ? dense.rows : dense.columns;
  Pattern pattern;
  for (std::int64_t line = 0; line < lines; ++line) {
    for (std::int64_t k = 0; k < across; ++k) {
      const std::int64_t row = by_columns ? k : line;
      const std::int64_t column = by_columns ? line : k;
      if (dense.row(row)[column] != W()) {
        pattern.places.push_back(static_cast<std::int64_t>(pattern.size()));
        pattern.rows.push_back(row);
        pattern.columns.push_back(column);
      }
    }
  }
  return pattern;
}

/// Writes where each row, or column, begins.
void write_offsets(const cusparseSpMatDescr& matrix, const Pattern& pattern) {
  const bool by_columns = matrix.format == CUSPARSE_FORMAT_CSC;
  const auto& lines = by_columns ? pattern.columns : pattern.rows;
  std::vector<std::int64_t> offsets(offsets_count(matrix));
  for (const std::int64_t line : lines) {
    ++offsets[line + 1];
  }
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < offsets_count(matrix); ++i) {
    sum += offsets[i];
    write_index(matrix.index_type, matrix.offsets, i, matrix.base, sum);
  }
}

/// Fills the blocks that a matrix says it has.
template <typename W>
bool fill_blocks(
    const char* function,
    const cusparseSpMatDescr& matrix,
    const Dense<W>& dense) {
  Pattern pattern;
  if (!read_pattern(function, matrix, 0, &pattern)) {
    return false;
  }
  std::vector<W> values;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    values.push_back(dense.row(pattern.rows[k])[pattern.columns[k]]);
  }
  write_values(matrix, 0, pattern, values);
  return true;
}

template <typename W>
bool convert(
    const char* function,
    const cusparseDnMatDescr& from,
    const cusparseSpMatDescr& to) {
  const Dense<W> dense = read_dense<W>(from, 0, kAsIs);
  if (to.format == CUSPARSE_FORMAT_BLOCKED_ELL) {
    return fill_blocks(function, to, dense);
  }
  const Pattern pattern = find_entries(dense, to.format);
  const auto count = static_cast<std::int64_t>(pattern.size());
  if (count > to.nnz) {
    return is_outside(function, to.nnz, to.nnz);
  }
  std::vector<W> values;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t row = pattern.rows[k], column = pattern.columns[k];
    values.push_back(dense.row(row)[column]);
    const bool by_columns = to.format == CUSPARSE_FORMAT_CSC;
    write_index(
        to.index_type, to.indices, k, to.base, by_columns ? row : column);
    if (to.format == CUSPARSE_FORMAT_COO) {
      write_index(to.index_type, to.offsets, k, to.base, row);
    }
  }
  write_values(to, 0, pattern, values);
  if (to.format != CUSPARSE_FORMAT_COO) {
    write_offsets(to, pattern);
  }
  return true;
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(
    5,
    cusparseSparseToDense_bufferSize,
    CheckedBy<check_matrices>::size_work)
ENTRY_POINT(
    5,
    cusparseDenseToSparse_bufferSize,
    CheckedBy<check_reverse>::size_work)

extern "C" {

cusparseStatus_t cusparseSparseToDense(
    cusparseHandle_t handle,
    cusparseConstSpMatDescr_t a,
    cusparseDnMatDescr_t b,
    cusparseSparseToDenseAlg_t algorithm,
    void*) {
  const cusparseStatus_t status = check_matrices(handle, a, b, algorithm);
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit(
      __func__,
      handle,
      Memory(memory_of(*a), memory_of(*b)),
      [a = *a, b = *b, function = __func__] {
        return as_wide(a.type, [&](auto zero) {
          using W = decltype(zero);
          Pattern pattern;
          if (!read_pattern(function, a, 0, &pattern)) {
            return false;
          }
          const std::vector<W> values = read_values<W>(a, 0, pattern);
          Dense<W> dense(b.rows, b.columns);
          for (std::size_t k = 0; k < values.size(); ++k) {
            dense.row(pattern.rows[k])[pattern.columns[k]] += values[k];
          }
          write_dense(b, 0, dense);
          return true;
        });
      });
}

// Counts the entries, which the matrix's descriptor then tells.
cusparseStatus_t cusparseDenseToSparse_analysis(
    cusparseHandle_t handle,
    cusparseConstDnMatDescr_t a,
    cusparseSpMatDescr_t b,
    cusparseDenseToSparseAlg_t algorithm,
    void*) {
  cusparseStatus_t status = check_matrices(handle, b, a, algorithm);
  if (status != CUSPARSE_STATUS_SUCCESS ||
      b->format == CUSPARSE_FORMAT_BLOCKED_ELL) {
    return status;
  }
  const bool has_offsets = b->format != CUSPARSE_FORMAT_COO;
  const auto count = std::make_shared<std::int64_t>();
  status = submit_and_wait(
      __func__,
      handle,
      Memory(
          memory_of(*a),
          array(
              b->offsets,
              size_of(b->index_type),
              has_offsets ? offsets_count(*b) : 0)),
      [a = *a, b = *b, has_offsets, count] {
        return as_wide(a.type, [&](auto zero) {
          const Pattern pattern =
              find_entries(read_dense<decltype(zero)>(a, 0, kAsIs), b.format);
          if (has_offsets) {
            write_offsets(b, pattern);
          }
          *count = static_cast<std::int64_t>(pattern.size());
          return true;
        });
      });
  if (status == CUSPARSE_STATUS_SUCCESS) {
    b->nnz = *count;
  }
  return status;
}

cusparseStatus_t cusparseDenseToSparse_convert(
    cusparseHandle_t handle,
    cusparseConstDnMatDescr_t a,
    cusparseSpMatDescr_t b,
    cusparseDenseToSparseAlg_t algorithm,
    void*) {
  const cusparseStatus_t status = check_matrices(handle, b, a, algorithm);
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit(
      __func__,
      handle,
      Memory(memory_of(*a), memory_of(*b)),
      [a = *a, b = *b, function = __func__] {
        return as_wide(a.type, [&](auto zero) {
          return convert<decltype(zero)>(function, a, b);
        });
      });
}

} // extern "C"
