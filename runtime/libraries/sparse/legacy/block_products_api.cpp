// Products of matrices in BSR with dense vectors (bsrmv) and matrices (bsrmm).
#include <cusparse.h>

#include "runtime/libraries/sparse/legacy/blocks.h"
#include "runtime/libraries/sparse/products.h"

namespace accelerator::sparse {
namespace {

/// c = alpha * a * op(b) + beta * c.
cusparseStatus_t multiply(
    const char* function,
    cusparseHandle_t handle,
    cudaDataType type,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const void* alpha,
    const cusparseSpMatDescr& a,
    int columns,
    const void* b,
    int ldb,
    const void* beta,
    void* c,
    int ldc) {
  const bool is_turned = op_b != kAsIs;
  if (const auto status = check(
          {valid(is_operation(op_a) && is_operation(op_b)),
           valid(columns >= 0 && are_there(alpha, beta)),
           valid(
               ldb >=
               std::max<std::int64_t>(1, is_turned ? columns : a.columns)),
           valid(ldc >= std::max<std::int64_t>(1, a.rows)),
           supported(op_a == kAsIs),
           supported(op_b != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)});
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit_product(
      function,
      handle,
      op_a,
      op_b,
      type,
      alpha,
      a,
      describe_dense(
          is_turned ? columns : a.columns,
          is_turned ? a.columns : columns,
          ldb,
          type,
          b),
      beta,
      describe_dense(a.rows, columns, ldc, type, c));
}

cusparseStatus_t bsrmv(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    cusparseOperation_t op,
    int block_rows,
    int block_columns,
    int blocks,
    const void* alpha,
    const cusparseMatDescr* description,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    const void* x,
    const void* beta,
    void* y) {
  cusparseSpMatDescr a;
  if (const auto status = describe_blocks(
          handle,
          direction,
          block_rows,
          block_columns,
          blocks,
          description,
          type,
          values,
          offsets,
          indices,
          block,
          &a);
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return multiply(
      function,
      handle,
      a.type,
      op,
      kAsIs,
      alpha,
      a,
      1,
      x,
      static_cast<int>(std::max<std::int64_t>(1, a.columns)),
      beta,
      y,
      static_cast<int>(std::max<std::int64_t>(1, a.rows)));
}

cusparseStatus_t bsrmm(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    int block_rows,
    int columns,
    int block_columns,
    int blocks,
    const void* alpha,
    const cusparseMatDescr* description,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    const void* b,
    int ldb,
    const void* beta,
    void* c,
    int ldc) {
  cusparseSpMatDescr a;
  if (const auto status = describe_blocks(
          handle,
          direction,
          block_rows,
          block_columns,
          blocks,
          description,
          type,
          values,
          offsets,
          indices,
          block,
          &a);
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return multiply(
      function,
      handle,
      a.type,
      op_a,
      op_b,
      alpha,
      a,
      columns,
      b,
      ldb,
      beta,
      c,
      ldc);
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

UNTYPED_ENTRY_POINTS(15, cusparse, bsrmv, bsrmv)
UNTYPED_ENTRY_POINTS(19, cusparse, bsrmm, bsrmm)
