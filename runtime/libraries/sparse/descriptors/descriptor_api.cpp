// What descriptors of all kinds have: an end, and values.
#include <cusparse.h>

#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/numbers.h"
#include "runtime/libraries/sparse/objects.h"
#include "runtime/libraries/sparse/read_only.h"

namespace accelerator::sparse {
namespace {

template <typename T>
cusparseStatus_t set_values(const char*, T* descriptor, void* values) {
  if (descriptor == nullptr || !is_aligned(values, size_of(descriptor->type))) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  descriptor->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(1, cusparseDestroySpVec, destroy)
ENTRY_POINT(1, cusparseDestroyDnVec, destroy)
ENTRY_POINT(1, cusparseDestroySpMat, destroy)
ENTRY_POINT(1, cusparseDestroyDnMat, destroy)

ENTRY_POINT(2, cusparseSpVecGetValues, get<&cusparseSpVecDescr::values>)
ENTRY_POINT(2, cusparseDnVecGetValues, get<&cusparseDnVecDescr::values>)
ENTRY_POINT(2, cusparseSpMatGetValues, get<&cusparseSpMatDescr::values>)
ENTRY_POINT(2, cusparseDnMatGetValues, get<&cusparseDnMatDescr::values>)
ACCEL_READ_ONLY(cusparseConstSpVecGetValues, cusparseSpVecGetValues)
ACCEL_READ_ONLY(cusparseConstDnVecGetValues, cusparseDnVecGetValues)
ACCEL_READ_ONLY(cusparseConstSpMatGetValues, cusparseSpMatGetValues)
ACCEL_READ_ONLY(cusparseConstDnMatGetValues, cusparseDnMatGetValues)

ENTRY_POINT(2, cusparseSpVecSetValues, set_values)
ENTRY_POINT(2, cusparseDnVecSetValues, set_values)
ENTRY_POINT(2, cusparseSpMatSetValues, set_values)
ENTRY_POINT(2, cusparseDnMatSetValues, set_values)
