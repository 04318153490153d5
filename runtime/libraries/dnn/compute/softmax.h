// Softmax along the last dimension.
#pragma once

#include "runtime/libraries/dnn/array.h"

namespace accelerator::dnn {

template <typename T>
struct Softmax {
  Array<T> values;
  // Of each row, with 1 as last dimension.
  Array<T> maximum;
  Array<T> sum; // of exponentials, of what is above the maximum
};

/// @param sink a further element of each row, which gets no value; its
/// dimensions may be 1. Null: there is none.
/// A row of minus infinities gives zeros.
template <typename T>
Softmax<T> softmax(const Array<T>& x, const Array<T>* sink = nullptr);

} // namespace accelerator::dnn
