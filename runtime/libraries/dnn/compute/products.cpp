#include "runtime/libraries/dnn/compute/products.h"

#include <algorithm>

namespace accelerator::dnn {
namespace {

/// Which matrix of an operand belongs to a matrix of the result.
std::int64_t batch_of(const Dims& operand, const Dims& result, Dims index) {
  std::int64_t place = 0;
  for (std::size_t i = 0; i + 2 < result.size(); ++i) {
    place = place * operand[i] + index[i] / (result[i] / operand[i]);
  }
  return place;
}

} // namespace

template <typename T>
Array<T> matmul(
    const Array<T>& a,
    const Array<T>& b,
    const Dims& c,
    const ProductSizes& sizes,
    T padding) {
  Array<T> result(c);
  T* to = result.writable();
  const std::size_t rank = c.size();
  const std::int64_t rows = c[rank - 2];
  const std::int64_t columns = c[rank - 1];
  const std::int64_t terms = a.dims()[rank - 1];
  const Dims batches(c.begin(), c.end() - 2);
  const std::int64_t count = count_of(batches);
  const Dims strides = packed_strides(batches);
  Dims index(batches.size());
  for (std::int64_t batch = 0; batch < count; ++batch) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      index[i] = batch / strides[i] % batches[i];
    }
    const std::int64_t first = index.empty() ? 0 : index[0];
    const auto size = [first](const auto& override, std::int64_t whole) {
      return override ? std::clamp<std::int64_t>(override(first), 0, whole)
                      : whole;
    };
    const std::int64_t m = size(sizes.m, rows);
    const std::int64_t n = size(sizes.n, columns);
    const std::int64_t k = size(sizes.k, terms);
    T* out = to + batch * rows * columns;
    if (m < rows || n < columns) {
      std::fill_n(out, rows * columns, padding);
    }
    if (m == 0 || n == 0) {
      continue;
    }
    if (k == 0) {
      for (std::int64_t i = 0; i < m; ++i) {
        std::fill_n(out + i * columns, n, T{});
      }
      continue;
    }
    multiply(
        false,
        false,
        m,
        n,
        k,
        a.data() + batch_of(a.dims(), c, index) * rows * terms,
        terms,
        b.data() + batch_of(b.dims(), c, index) * terms * columns,
        columns,
        T{},
        out,
        columns);
  }
  return result;
}

template Array<float> matmul(
    const Array<float>&,
    const Array<float>&,
    const Dims&,
    const ProductSizes&,
    float);
template Array<double> matmul(
    const Array<double>&,
    const Array<double>&,
    const Dims&,
    const ProductSizes&,
    double);

} // namespace accelerator::dnn
