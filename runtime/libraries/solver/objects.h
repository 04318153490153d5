// Objects that a program makes and destroys through the API. The functions here
// are operations of ENTRY_POINT, which tells them a name.
#pragma once

#include <cusolver_common.h>

#include <new>

namespace accelerator::solver {

/// What a call answers that is given no object of a type.
template <typename T>
constexpr cusolverStatus_t kMissing = CUSOLVER_STATUS_INVALID_VALUE;

template <typename T>
cusolverStatus_t create(const char*, T** made) {
  if (made == nullptr) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *made = new (std::nothrow) T;
  return *made == nullptr ? CUSOLVER_STATUS_ALLOC_FAILED
                          : CUSOLVER_STATUS_SUCCESS;
}

template <typename T>
cusolverStatus_t destroy(const char*, T* made) {
  if (made == nullptr) {
    return kMissing<T>;
  }
  delete made;
  return CUSOLVER_STATUS_SUCCESS;
}

/// Does something to what there may not be.
template <typename T, typename Change>
cusolverStatus_t change(T* made, Change change) {
  if (made == nullptr) {
    return kMissing<T>;
  }
  change(*made);
  return CUSOLVER_STATUS_SUCCESS;
}

/// Sets a member of an object.
template <auto kMember, typename T, typename Value>
cusolverStatus_t set(const char*, T* made, Value value) {
  return change(made, [&](T& its) { its.*kMember = value; });
}

/// Answers what a member of an object is.
template <auto kMember, typename T, typename Value>
cusolverStatus_t get(const char*, const T* made, Value* value) {
  if (made == nullptr) {
    return kMissing<T>;
  }
  return change(value, [&](Value& its) { its = made->*kMember; });
}

} // namespace accelerator::solver
