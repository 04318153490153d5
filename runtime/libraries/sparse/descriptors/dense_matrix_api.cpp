// Descriptors of dense matrices.
#include <cusparse.h>

#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/numbers.h"
#include "runtime/libraries/sparse/objects.h"
#include "runtime/libraries/sparse/read_only.h"

using namespace accelerator::sparse;

extern "C" {

cusparseStatus_t cusparseCreateDnMat(
    cusparseDnMatDescr_t* matrix,
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading,
    void* values,
    cudaDataType type,
    cusparseOrder_t order) {
  std::int64_t elements = 0;
  const std::int64_t lines = order == CUSPARSE_ORDER_COL ? columns : rows;
  if (rows < 0 || columns < 0 || !is_order(order) || size_of(type) == 0 ||
      leading < (order == CUSPARSE_ORDER_COL ? rows : columns) ||
      __builtin_mul_overflow(leading, lines, &elements) ||
      !is_aligned(values, size_of(type))) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return create(
      __func__,
      matrix,
      cusparseDnMatDescr{rows, columns, leading, values, type, order, 1, 0});
}
ACCEL_READ_ONLY(cusparseCreateConstDnMat, cusparseCreateDnMat)

cusparseStatus_t cusparseDnMatSetStridedBatch(
    cusparseDnMatDescr_t matrix,
    int batches,
    std::int64_t stride) {
  if (matrix == nullptr || batches < 1 || batches > kMostBatches ||
      stride < 0) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const std::int64_t lines =
      matrix->order == CUSPARSE_ORDER_COL ? matrix->columns : matrix->rows;
  if (stride != 0 && stride < matrix->leading * lines) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  matrix->batches = batches;
  matrix->stride = stride;
  return CUSPARSE_STATUS_SUCCESS;
}

} // extern "C"

ENTRY_POINT(
    7,
    cusparseDnMatGet,
    get<&cusparseDnMatDescr::rows,
        &cusparseDnMatDescr::columns,
        &cusparseDnMatDescr::leading,
        &cusparseDnMatDescr::values,
        &cusparseDnMatDescr::type,
        &cusparseDnMatDescr::order>)
ACCEL_READ_ONLY(cusparseConstDnMatGet, cusparseDnMatGet)
ENTRY_POINT(
    3,
    cusparseDnMatGetStridedBatch,
    get<&cusparseDnMatDescr::batches, &cusparseDnMatDescr::stride>)
