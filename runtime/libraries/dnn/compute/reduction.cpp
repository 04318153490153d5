#include "runtime/libraries/dnn/compute/reduction.h"

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/libraries/dnn/status.h"

namespace accelerator::dnn {
namespace {

/// Calls `body(x, y)` with the places of each element and of its result.
template <typename Body>
void for_each_element(const Dims& x, const Dims& y, Body body) {
  const Dims strides = packed_strides(y);
  Dims index(x.size());
  Dims repeats(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    repeats[i] = x[i] / y[i];
  }
  const std::size_t last = x.empty() ? 0 : x.size() - 1;
  const std::int64_t length = x.empty() ? 1 : x[last];
  for_each_row(x, packed_strides(x), [&](std::int64_t offset, std::int64_t) {
    std::int64_t place = 0;
    std::int64_t rest = length == 0 ? 0 : offset / length;
    for (std::size_t i = last; i-- > 0;) {
      place += rest % x[i] / repeats[i] * strides[i];
      rest /= x[i];
    }
    if (x.empty() || y[last] == 1) {
      for (std::int64_t i = 0; i < length; ++i) {
        body(offset + i, place);
      }
    } else if (y[last] == length) {
      for (std::int64_t i = 0; i < length; ++i) {
        body(offset + i, place + i);
      }
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        body(offset + i, place + i / repeats[last]);
      }
    }
  });
}

/// Reduces in double precision.
template <typename T, typename Step>
std::vector<double> accumulate(
    const Array<T>& x,
    const Dims& y,
    double first,
    Step step) {
  std::vector<double> sums(static_cast<std::size_t>(count_of(y)), first);
  for_each_element(x.dims(), y, [&](std::int64_t from, std::int64_t to) {
    sums[to] = step(sums[to], static_cast<double>(x[from]));
  });
  return sums;
}

template <typename T>
std::vector<double> reduced(
    cudnnReduceTensorOp_t operation,
    const Array<T>& x,
    const Dims& y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (operation) {
    case CUDNN_REDUCE_TENSOR_ADD:
      return accumulate(x, y, 0, [](double a, double b) { return a + b; });
    case CUDNN_REDUCE_TENSOR_MUL:
      return accumulate(x, y, 1, [](double a, double b) { return a * b; });
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
      return accumulate(
          x, y, 1, [](double a, double b) { return b == 0 ? a : a * b; });
    case CUDNN_REDUCE_TENSOR_MIN:
      return accumulate(x, y, kInfinity, [](double a, double b) {
        return b < a || std::isnan(b) ? b : a;
      });
    case CUDNN_REDUCE_TENSOR_MAX:
      return accumulate(x, y, -kInfinity, [](double a, double b) {
        return b > a || std::isnan(b) ? b : a;
      });
    case CUDNN_REDUCE_TENSOR_AMAX:
      return accumulate(x, y, 0, [](double a, double b) {
        return std::fabs(b) > a || std::isnan(b) ? std::fabs(b) : a;
      });
    case CUDNN_REDUCE_TENSOR_NORM1:
      return accumulate(
          x, y, 0, [](double a, double b) { return a + std::fabs(b); });
    case CUDNN_REDUCE_TENSOR_NORM2: {
      std::vector<double> sums =
          accumulate(x, y, 0, [](double a, double b) { return a + b * b; });
      for (double& sum : sums) {
        sum = std::sqrt(sum);
      }
      return sums;
    }
    case CUDNN_REDUCE_TENSOR_AVG: {
      std::vector<double> sums =
          accumulate(x, y, 0, [](double a, double b) { return a + b; });
      for (double& sum : sums) {
        sum *= static_cast<double>(count_of(y)) / static_cast<double>(x.size());
      }
      return sums;
    }
    default:
      throw Refusal(CUDNN_STATUS_NOT_SUPPORTED, "this reduction is unknown");
  }
}

} // namespace

template <typename T>
Array<T> reduce(
    cudnnReduceTensorOp_t operation,
    const Array<T>& x,
    const Dims& y) {
  const std::vector<double> values = reduced(operation, x, y);
  Array<T> result(y);
  T* to = result.writable();
  for (std::size_t i = 0; i < values.size(); ++i) {
    to[i] = static_cast<T>(values[i]);
  }
  return result;
}

template <typename T>
std::vector<std::int64_t> extreme_places(
    cudnnReduceTensorOp_t operation,
    const Array<T>& x,
    const Dims& y) {
  const Array<T> extremes = reduce(operation, x, y);
  std::vector<std::int64_t> places(static_cast<std::size_t>(count_of(y)), -1);
  // Of each result, how many of its elements have been passed.
  std::vector<std::int64_t> passed(places.size());
  for_each_element(x.dims(), y, [&](std::int64_t from, std::int64_t to) {
    const T value =
        operation == CUDNN_REDUCE_TENSOR_AMAX ? std::fabs(x[from]) : x[from];
    if (places[to] < 0 &&
        (value == extremes[to] ||
         (std::isnan(value) && std::isnan(extremes[to])))) {
      places[to] = passed[to];
    }
    ++passed[to];
  });
  return places;
}

#define ACCEL_REDUCTIONS(T)                                 \
  template Array<T> reduce(                                 \
      cudnnReduceTensorOp_t, const Array<T>&, const Dims&); \
  template std::vector<std::int64_t> extreme_places(        \
      cudnnReduceTensorOp_t, const Array<T>&, const Dims&);
ACCEL_REDUCTIONS(float)
ACCEL_REDUCTIONS(double)
#undef ACCEL_REDUCTIONS

} // namespace accelerator::dnn
