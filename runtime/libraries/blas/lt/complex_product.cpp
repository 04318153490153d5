#include "runtime/libraries/blas/lt/complex_product.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/lt/layout.h"

namespace accelerator::blas::lt {
namespace {

/// op(A) by columns, without gaps.
template <typename T>
std::vector<T> operand(
    const MatrixLayout& layout,
    const char* data,
    cublasOperation_t operation) {
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  const auto* const values = reinterpret_cast<const T*>(data);
  std::vector<T> result(static_cast<std::size_t>(rows * columns));
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const T value = values[place_of(layout, row, column)];
      const std::int64_t at = operation == CUBLAS_OP_N ? column * rows + row
                                                       : row * columns + column;
      result[static_cast<std::size_t>(at)] =
          operation == CUBLAS_OP_C ? std::conj(value) : value;
    }
  }
  return result;
}

template <typename T>
T scalar(const void* on_device, const char* here) {
  return *static_cast<const T*>(on_device != nullptr ? on_device : here);
}

template <typename T>
void multiply_all(const Call& call) {
  const MatmulDesc& desc = call.desc;
  const int m = static_cast<int>(call.d.rows);
  const int n = static_cast<int>(call.d.columns);
  const int k = static_cast<int>(
      desc.operation_a == CUBLAS_OP_N ? call.a.columns : call.a.rows);
  const T alpha = scalar<T>(call.device_alpha, call.alpha);
  const T beta = scalar<T>(call.device_beta, call.beta);
  for (int i = 0; i < call.d.batch_count; ++i) {
    const auto a =
        operand<T>(call.a, batch_of(call.a_data, call.a, i), desc.operation_a);
    const auto b =
        operand<T>(call.b, batch_of(call.b_data, call.b, i), desc.operation_b);
    std::vector<T> sums(
        static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    if (!sums.empty() && k > 0) {
      host::gemm(
          CblasNoTrans,
          CblasNoTrans,
          m,
          n,
          k,
          T(1),
          a.data(),
          std::max(1, m),
          b.data(),
          std::max(1, k),
          T(0),
          sums.data(),
          std::max(1, m));
    }
    const auto* const c =
        reinterpret_cast<const T*>(batch_of(call.c_data, call.c, i));
    auto* const d = reinterpret_cast<T*>(
        const_cast<char*>(batch_of(call.d_data, call.d, i)));
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < m; ++row) {
        T value = alpha *
            sums[static_cast<std::size_t>(column) *
                     static_cast<std::size_t>(m) +
                 static_cast<std::size_t>(row)];
        if (beta != T(0)) {
          value += beta * c[place_of(call.c, row, column)];
        }
        d[place_of(call.d, row, column)] = value;
      }
    }
  }
}

} // namespace

bool is_complex_product(
    const MatrixLayout& a,
    const MatrixLayout& b,
    const MatrixLayout& c,
    const MatrixLayout& d) {
  return is_complex(a.type) || is_complex(b.type) || is_complex(c.type) ||
      is_complex(d.type);
}

bool can_multiply(
    const MatmulDesc& desc,
    const MatrixLayout& a,
    const MatrixLayout& b,
    const MatrixLayout& c,
    const MatrixLayout& d) {
  for (const MatrixLayout* layout : {&a, &b, &c, &d}) {
    if (layout->type != d.type || !has_plain_order(*layout)) {
      return false;
    }
  }
  return desc.scale == d.type && scale_type(desc.compute, d.type) == d.type &&
      desc.compute != CUBLAS_COMPUTE_32I &&
      desc.compute != CUBLAS_COMPUTE_32I_PEDANTIC &&
      desc.compute != CUBLAS_COMPUTE_16F &&
      desc.compute != CUBLAS_COMPUTE_16F_PEDANTIC &&
      desc.epilogue == CUBLASLT_EPILOGUE_DEFAULT && desc.scale_a == nullptr &&
      desc.scale_b == nullptr && desc.scale_c == nullptr &&
      desc.scale_d == nullptr && desc.amax_d == nullptr;
}

void run_complex(const Call& call) {
  tell_reads(call);
  if (call.d.type == CUDA_C_64F) {
    multiply_all<Complex128>(call);
  } else {
    multiply_all<Complex64>(call);
  }
}

} // namespace accelerator::blas::lt
