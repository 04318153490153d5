// Functions of each element by itself.
// Source: cuDNN graph API, cudnnPointwiseMode_t.
#pragma once

#include <cudnn.h>

#include <limits>

#include "runtime/libraries/dnn/array.h"

namespace accelerator::dnn {

struct Pointwise {
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  double lower_clip = 0;
  double upper_clip = std::numeric_limits<double>::max();
  double lower_slope = 0;
  double elu_alpha = 1;
  double softplus_beta = 1;
  double swish_beta = 1;
  std::int64_t axis = -1;
};

/// How many arrays a mode takes: one, two or three; 0 for a number that is no
/// mode.
int operands_of(cudnnPointwiseMode_t mode);

/// Whether it is the gradient of an activation: of dy and x.
bool is_backward(cudnnPointwiseMode_t mode);

/// @param dims of the result. An operand's dimensions may be 1 instead, and
/// those of the beginning may be missing.
/// @param x the gradient dy for gradients of activations.
/// @param b the second operand, which is x for gradients; null where there is
/// none.
/// @param t what is selected by; null where nothing is.
template <typename T>
Array<T> pointwise(
    const Pointwise& function,
    const Dims& dims,
    const Array<T>& x,
    const Array<T>* b = nullptr,
    const Array<T>* t = nullptr);

/// A given function of two arrays, in the same way.
template <typename T, typename Function>
Array<T> combine(
    const Dims& dims,
    const Array<T>& a,
    const Array<T>& b,
    Function function);

/// Strides by which an array is read as one of other dimensions: 0 where it is
/// repeated.
Dims repeating_strides(const Dims& from, const Dims& to);

template <typename T, typename Function>
Array<T> combine(
    const Dims& dims,
    const Array<T>& a,
    const Array<T>& b,
    Function function) {
  Array<T> result(dims);
  T* to = result.writable();
  const Dims a_strides = repeating_strides(a.dims(), dims);
  const Dims b_strides = repeating_strides(b.dims(), dims);
  const std::int64_t length = dims.empty() ? 1 : dims.back();
  const std::int64_t a_step = dims.empty() ? 0 : a_strides.back();
  const std::int64_t b_step = dims.empty() ? 0 : b_strides.back();
  std::vector<std::int64_t> b_offsets;
  for_each_row(dims, b_strides, [&](std::int64_t offset, std::int64_t) {
    b_offsets.push_back(offset);
  });
  for_each_row(dims, a_strides, [&](std::int64_t offset, std::int64_t row) {
    const T* x = a.data() + offset;
    const T* y = b.data() + b_offsets[row];
    T* out = to + row * length;
    if (a_step == 1 && b_step == 1) {
      for (std::int64_t i = 0; i < length; ++i) {
        out[i] = function(x[i], y[i]);
      }
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        out[i] = function(x[i * a_step], y[i * b_step]);
      }
    }
  });
  return result;
}

} // namespace accelerator::dnn
