// cuBLAS level 2: general matrices of which a band is stored, times vectors.
// Source: cuBLAS API, chapter 2.6.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/level2/triangle.h"
#include "runtime/libraries/blas/vectors.h"

namespace accelerator::blas {
namespace {

/// y := alpha op(A) x + beta y, with `kl` diagonals of A below its main one and
/// `ku` above it, each a row of the array `a`.
template <typename T>
cublasStatus_t gbmv(
    const char* function,
    cublasHandle_t handle,
    cublasOperation_t operation,
    int m,
    int n,
    int kl,
    int ku,
    const T* alpha,
    const T* a,
    int lda,
    const T* x,
    int incx,
    const T* beta,
    T* y,
    int incy) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!host::known(operation) || m < 0 || n < 0 || kl < 0 || ku < 0 ||
      lda - std::int64_t{1} < std::int64_t{kl} + ku || incx == 0 || incy == 0 ||
      alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool is_plain = operation == CUBLAS_OP_N;
  const int inputs = is_plain ? n : m;
  const int outputs = is_plain ? m : n;
  const Scalar<T> factor(handle, alpha);
  const Scalar<T> old(handle, beta);
  if (!accessible(
          function,
          {{a, matrix_bytes(kl + ku + 1, n, lda, sizeof(T))},
           {x, vector_bytes(inputs, incx, sizeof(T))},
           {y, vector_bytes(outputs, incy, sizeof(T))},
           factor.extent(),
           old.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  // Element (i, j) is `i` elements from here.
  const auto column_of = [=](int j) {
    return a + static_cast<std::ptrdiff_t>(j) * lda + (ku - std::ptrdiff_t{j});
  };
  const auto rows_of = [=](int j) {
    const std::int64_t end = std::int64_t{j} + kl + 1;
    return Rows{
        std::min(m, j - std::min(j, ku)),
        static_cast<int>(std::min<std::int64_t>(m, end))};
  };
  return enqueue(function, handle->stream, [=] {
    reads({factor.extent(), old.extent()});
    const T by = factor.get();
    const T keep = old.get();
    const int used = by == T{} ? 0 : n;
    std::vector<Read> list{
        vector_read(x, used == 0 ? 0 : inputs, incx, sizeof(T)),
        vector_read(y, keep == T{} ? 0 : outputs, incy, sizeof(T))};
    for (int j = 0; j < used; ++j) {
      const Rows rows = rows_of(j);
      list.emplace_back(
          column_of(j) + rows.begin,
          static_cast<std::size_t>(rows.end - rows.begin) * sizeof(T));
    }
    reads(list);
    const Strided<const T> in(x, inputs, incx);
    const Strided<T> out(y, outputs, incy);
    for (int i = 0; i < outputs; ++i) {
      // What is multiplied by zero is not read, be it NaN.
      out[i] = keep == T{} ? T{} : keep * out[i];
    }
    for (int j = 0; j < used; ++j) {
      const T* const column = column_of(j);
      const Rows rows = rows_of(j);
      T sum{};
      for (int i = rows.begin; i < rows.end; ++i) {
        if (is_plain) {
          out[i] += by * in[j] * column[i];
        } else {
          const bool is_conjugate = operation == CUBLAS_OP_C;
          sum +=
              (is_conjugate ? host::conjugate(column[i]) : column[i]) * in[i];
        }
      }
      if (!is_plain) {
        out[j] += by * sum;
      }
    }
  });
}

} // namespace
} // namespace accelerator::blas

using namespace accelerator::blas;

ENTRY_POINTS(14, cublas, gbmv, gbmv)
