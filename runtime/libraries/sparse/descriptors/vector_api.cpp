// Descriptors of vectors, sparse and dense.
#include <cusparse.h>

#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/numbers.h"
#include "runtime/libraries/sparse/objects.h"
#include "runtime/libraries/sparse/read_only.h"

using namespace accelerator::sparse;

extern "C" {

cusparseStatus_t cusparseCreateSpVec(
    cusparseSpVecDescr_t* vector,
    std::int64_t size,
    std::int64_t nnz,
    void* indices,
    void* values,
    cusparseIndexType_t index_type,
    cusparseIndexBase_t base,
    cudaDataType type) {
  if (size < 0 || nnz < 0 || nnz > size ||
      !is_well_typed(index_type, base, type, nullptr, indices, values) ||
      !is_in_range(index_type, base, size)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return create(
      __func__,
      vector,
      cusparseSpVecDescr{size, nnz, indices, values, index_type, base, type});
}
ACCEL_READ_ONLY(cusparseCreateConstSpVec, cusparseCreateSpVec)

cusparseStatus_t cusparseCreateDnVec(
    cusparseDnVecDescr_t* vector,
    std::int64_t size,
    void* values,
    cudaDataType type) {
  if (size < 0 || size_of(type) == 0 || !is_aligned(values, size_of(type))) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return create(__func__, vector, cusparseDnVecDescr{size, values, type});
}
ACCEL_READ_ONLY(cusparseCreateConstDnVec, cusparseCreateDnVec)

} // extern "C"

ENTRY_POINT(
    8,
    cusparseSpVecGet,
    get<&cusparseSpVecDescr::size,
        &cusparseSpVecDescr::nnz,
        &cusparseSpVecDescr::indices,
        &cusparseSpVecDescr::values,
        &cusparseSpVecDescr::index_type,
        &cusparseSpVecDescr::base,
        &cusparseSpVecDescr::type>)
ACCEL_READ_ONLY(cusparseConstSpVecGet, cusparseSpVecGet)
ENTRY_POINT(2, cusparseSpVecGetIndexBase, get<&cusparseSpVecDescr::base>)

ENTRY_POINT(
    4,
    cusparseDnVecGet,
    get<&cusparseDnVecDescr::size,
        &cusparseDnVecDescr::values,
        &cusparseDnVecDescr::type>)
ACCEL_READ_ONLY(cusparseConstDnVecGet, cusparseDnVecGet)
