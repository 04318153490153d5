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

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

#define ACCEL_API(L, Api, type)                                       \
  cusparseStatus_t cusparse##L##bsrmv(                                \
      cusparseHandle_t handle,                                        \
      cusparseDirection_t direction,                                  \
      cusparseOperation_t op,                                         \
      int block_rows,                                                 \
      int block_columns,                                              \
      int blocks,                                                     \
      const Api* alpha,                                               \
      const cusparseMatDescr_t description,                           \
      const Api* values,                                              \
      const int* offsets,                                             \
      const int* indices,                                             \
      int block,                                                      \
      const Api* x,                                                   \
      const Api* beta,                                                \
      Api* y) {                                                       \
    const cusparseStatus_t status = check_blocks(                     \
        handle,                                                       \
        direction,                                                    \
        block_rows,                                                   \
        block_columns,                                                \
        blocks,                                                       \
        description,                                                  \
        values,                                                       \
        offsets,                                                      \
        indices,                                                      \
        block);                                                       \
    if (status != CUSPARSE_STATUS_SUCCESS) {                          \
      return status;                                                  \
    }                                                                 \
    const cusparseSpMatDescr a = describe_blocks(                     \
        direction,                                                    \
        block_rows,                                                   \
        block_columns,                                                \
        blocks,                                                       \
        *description,                                                 \
        type,                                                         \
        values,                                                       \
        offsets,                                                      \
        indices,                                                      \
        block);                                                       \
    return multiply(                                                  \
        __func__,                                                     \
        handle,                                                       \
        type,                                                         \
        op,                                                           \
        kAsIs,                                                        \
        alpha,                                                        \
        a,                                                            \
        1,                                                            \
        x,                                                            \
        static_cast<int>(std::max<std::int64_t>(1, a.columns)),       \
        beta,                                                         \
        y,                                                            \
        static_cast<int>(std::max<std::int64_t>(1, a.rows)));         \
  }                                                                   \
  cusparseStatus_t cusparse##L##bsrmm(                                \
      cusparseHandle_t handle,                                        \
      cusparseDirection_t direction,                                  \
      cusparseOperation_t op_a,                                       \
      cusparseOperation_t op_b,                                       \
      int block_rows,                                                 \
      int columns,                                                    \
      int block_columns,                                              \
      int blocks,                                                     \
      const Api* alpha,                                               \
      const cusparseMatDescr_t description,                           \
      const Api* values,                                              \
      const int* offsets,                                             \
      const int* indices,                                             \
      const int block,                                                \
      const Api* b,                                                   \
      const int ldb,                                                  \
      const Api* beta,                                                \
      Api* c,                                                         \
      int ldc) {                                                      \
    const cusparseStatus_t status = check_blocks(                     \
        handle,                                                       \
        direction,                                                    \
        block_rows,                                                   \
        block_columns,                                                \
        blocks,                                                       \
        description,                                                  \
        values,                                                       \
        offsets,                                                      \
        indices,                                                      \
        block);                                                       \
    return status != CUSPARSE_STATUS_SUCCESS ? status                 \
                                             : multiply(              \
                                                   __func__,          \
                                                   handle,            \
                                                   type,              \
                                                   op_a,              \
                                                   op_b,              \
                                                   alpha,             \
                                                   describe_blocks(   \
                                                       direction,     \
                                                       block_rows,    \
                                                       block_columns, \
                                                       blocks,        \
                                                       *description,  \
                                                       type,          \
                                                       values,        \
                                                       offsets,       \
                                                       indices,       \
                                                       block),        \
                                                   columns,           \
                                                   b,                 \
                                                   ldb,               \
                                                   beta,              \
                                                   c,                 \
                                                   ldc);              \
  }
ACCEL_API(S, float, CUDA_R_32F)
ACCEL_API(D, double, CUDA_R_64F)
ACCEL_API(C, cuComplex, CUDA_C_32F)
ACCEL_API(Z, cuDoubleComplex, CUDA_C_64F)
#undef ACCEL_API

} // extern "C"
