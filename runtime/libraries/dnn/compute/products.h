// Matrix products, by the BLAS of libcublas, and products of arrays.
#pragma once

#include "runtime/libraries/blas/host_products.h"
#include "runtime/libraries/dnn/array.h"

namespace accelerator::dnn {

/// C = op(A) op(B) + beta C of row-major matrices.
inline void multiply(
    bool transpose_a,
    bool transpose_b,
    std::int64_t m,
    std::int64_t n,
    std::int64_t k,
    const float* a,
    std::int64_t lda,
    const float* b,
    std::int64_t ldb,
    float beta,
    float* c,
    std::int64_t ldc) {
  accel_host_products()->s(
      transpose_a,
      transpose_b,
      static_cast<int>(m),
      static_cast<int>(n),
      static_cast<int>(k),
      1,
      a,
      static_cast<int>(lda),
      b,
      static_cast<int>(ldb),
      beta,
      c,
      static_cast<int>(ldc));
}
inline void multiply(
    bool transpose_a,
    bool transpose_b,
    std::int64_t m,
    std::int64_t n,
    std::int64_t k,
    const double* a,
    std::int64_t lda,
    const double* b,
    std::int64_t ldb,
    double beta,
    double* c,
    std::int64_t ldc) {
  accel_host_products()->d(
      transpose_a,
      transpose_b,
      static_cast<int>(m),
      static_cast<int>(n),
      static_cast<int>(k),
      1,
      a,
      static_cast<int>(lda),
      b,
      static_cast<int>(ldb),
      beta,
      c,
      static_cast<int>(ldc));
}

/// How many rows, columns, and terms of each matrix count, where a matrix of a
/// batch is smaller than its array: functions of the number of the batch.
struct ProductSizes {
  std::function<std::int64_t(std::int64_t)> m, n, k;
};

/// C = A B in the last two dimensions. The others are batches; one that is a
/// fraction of C's is repeated.
/// @param padding what C's elements are beyond `sizes`.
template <typename T>
Array<T> matmul(
    const Array<T>& a,
    const Array<T>& b,
    const Dims& c,
    const ProductSizes& sizes = {},
    T padding = {});

} // namespace accelerator::dnn
