// What functions that are older than the generic API are told of a matrix.
#include <cusparse.h>

#include "runtime/libraries/sparse/context.h"
#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/objects.h"

namespace accelerator::sparse {
namespace {

/// @tparam kLast the last of the values that there are.
template <auto kMember, auto kLast, typename T>
cusparseStatus_t set(const char*, cusparseMatDescr* description, T value) {
  if (description == nullptr) {
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  }
  if (value < T() || value > kLast) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  description->*kMember = value;
  return CUSPARSE_STATUS_SUCCESS;
}

template <auto kMember>
auto get(const char*, const cusparseMatDescr* description) {
  using T = std::decay_t<decltype(description->*kMember)>;
  return description == nullptr ? static_cast<T>(-1) : description->*kMember;
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(1, cusparseCreateMatDescr, create)
ENTRY_POINT(1, cusparseDestroyMatDescr, destroy)
ENTRY_POINT(
    2,
    cusparseSetMatType,
    set<&cusparseMatDescr::type, CUSPARSE_MATRIX_TYPE_TRIANGULAR>)
ENTRY_POINT(1, cusparseGetMatType, get<&cusparseMatDescr::type>)
ENTRY_POINT(
    2,
    cusparseSetMatFillMode,
    set<&cusparseMatDescr::fill_mode, CUSPARSE_FILL_MODE_UPPER>)
ENTRY_POINT(1, cusparseGetMatFillMode, get<&cusparseMatDescr::fill_mode>)
ENTRY_POINT(
    2,
    cusparseSetMatDiagType,
    set<&cusparseMatDescr::diagonal, CUSPARSE_DIAG_TYPE_UNIT>)
ENTRY_POINT(1, cusparseGetMatDiagType, get<&cusparseMatDescr::diagonal>)
ENTRY_POINT(
    2,
    cusparseSetMatIndexBase,
    set<&cusparseMatDescr::base, CUSPARSE_INDEX_BASE_ONE>)
ENTRY_POINT(1, cusparseGetMatIndexBase, get<&cusparseMatDescr::base>)
