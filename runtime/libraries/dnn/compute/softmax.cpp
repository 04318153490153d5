#include "runtime/libraries/dnn/compute/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/libraries/dnn/compute/pointwise.h"

namespace accelerator::dnn {

template <typename T>
Softmax<T> softmax(const Array<T>& x, const Array<T>* sink) {
  Dims rows = x.dims();
  const std::int64_t length = rows.back();
  rows.back() = 1;
  Softmax<T> result{Array<T>(x.dims()), Array<T>(rows), Array<T>(rows)};
  T* values = result.values.writable();
  T* maxima = result.maximum.writable();
  T* sums = result.sum.writable();
  Array<T> sinks;
  if (sink != nullptr) {
    sinks = combine(rows, *sink, *sink, [](T value, T) { return value; });
  }
  const std::int64_t count = count_of(rows);
  for (std::int64_t row = 0; row < count; ++row) {
    const T* from = x.data() + row * length;
    T* to = values + row * length;
    T most = -std::numeric_limits<T>::infinity();
    for (std::int64_t i = 0; i < length; ++i) {
      most = from[i] > most || std::isnan(from[i]) ? from[i] : most;
    }
    if (sink != nullptr) {
      most = std::max(most, sinks[row]);
    }
    maxima[row] = most;
    if (most == -std::numeric_limits<T>::infinity()) {
      continue;
    }
    double sum = sink != nullptr ? std::exp(sinks[row] - most) : T{};
    for (std::int64_t i = 0; i < length; ++i) {
      to[i] = std::exp(from[i] - most);
      sum += static_cast<double>(to[i]);
    }
    sums[row] = static_cast<T>(sum);
    const T factor = static_cast<T>(1 / sum);
    for (std::int64_t i = 0; i < length; ++i) {
      to[i] *= factor;
    }
  }
  return result;
}

template Softmax<float> softmax(const Array<float>&, const Array<float>*);
template Softmax<double> softmax(const Array<double>&, const Array<double>*);

} // namespace accelerator::dnn
