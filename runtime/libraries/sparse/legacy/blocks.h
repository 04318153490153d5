// Matrices in BSR, as functions that are older than the generic API are told of
// them.
#pragma once

#include <cusparse.h>

#include "runtime/libraries/sparse/context.h"
#include "runtime/libraries/sparse/submit.h"

namespace accelerator::sparse {

/// Describes a matrix whose sizes and settings go together.
/// @returns why they do not, if so.
inline cusparseStatus_t describe_blocks(
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    int block_rows,
    int block_columns,
    int blocks,
    const cusparseMatDescr* description,
    cudaDataType type,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    cusparseSpMatDescr* matrix) {
  const cusparseStatus_t status = check(
      handle,
      {valid(
           direction == CUSPARSE_DIRECTION_ROW ||
           direction == CUSPARSE_DIRECTION_COLUMN),
       valid(block_rows >= 0 && block_columns >= 0 && blocks >= 0),
       valid(block >= 1),
       valid(are_there(description, offsets)),
       valid(blocks == 0 || are_there(values, indices)),
       {description == nullptr ||
            description->type == CUSPARSE_MATRIX_TYPE_GENERAL,
        CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED}});
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  matrix->format = CUSPARSE_FORMAT_BSR;
  matrix->rows = std::int64_t{block_rows} * block;
  matrix->columns = std::int64_t{block_columns} * block;
  matrix->nnz = std::int64_t{blocks} * block * block;
  matrix->offsets = const_cast<int*>(offsets);
  matrix->indices = const_cast<int*>(indices);
  matrix->values = const_cast<void*>(values);
  matrix->base = description->base;
  matrix->type = type;
  matrix->order = direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW
                                                      : CUSPARSE_ORDER_COL;
  matrix->block = block;
  return status;
}

/// A dense matrix by columns.
inline cusparseDnMatDescr describe_dense(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading,
    cudaDataType type,
    const void* values) {
  cusparseDnMatDescr matrix;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.leading = leading;
  matrix.values = const_cast<void*>(values);
  matrix.type = type;
  return matrix;
}

} // namespace accelerator::sparse
