// Descriptors of sparse matrices: how they are made, one function a format.
#include <cusparse.h>

#include <algorithm>
#include <limits>

#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/numbers.h"
#include "runtime/libraries/sparse/objects.h"
#include "runtime/libraries/sparse/read_only.h"

namespace accelerator::sparse {
namespace {

/// Whether there are at most as many entries as a matrix has places.
bool is_possible(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t nnz,
    cusparseIndexType_t type,
    cusparseIndexBase_t base) {
  if (rows < 0 || columns < 0 || nnz < 0) {
    return false;
  }
  std::int64_t places = 0;
  const bool is_large = __builtin_mul_overflow(rows, columns, &places);
  return (is_large || nnz <= places) && is_in_range(type, base, rows) &&
      is_in_range(type, base, columns) && is_in_range(type, base, nnz);
}

/// CSR, CSC and COO, which are three arrays each.
template <cusparseFormat_t kFormat>
cusparseStatus_t create_plain(
    const char* function,
    cusparseSpMatDescr_t* made,
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t nnz,
    void* offsets,
    void* indices,
    void* values,
    cusparseIndexType_t offsets_type,
    cusparseIndexType_t indices_type,
    cusparseIndexBase_t base,
    cudaDataType type) {
  if (made == nullptr || !is_index_type(offsets_type) ||
      !is_well_typed(indices_type, base, type, offsets, indices, values)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  if (offsets_type != indices_type) {
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  }
  if (!is_possible(rows, columns, nnz, indices_type, base)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  cusparseSpMatDescr matrix;
  matrix.format = kFormat;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.nnz = nnz;
  matrix.offsets = offsets;
  matrix.indices = indices;
  matrix.values = values;
  matrix.index_type = indices_type;
  matrix.base = base;
  matrix.type = type;
  return create(function, made, matrix);
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(11, cusparseCreateCsr, create_plain<CUSPARSE_FORMAT_CSR>)
ENTRY_POINT(11, cusparseCreateCsc, create_plain<CUSPARSE_FORMAT_CSC>)

extern "C" {

cusparseStatus_t cusparseCreateCoo(
    cusparseSpMatDescr_t* matrix,
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t nnz,
    void* row_indices,
    void* column_indices,
    void* values,
    cusparseIndexType_t index_type,
    cusparseIndexBase_t base,
    cudaDataType type) {
  return create_plain<CUSPARSE_FORMAT_COO>(
      __func__,
      matrix,
      rows,
      columns,
      nnz,
      row_indices,
      column_indices,
      values,
      index_type,
      index_type,
      base,
      type);
}

cusparseStatus_t cusparseCreateBsr(
    cusparseSpMatDescr_t* made,
    std::int64_t block_rows,
    std::int64_t block_columns,
    std::int64_t blocks,
    std::int64_t row_block,
    std::int64_t column_block,
    void* offsets,
    void* indices,
    void* values,
    cusparseIndexType_t offsets_type,
    cusparseIndexType_t indices_type,
    cusparseIndexBase_t base,
    cudaDataType type,
    cusparseOrder_t order) {
  constexpr std::int64_t kLargestBlock = std::numeric_limits<int>::max();
  if (row_block < 1 || row_block != column_block || row_block > kLargestBlock ||
      !is_order(order)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  std::int64_t rows = 0, columns = 0, nnz = 0;
  if (__builtin_mul_overflow(block_rows, row_block, &rows) ||
      __builtin_mul_overflow(block_columns, row_block, &columns) ||
      __builtin_mul_overflow(blocks, row_block * row_block, &nnz)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const cusparseStatus_t status = create_plain<CUSPARSE_FORMAT_BSR>(
      __func__,
      made,
      block_rows,
      block_columns,
      blocks,
      offsets,
      indices,
      values,
      offsets_type,
      indices_type,
      base,
      type);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    cusparseSpMatDescr& matrix = **made;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.nnz = nnz;
    matrix.block = row_block;
    matrix.order = order;
  }
  return status;
}

cusparseStatus_t cusparseCreateBlockedEll(
    cusparseSpMatDescr_t* made,
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t block,
    std::int64_t ell_columns,
    void* indices,
    void* values,
    cusparseIndexType_t index_type,
    cusparseIndexBase_t base,
    cudaDataType type) {
  if (block < 0 || block > rows || ell_columns < 0 || ell_columns > columns ||
      (block == 0 && ell_columns > 0) ||
      !is_well_typed(index_type, base, type, nullptr, indices, values)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  std::int64_t nnz = 0;
  if ((block > 0 &&
       (rows % block != 0 || columns % block != 0 ||
        ell_columns % block != 0)) ||
      __builtin_mul_overflow(rows, ell_columns, &nnz)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const cusparseStatus_t status = create_plain<CUSPARSE_FORMAT_BLOCKED_ELL>(
      __func__,
      made,
      rows,
      columns,
      nnz,
      nullptr,
      indices,
      values,
      index_type,
      index_type,
      base,
      type);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    (*made)->block = std::max<std::int64_t>(1, block);
    (*made)->ell_size = ell_columns;
  }
  return status;
}

cusparseStatus_t cusparseCreateSlicedEll(
    cusparseSpMatDescr_t* made,
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t nnz,
    std::int64_t values_size,
    std::int64_t slice,
    void* offsets,
    void* indices,
    void* values,
    cusparseIndexType_t offsets_type,
    cusparseIndexType_t indices_type,
    cusparseIndexBase_t base,
    cudaDataType type) {
  if (values_size < nnz || slice < 0 || slice > rows) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const cusparseStatus_t status = create_plain<CUSPARSE_FORMAT_SLICED_ELLPACK>(
      __func__,
      made,
      rows,
      columns,
      nnz,
      offsets,
      indices,
      values,
      offsets_type,
      indices_type,
      base,
      type);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    (*made)->block = std::max<std::int64_t>(1, slice);
    (*made)->ell_size = values_size;
  }
  return status;
}

// The same for matrices that are read only. The descriptors are no others.
ACCEL_READ_ONLY(cusparseCreateConstCsr, cusparseCreateCsr)
ACCEL_READ_ONLY(cusparseCreateConstCsc, cusparseCreateCsc)
ACCEL_READ_ONLY(cusparseCreateConstCoo, cusparseCreateCoo)
ACCEL_READ_ONLY(cusparseCreateConstBsr, cusparseCreateBsr)
ACCEL_READ_ONLY(cusparseCreateConstBlockedEll, cusparseCreateBlockedEll)
ACCEL_READ_ONLY(cusparseCreateConstSlicedEll, cusparseCreateSlicedEll)

} // extern "C"
