// Objects that a program makes and destroys through the API. The functions here
// that are told a name are operations of ENTRY_POINT.
#pragma once

#include <cusparse.h>

#include <new>
#include <utility>

#include "runtime/signatures/entry_points.h"

namespace accelerator::sparse {

/// Makes one. What is destroyed may be a null pointer, as in NVIDIA's library.
template <typename T>
cusparseStatus_t create(const char*, T** made, T value = {}) {
  if (made == nullptr) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  *made = new (std::nothrow) T(std::move(value));
  return *made == nullptr ? CUSPARSE_STATUS_ALLOC_FAILED
                          : CUSPARSE_STATUS_SUCCESS;
}

template <typename T>
cusparseStatus_t destroy(const char*, T* made) {
  delete made;
  return CUSPARSE_STATUS_SUCCESS;
}

/// Stores answers where the program wants them; it has to want all of them.
template <typename... Place, typename... Value>
cusparseStatus_t answer(const std::pair<Place*, Value>&... answers) {
  if ((... || (answers.first == nullptr))) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  (..., (*answers.first = answers.second));
  return CUSPARSE_STATUS_SUCCESS;
}

/// Answers what members of an object are.
template <auto... kMembers, typename T, typename... Value>
cusparseStatus_t get(const char*, const T* object, Value*... values) {
  return object == nullptr ? CUSPARSE_STATUS_INVALID_VALUE
                           : answer(std::pair(values, object->*kMembers)...);
}

} // namespace accelerator::sparse
