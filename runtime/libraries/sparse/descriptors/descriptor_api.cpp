// What descriptors of all kinds have: an end, and values.
#include <cusparse.h>

#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/numbers.h"
#include "runtime/libraries/sparse/objects.h"
#include "runtime/libraries/sparse/read_only.h"

using namespace accelerator::sparse;

extern "C" {

#define ACCEL_KIND(Kind)                                                     \
  cusparseStatus_t cusparseDestroy##Kind(                                    \
      cusparseConst##Kind##Descr_t descriptor) {                             \
    return destroy(descriptor);                                              \
  }                                                                          \
  cusparseStatus_t cusparse##Kind##GetValues(                                \
      cusparse##Kind##Descr_t descriptor, void** values) {                   \
    return descriptor == nullptr                                             \
        ? CUSPARSE_STATUS_INVALID_VALUE                                      \
        : answer(std::pair(values, descriptor->values));                     \
  }                                                                          \
  ACCEL_READ_ONLY(cusparseConst##Kind##GetValues, cusparse##Kind##GetValues) \
  cusparseStatus_t cusparse##Kind##SetValues(                                \
      cusparse##Kind##Descr_t descriptor, void* values) {                    \
    if (descriptor == nullptr ||                                             \
        !is_aligned(values, size_of(descriptor->type))) {                    \
      return CUSPARSE_STATUS_INVALID_VALUE;                                  \
    }                                                                        \
    descriptor->values = values;                                             \
    return CUSPARSE_STATUS_SUCCESS;                                          \
  }
ACCEL_KIND(SpVec)
ACCEL_KIND(DnVec)
ACCEL_KIND(SpMat)
ACCEL_KIND(DnMat)
#undef ACCEL_KIND

} // extern "C"
