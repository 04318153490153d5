// What functions that are older than the generic API are told of a matrix.
#include <cusparse.h>

#include "runtime/libraries/sparse/context.h"
#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/objects.h"

namespace accelerator::sparse {
namespace {

template <typename T>
cusparseStatus_t set(
    cusparseMatDescr* description,
    T cusparseMatDescr::* member,
    T value,
    T last) {
  if (description == nullptr) {
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  }
  if (value < T() || value > last) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  description->*member = value;
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename T>
T get(const cusparseMatDescr* description, T cusparseMatDescr::* member) {
  return description == nullptr ? static_cast<T>(-1) : description->*member;
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* description) {
  return create(description);
}

cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t description) {
  return destroy(description);
}

cusparseStatus_t cusparseSetMatType(
    cusparseMatDescr_t description,
    cusparseMatrixType_t type) {
  return set(
      description,
      &cusparseMatDescr::type,
      type,
      CUSPARSE_MATRIX_TYPE_TRIANGULAR);
}

cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t description) {
  return get(description, &cusparseMatDescr::type);
}

cusparseStatus_t cusparseSetMatFillMode(
    cusparseMatDescr_t description,
    cusparseFillMode_t fill_mode) {
  return set(
      description,
      &cusparseMatDescr::fill_mode,
      fill_mode,
      CUSPARSE_FILL_MODE_UPPER);
}

cusparseFillMode_t cusparseGetMatFillMode(
    const cusparseMatDescr_t description) {
  return get(description, &cusparseMatDescr::fill_mode);
}

cusparseStatus_t cusparseSetMatDiagType(
    cusparseMatDescr_t description,
    cusparseDiagType_t diagonal) {
  return set(
      description,
      &cusparseMatDescr::diagonal,
      diagonal,
      CUSPARSE_DIAG_TYPE_UNIT);
}

cusparseDiagType_t cusparseGetMatDiagType(
    const cusparseMatDescr_t description) {
  return get(description, &cusparseMatDescr::diagonal);
}

cusparseStatus_t cusparseSetMatIndexBase(
    cusparseMatDescr_t description,
    cusparseIndexBase_t base) {
  return set(
      description, &cusparseMatDescr::base, base, CUSPARSE_INDEX_BASE_ONE);
}

cusparseIndexBase_t cusparseGetMatIndexBase(
    const cusparseMatDescr_t description) {
  return get(description, &cusparseMatDescr::base);
}

} // extern "C"
