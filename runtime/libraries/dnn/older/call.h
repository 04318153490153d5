// Calls of the older API that compute: result = alpha f(operands) + beta
// result.
#pragma once

#include <cudnn.h>

#include <utility>
#include <vector>

#include "runtime/libraries/dnn/compute/pointwise.h"
#include "runtime/libraries/dnn/context.h"
#include "runtime/libraries/dnn/older/descriptors.h"
#include "runtime/libraries/dnn/submit.h"

namespace accelerator::dnn {

/// Alpha and beta are double for tensors of double, and float for all others.
inline double scalar(const void* pointer, cudnnDataType_t type) {
  require_given(pointer);
  return type == CUDNN_DATA_DOUBLE
      ? *static_cast<const double*>(pointer)
      : static_cast<double>(*static_cast<const float*>(pointer));
}

/// A tensor that a call writes.
struct Result {
  Layout layout;
  void* pointer;
};

inline void require_known(const Layout& layout) {
  require_valid(!layout.dims.empty(), "a descriptor is not set");
  require_supported(
      bits_of(layout.type) != 0, "a tensor's data type is not supported");
}

/// What is computed in.
inline bool in_double(const std::vector<Layout>& layouts) {
  for (const Layout& layout : layouts) {
    if (layout.type == CUDNN_DATA_DOUBLE || layout.type == CUDNN_DATA_INT32 ||
        layout.type == CUDNN_DATA_INT64) {
      return true;
    }
  }
  return false;
}

/// Writes alpha made + beta what was there.
template <typename T>
void blend(const Result& result, Array<T> made, double alpha, double beta) {
  if (alpha != 1) {
    T* values = made.writable();
    for (std::int64_t i = 0; i < made.size(); ++i) {
      values[i] *= static_cast<T>(alpha);
    }
  }
  if (beta != 0) {
    const T factor = static_cast<T>(beta);
    made = combine(
        made.dims(),
        made,
        read<T>(result.layout, result.pointer),
        [factor](T a, T b) { return a + factor * b; });
  }
  write(result.layout, result.pointer, made);
}

/// Calls `work` with an element to compute in: a float or a double.
template <typename Work>
void in_type(bool in_double, const Work& work) {
  if (in_double) {
    work(double{});
  } else {
    work(float{});
  }
}

/// Puts a call into the handle's stream.
/// @param work is called with the operands' arrays, in their order, and returns
/// the result's.
template <typename Work>
void compute(
    const char* function,
    cudnnHandle_t handle,
    std::vector<Operand> operands,
    const Result& result,
    double alpha,
    double beta,
    Work work) {
  std::vector<Layout> layouts{result.layout};
  for (const Operand& operand : operands) {
    require_known(operand.layout);
    layouts.push_back(operand.layout);
  }
  require_known(result.layout);
  std::vector<Operand> all = operands;
  all.push_back({result.layout, result.pointer, beta != 0});
  submit(
      function,
      handle->stream,
      std::move(all),
      [in_double = in_double(layouts),
       operands = std::move(operands),
       result,
       alpha,
       beta,
       work] {
        in_type(in_double, [&](auto zero) {
          using T = decltype(zero);
          std::vector<Array<T>> arrays;
          for (const Operand& operand : operands) {
            arrays.push_back(read<T>(operand.layout, operand.pointer));
          }
          blend<T>(result, work(arrays), alpha, beta);
        });
      });
}

/// An array as it is.
template <typename T>
Array<T> same(const Array<T>& x) {
  return Array<T>(x.dims(), x.data());
}

/// The elements' type of a vector of arrays.
template <typename Arrays>
using ElementOf = std::decay_t<decltype(std::declval<Arrays>()[0][0])>;

} // namespace accelerator::dnn
