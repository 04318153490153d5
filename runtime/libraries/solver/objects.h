// Objects that a program makes and destroys through the API.
#pragma once

#include <cusolver_common.h>

#include <new>

namespace accelerator::solver {

template <typename T>
cusolverStatus_t create(T** made) {
  if (made == nullptr) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *made = new (std::nothrow) T;
  return *made == nullptr ? CUSOLVER_STATUS_ALLOC_FAILED
                          : CUSOLVER_STATUS_SUCCESS;
}

template <typename T>
cusolverStatus_t destroy(T* made) {
  if (made == nullptr) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  delete made;
  return CUSOLVER_STATUS_SUCCESS;
}

/// Does something to what there may not be.
template <typename T, typename Change>
cusolverStatus_t change(T* made, Change change) {
  if (made == nullptr) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  change(*made);
  return CUSOLVER_STATUS_SUCCESS;
}

} // namespace accelerator::solver
