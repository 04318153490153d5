// How many elements of a dense matrix are not zero (nnz), which programs ask
// before they make it sparse.
#include <cusparse.h>

#include <algorithm>
#include <vector>

#include "runtime/libraries/sparse/context.h"
#include "runtime/libraries/sparse/entries.h"
#include "runtime/libraries/sparse/submit.h"

namespace accelerator::sparse {
namespace {

/// Counts by rows or by columns, and altogether.
/// @param counts an element for each row, or column, on the device.
/// @param total on the host or on the device, as the handle's pointer mode
/// says.
cusparseStatus_t count(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    int rows,
    int columns,
    const cusparseMatDescr* description,
    const void* values,
    int leading,
    int* counts,
    int* total) {
  const bool by_rows = direction == CUSPARSE_DIRECTION_ROW;
  const cusparseStatus_t status = check(
      handle,
      {valid(by_rows || direction == CUSPARSE_DIRECTION_COLUMN),
       valid(rows >= 0 && columns >= 0 && leading >= std::max(1, rows)),
       valid(are_there(description, total)),
       valid(rows == 0 || columns == 0 || are_there(values, counts)),
       {description == nullptr ||
            description->type == CUSPARSE_MATRIX_TYPE_GENERAL,
        CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED}});
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  cusparseDnMatDescr matrix;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.leading = leading;
  matrix.values = const_cast<void*>(values);
  matrix.type = type;
  const bool on_host = handle->pointer_mode == CUSPARSE_POINTER_MODE_HOST;
  return (on_host ? submit_and_wait : submit)(
      function,
      handle,
      Memory(
          memory_of(matrix),
          array(counts, sizeof(int), by_rows ? rows : columns),
          array(total, sizeof(int), on_host ? 0 : 1)),
      [=] {
        const auto dense = read_dense<Complex>(matrix, 0, kAsIs);
        std::vector<int> found(by_rows ? rows : columns);
        int sum = 0;
        for (int row = 0; row < rows; ++row) {
          for (int column = 0; column < columns; ++column) {
            if (dense.row(row)[column] != Complex()) {
              ++found[by_rows ? row : column];
              ++sum;
            }
          }
        }
        std::copy(found.begin(), found.end(), counts);
        *total = sum;
        return true;
      });
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

UNTYPED_ENTRY_POINTS(9, cusparse, nnz, count)
