#include "runtime/libraries/dnn/compute/normalization.h"

#include <cmath>
#include <utility>

#include "runtime/libraries/dnn/compute/pointwise.h"
#include "runtime/libraries/dnn/compute/reduction.h"

namespace accelerator::dnn {
namespace {

template <typename T>
Array<T> product(const Array<T>& a, const Array<T>& b) {
  return combine(a.dims(), a, b, [](T x, T y) { return x * y; });
}

template <typename T>
Array<T> mean_of(const Array<T>& x, const Dims& dims) {
  return reduce(CUDNN_REDUCE_TENSOR_AVG, x, dims);
}

} // namespace

template <typename T>
Array<T> inverse_deviation(const Array<T>& variance, double epsilon) {
  return combine(variance.dims(), variance, variance, [=](T value, T) {
    return static_cast<T>(1 / std::sqrt(static_cast<double>(value) + epsilon));
  });
}

template <typename T>
Statistics<T> statistics_of(
    const Array<T>& x,
    const Dims& dims,
    bool centred,
    double epsilon,
    Array<T>* variance) {
  Statistics<T> result;
  Array<T> squares;
  if (centred) {
    result.mean = mean_of(x, dims);
    squares = combine(x.dims(), x, *result.mean, [](T value, T mean) {
      return (value - mean) * (value - mean);
    });
  } else {
    squares = product(x, x);
  }
  Array<T> spread = mean_of(squares, dims);
  result.inverse = inverse_deviation(spread, epsilon);
  if (variance != nullptr) {
    *variance = std::move(spread);
  }
  return result;
}

template <typename T>
Array<T> normalize(
    const Array<T>& x,
    const Statistics<T>& statistics,
    const Array<T>* scale,
    const Array<T>* bias) {
  const auto less = [](T a, T b) { return a - b; };
  Array<T> result = statistics.mean
      ? product(
            combine(x.dims(), x, *statistics.mean, less), statistics.inverse)
      : product(x, statistics.inverse);
  if (scale != nullptr) {
    result = product(result, *scale);
  }
  if (bias != nullptr) {
    result = combine(x.dims(), result, *bias, [](T a, T b) { return a + b; });
  }
  return result;
}

template <typename T>
NormalizationGradients<T> normalize_backward(
    const Array<T>& x,
    const Array<T>& dy,
    const Statistics<T>& statistics,
    const Array<T>* scale,
    const Dims& parameters) {
  const Dims& dims = x.dims();
  const auto less = [](T a, T b) { return a - b; };
  const Array<T> normal = normalize<T>(x, statistics, nullptr, nullptr);
  const Array<T> weighted = product(dy, normal);
  NormalizationGradients<T> result;
  result.dscale = reduce(CUDNN_REDUCE_TENSOR_ADD, weighted, parameters);
  result.dbias = reduce(CUDNN_REDUCE_TENSOR_ADD, dy, parameters);
  // The gradient of x hat, less what the statistics have from each element.
  const Array<T> gradient =
      scale == nullptr ? Array<T>(dims, dy.data()) : product(dy, *scale);
  const Dims& shared = statistics.inverse.dims();
  const Array<T> along = mean_of(product(gradient, normal), shared);
  Array<T> rest = combine(dims, gradient, product(normal, along), less);
  if (statistics.mean) {
    rest = combine(dims, rest, mean_of(gradient, shared), less);
  }
  result.dx = product(rest, statistics.inverse);
  return result;
}

#define ACCEL_NORMALIZATION(T)                                  \
  template Array<T> inverse_deviation(const Array<T>&, double); \
  template Statistics<T> statistics_of(                         \
      const Array<T>&, const Dims&, bool, double, Array<T>*);   \
  template Array<T> normalize(                                  \
      const Array<T>&,                                          \
      const Statistics<T>&,                                     \
      const Array<T>*,                                          \
      const Array<T>*);                                         \
  template NormalizationGradients<T> normalize_backward(        \
      const Array<T>&,                                          \
      const Array<T>&,                                          \
      const Statistics<T>&,                                     \
      const Array<T>*,                                          \
      const Dims&);
ACCEL_NORMALIZATION(float)
ACCEL_NORMALIZATION(double)
#undef ACCEL_NORMALIZATION

} // namespace accelerator::dnn
