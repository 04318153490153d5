#include "runtime/libraries/sparse/descriptors.h"

#include <limits>

#include "runtime/libraries/sparse/numbers.h"

namespace accelerator::sparse {

bool is_index_type(cusparseIndexType_t type) {
  return type >= CUSPARSE_INDEX_16U && type <= CUSPARSE_INDEX_64I;
}

bool is_base(cusparseIndexBase_t base) {
  return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE;
}

bool is_order(cusparseOrder_t order) {
  return order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW;
}

bool is_operation(cusparseOperation_t operation) {
  return operation == CUSPARSE_OPERATION_NON_TRANSPOSE ||
      operation == CUSPARSE_OPERATION_TRANSPOSE ||
      operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}

std::size_t size_of(cusparseIndexType_t type) {
  return type == CUSPARSE_INDEX_64I ? 8 : type == CUSPARSE_INDEX_32I ? 4 : 2;
}

bool is_aligned(const void* pointer, std::size_t size) {
  return reinterpret_cast<std::uintptr_t>(pointer) % size == 0;
}

bool is_well_typed(
    cusparseIndexType_t index_type,
    cusparseIndexBase_t base,
    cudaDataType type,
    const void* offsets,
    const void* indices,
    const void* values) {
  return is_index_type(index_type) && is_base(base) && size_of(type) != 0 &&
      is_aligned(offsets, size_of(index_type)) &&
      is_aligned(indices, size_of(index_type)) &&
      is_aligned(values, size_of(type));
}

bool is_in_range(
    cusparseIndexType_t type,
    cusparseIndexBase_t base,
    std::int64_t size) {
  return type != CUSPARSE_INDEX_32I ||
      size <= std::numeric_limits<std::int32_t>::max() - base;
}

std::int64_t offsets_count(const cusparseSpMatDescr& matrix) {
  switch (matrix.format) {
    case CUSPARSE_FORMAT_CSR:
      return matrix.rows + 1;
    case CUSPARSE_FORMAT_CSC:
      return matrix.columns + 1;
    case CUSPARSE_FORMAT_COO:
      return matrix.nnz;
    case CUSPARSE_FORMAT_BSR:
      return matrix.rows / matrix.block + 1;
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
      return (matrix.rows + matrix.block - 1) / matrix.block + 1;
    default:
      return 0;
  }
}

std::int64_t indices_count(const cusparseSpMatDescr& matrix) {
  switch (matrix.format) {
    case CUSPARSE_FORMAT_BSR:
      return matrix.nnz / (matrix.block * matrix.block);
    case CUSPARSE_FORMAT_BLOCKED_ELL:
      return matrix.rows / matrix.block * (matrix.ell_size / matrix.block);
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
      return matrix.ell_size;
    default:
      return matrix.nnz;
  }
}

std::int64_t values_count(const cusparseSpMatDescr& matrix) {
  switch (matrix.format) {
    case CUSPARSE_FORMAT_BLOCKED_ELL:
      return matrix.rows * matrix.ell_size;
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
      return matrix.ell_size;
    default:
      return matrix.nnz;
  }
}

} // namespace accelerator::sparse
