// What descriptors of sparse matrices tell, and what of them can be changed.
#include <cusparse.h>

#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/numbers.h"
#include "runtime/libraries/sparse/objects.h"
#include "runtime/libraries/sparse/read_only.h"

namespace accelerator::sparse {
namespace {

constexpr auto kInvalid = CUSPARSE_STATUS_INVALID_VALUE;

bool has_format(const cusparseSpMatDescr* matrix, cusparseFormat_t format) {
  return matrix != nullptr && matrix->format == format;
}

/// CSR and CSC.
cusparseStatus_t get(
    cusparseFormat_t format,
    const cusparseSpMatDescr* matrix,
    std::int64_t* rows,
    std::int64_t* columns,
    std::int64_t* nnz,
    void** offsets,
    void** indices,
    void** values,
    cusparseIndexType_t* offsets_type,
    cusparseIndexType_t* indices_type,
    cusparseIndexBase_t* base,
    cudaDataType* type) {
  return !has_format(matrix, format)
      ? kInvalid
      : answer(
            std::pair(rows, matrix->rows),
            std::pair(columns, matrix->columns),
            std::pair(nnz, matrix->nnz),
            std::pair(offsets, matrix->offsets),
            std::pair(indices, matrix->indices),
            std::pair(values, matrix->values),
            std::pair(offsets_type, matrix->index_type),
            std::pair(indices_type, matrix->index_type),
            std::pair(base, matrix->base),
            std::pair(type, matrix->type));
}

cusparseStatus_t set_pointers(
    cusparseSpMatDescr* matrix,
    cusparseFormat_t format,
    void* offsets,
    void* indices,
    void* values) {
  if (!has_format(matrix, format) ||
      !is_well_typed(
          matrix->index_type,
          matrix->base,
          matrix->type,
          offsets,
          indices,
          values)) {
    return kInvalid;
  }
  matrix->offsets = offsets;
  matrix->indices = indices;
  matrix->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

/// A stride of zero gives all batches the same array.
bool is_stride(std::int64_t stride, std::int64_t count) {
  return stride == 0 || stride >= count;
}

cusparseStatus_t set_batches(
    cusparseSpMatDescr* matrix,
    int batches,
    std::int64_t offsets_stride,
    std::int64_t indices_stride,
    std::int64_t values_stride) {
  if (batches < 1 || batches > kMostBatches ||
      !is_stride(offsets_stride, offsets_count(*matrix)) ||
      !is_stride(indices_stride, indices_count(*matrix)) ||
      !is_stride(values_stride, values_count(*matrix))) {
    return kInvalid;
  }
  matrix->batches = batches;
  matrix->offsets_stride = offsets_stride;
  matrix->indices_stride = indices_stride;
  matrix->values_stride = values_stride;
  return CUSPARSE_STATUS_SUCCESS;
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

cusparseStatus_t cusparseSpMatGetFormat(
    cusparseConstSpMatDescr_t matrix,
    cusparseFormat_t* format) {
  return matrix == nullptr ? kInvalid
                           : answer(std::pair(format, matrix->format));
}

cusparseStatus_t cusparseSpMatGetIndexBase(
    cusparseConstSpMatDescr_t matrix,
    cusparseIndexBase_t* base) {
  return matrix == nullptr ? kInvalid : answer(std::pair(base, matrix->base));
}

cusparseStatus_t cusparseSpMatGetSize(
    cusparseConstSpMatDescr_t matrix,
    std::int64_t* rows,
    std::int64_t* columns,
    std::int64_t* nnz) {
  return matrix == nullptr ? kInvalid
                           : answer(
                                 std::pair(rows, matrix->rows),
                                 std::pair(columns, matrix->columns),
                                 std::pair(nnz, matrix->nnz));
}

cusparseStatus_t cusparseSpMatGetStridedBatch(
    cusparseConstSpMatDescr_t matrix,
    int* batches) {
  return matrix == nullptr ? kInvalid
                           : answer(std::pair(batches, matrix->batches));
}

cusparseStatus_t cusparseCooSetStridedBatch(
    cusparseSpMatDescr_t matrix,
    int batches,
    std::int64_t stride) {
  return has_format(matrix, CUSPARSE_FORMAT_COO)
      ? set_batches(matrix, batches, stride, stride, stride)
      : kInvalid;
}

cusparseStatus_t cusparseCsrSetStridedBatch(
    cusparseSpMatDescr_t matrix,
    int batches,
    std::int64_t offsets_stride,
    std::int64_t stride) {
  return has_format(matrix, CUSPARSE_FORMAT_CSR) ||
          has_format(matrix, CUSPARSE_FORMAT_CSC)
      ? set_batches(matrix, batches, offsets_stride, stride, stride)
      : kInvalid;
}

cusparseStatus_t cusparseBsrSetStridedBatch(
    cusparseSpMatDescr_t matrix,
    int batches,
    std::int64_t offsets_stride,
    std::int64_t columns_stride,
    std::int64_t values_stride) {
  return has_format(matrix, CUSPARSE_FORMAT_BSR)
      ? set_batches(
            matrix, batches, offsets_stride, columns_stride, values_stride)
      : kInvalid;
}

cusparseStatus_t cusparseSpMatGetAttribute(
    cusparseConstSpMatDescr_t matrix,
    cusparseSpMatAttribute_t attribute,
    void* data,
    std::size_t size) {
  if (matrix == nullptr || data == nullptr || size != sizeof(int)) {
    return kInvalid;
  }
  switch (attribute) {
    case CUSPARSE_SPMAT_FILL_MODE:
      *static_cast<cusparseFillMode_t*>(data) = matrix->fill_mode;
      return CUSPARSE_STATUS_SUCCESS;
    case CUSPARSE_SPMAT_DIAG_TYPE:
      *static_cast<cusparseDiagType_t*>(data) = matrix->diagonal;
      return CUSPARSE_STATUS_SUCCESS;
    default:
      return kInvalid;
  }
}

// Values that there are not are refused by what uses them.
cusparseStatus_t cusparseSpMatSetAttribute(
    cusparseSpMatDescr_t matrix,
    cusparseSpMatAttribute_t attribute,
    void* data,
    std::size_t size) {
  if (matrix == nullptr || data == nullptr || size != sizeof(int)) {
    return kInvalid;
  }
  switch (attribute) {
    case CUSPARSE_SPMAT_FILL_MODE:
      matrix->fill_mode = *static_cast<const cusparseFillMode_t*>(data);
      break;
    case CUSPARSE_SPMAT_DIAG_TYPE:
      matrix->diagonal = *static_cast<const cusparseDiagType_t*>(data);
      break;
    default:
      return kInvalid;
  }
  matrix->is_triangular = true;
  return CUSPARSE_STATUS_SUCCESS;
}

#define ACCEL_ACCESS(Format, FORMAT)                                 \
  cusparseStatus_t cusparse##Format##Get(                            \
      cusparseSpMatDescr_t matrix,                                   \
      std::int64_t* rows,                                            \
      std::int64_t* columns,                                         \
      std::int64_t* nnz,                                             \
      void** offsets,                                                \
      void** indices,                                                \
      void** values,                                                 \
      cusparseIndexType_t* offsets_type,                             \
      cusparseIndexType_t* indices_type,                             \
      cusparseIndexBase_t* base,                                     \
      cudaDataType* type) {                                          \
    return get(                                                      \
        FORMAT,                                                      \
        matrix,                                                      \
        rows,                                                        \
        columns,                                                     \
        nnz,                                                         \
        offsets,                                                     \
        indices,                                                     \
        values,                                                      \
        offsets_type,                                                \
        indices_type,                                                \
        base,                                                        \
        type);                                                       \
  }                                                                  \
  ACCEL_READ_ONLY(cusparseConst##Format##Get, cusparse##Format##Get) \
  cusparseStatus_t cusparse##Format##SetPointers(                    \
      cusparseSpMatDescr_t matrix,                                   \
      void* offsets,                                                 \
      void* indices,                                                 \
      void* values) {                                                \
    return set_pointers(matrix, FORMAT, offsets, indices, values);   \
  }
ACCEL_ACCESS(Csr, CUSPARSE_FORMAT_CSR)
ACCEL_ACCESS(Csc, CUSPARSE_FORMAT_CSC)
#undef ACCEL_ACCESS

cusparseStatus_t cusparseCooGet(
    cusparseSpMatDescr_t matrix,
    std::int64_t* rows,
    std::int64_t* columns,
    std::int64_t* nnz,
    void** row_indices,
    void** column_indices,
    void** values,
    cusparseIndexType_t* index_type,
    cusparseIndexBase_t* base,
    cudaDataType* type) {
  return get(
      CUSPARSE_FORMAT_COO,
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
ACCEL_READ_ONLY(cusparseConstCooGet, cusparseCooGet)

cusparseStatus_t cusparseCooSetPointers(
    cusparseSpMatDescr_t matrix,
    void* row_indices,
    void* column_indices,
    void* values) {
  return set_pointers(
      matrix, CUSPARSE_FORMAT_COO, row_indices, column_indices, values);
}

cusparseStatus_t cusparseBlockedEllGet(
    cusparseSpMatDescr_t matrix,
    std::int64_t* rows,
    std::int64_t* columns,
    std::int64_t* block,
    std::int64_t* ell_columns,
    void** indices,
    void** values,
    cusparseIndexType_t* index_type,
    cusparseIndexBase_t* base,
    cudaDataType* type) {
  return !has_format(matrix, CUSPARSE_FORMAT_BLOCKED_ELL)
      ? kInvalid
      : answer(
            std::pair(rows, matrix->rows),
            std::pair(columns, matrix->columns),
            std::pair(block, matrix->block),
            std::pair(ell_columns, matrix->ell_size),
            std::pair(indices, matrix->indices),
            std::pair(values, matrix->values),
            std::pair(index_type, matrix->index_type),
            std::pair(base, matrix->base),
            std::pair(type, matrix->type));
}
ACCEL_READ_ONLY(cusparseConstBlockedEllGet, cusparseBlockedEllGet)

} // extern "C"
