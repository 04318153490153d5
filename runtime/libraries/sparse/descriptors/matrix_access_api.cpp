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

template <cusparseFormat_t kFormat, auto... kMembers, typename... Value>
cusparseStatus_t get_of(
    const char* function,
    const cusparseSpMatDescr* matrix,
    Value*... values) {
  return has_format(matrix, kFormat)
      ? get<kMembers...>(function, matrix, values...)
      : kInvalid;
}

template <cusparseFormat_t kFormat>
cusparseStatus_t set_pointers(
    const char*,
    cusparseSpMatDescr* matrix,
    void* offsets,
    void* indices,
    void* values) {
  if (!has_format(matrix, kFormat) ||
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

} // extern "C"

ENTRY_POINT(2, cusparseSpMatGetFormat, get<&cusparseSpMatDescr::format>)
ENTRY_POINT(2, cusparseSpMatGetIndexBase, get<&cusparseSpMatDescr::base>)
ENTRY_POINT(
    4,
    cusparseSpMatGetSize,
    get<&cusparseSpMatDescr::rows,
        &cusparseSpMatDescr::columns,
        &cusparseSpMatDescr::nnz>)
ENTRY_POINT(2, cusparseSpMatGetStridedBatch, get<&cusparseSpMatDescr::batches>)

ENTRY_POINT(
    11,
    cusparseCsrGet,
    get_of<
        CUSPARSE_FORMAT_CSR,
        &cusparseSpMatDescr::rows,
        &cusparseSpMatDescr::columns,
        &cusparseSpMatDescr::nnz,
        &cusparseSpMatDescr::offsets,
        &cusparseSpMatDescr::indices,
        &cusparseSpMatDescr::values,
        &cusparseSpMatDescr::index_type,
        &cusparseSpMatDescr::index_type,
        &cusparseSpMatDescr::base,
        &cusparseSpMatDescr::type>)
ENTRY_POINT(
    11,
    cusparseCscGet,
    get_of<
        CUSPARSE_FORMAT_CSC,
        &cusparseSpMatDescr::rows,
        &cusparseSpMatDescr::columns,
        &cusparseSpMatDescr::nnz,
        &cusparseSpMatDescr::offsets,
        &cusparseSpMatDescr::indices,
        &cusparseSpMatDescr::values,
        &cusparseSpMatDescr::index_type,
        &cusparseSpMatDescr::index_type,
        &cusparseSpMatDescr::base,
        &cusparseSpMatDescr::type>)
ENTRY_POINT(
    10,
    cusparseCooGet,
    get_of<
        CUSPARSE_FORMAT_COO,
        &cusparseSpMatDescr::rows,
        &cusparseSpMatDescr::columns,
        &cusparseSpMatDescr::nnz,
        &cusparseSpMatDescr::offsets,
        &cusparseSpMatDescr::indices,
        &cusparseSpMatDescr::values,
        &cusparseSpMatDescr::index_type,
        &cusparseSpMatDescr::base,
        &cusparseSpMatDescr::type>)
ENTRY_POINT(
    10,
    cusparseBlockedEllGet,
    get_of<
        CUSPARSE_FORMAT_BLOCKED_ELL,
        &cusparseSpMatDescr::rows,
        &cusparseSpMatDescr::columns,
        &cusparseSpMatDescr::block,
        &cusparseSpMatDescr::ell_size,
        &cusparseSpMatDescr::indices,
        &cusparseSpMatDescr::values,
        &cusparseSpMatDescr::index_type,
        &cusparseSpMatDescr::base,
        &cusparseSpMatDescr::type>)
ACCEL_READ_ONLY(cusparseConstCsrGet, cusparseCsrGet)
ACCEL_READ_ONLY(cusparseConstCscGet, cusparseCscGet)
ACCEL_READ_ONLY(cusparseConstCooGet, cusparseCooGet)
ACCEL_READ_ONLY(cusparseConstBlockedEllGet, cusparseBlockedEllGet)

ENTRY_POINT(4, cusparseCsrSetPointers, set_pointers<CUSPARSE_FORMAT_CSR>)
ENTRY_POINT(4, cusparseCscSetPointers, set_pointers<CUSPARSE_FORMAT_CSC>)
ENTRY_POINT(4, cusparseCooSetPointers, set_pointers<CUSPARSE_FORMAT_COO>)
