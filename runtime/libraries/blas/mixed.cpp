#include "runtime/libraries/blas/mixed.h"

#include "runtime/libraries/blas/host_blas.h"

namespace accelerator::blas {

bool is_complex(cudaDataType_t type) {
  return type == CUDA_C_32F || type == CUDA_C_64F;
}

cublasComputeType_t compute_type(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_16F:
      return CUBLAS_COMPUTE_16F;
    case CUDA_R_64F:
    case CUDA_C_64F:
      return CUBLAS_COMPUTE_64F;
    case CUDA_R_32I:
      return CUBLAS_COMPUTE_32I;
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

cudaDataType_t scale_type(cublasComputeType_t compute, cudaDataType_t c) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return c == CUDA_R_8I ? CUDA_R_32F : CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return is_complex(c) ? CUDA_C_64F : CUDA_R_64F;
    default:
      return is_complex(c) ? CUDA_C_32F : CUDA_R_32F;
  }
}

namespace {

/// op(X) in column-major order without gaps, `rows` x `columns` after op.
template <typename T>
std::vector<T> gather(
    const Matrix& x,
    cublasOperation_t operation,
    std::int64_t rows,
    std::int64_t columns) {
  // Row-major storage is the transpose of column-major storage.
  const bool across = (operation != CUBLAS_OP_N) != x.row_major;
  std::vector<T> values(rows * columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t index = across ? i * x.leading + j : j * x.leading + i;
      values[j * rows + i] = static_cast<T>(load(x.type, x.data, index));
    }
  }
  return values;
}

template <typename T>
std::vector<double> product(
    cublasOperation_t operation_a,
    cublasOperation_t operation_b,
    std::int64_t m,
    std::int64_t n,
    std::int64_t k,
    const Matrix& a,
    const Matrix& b) {
  const std::vector<T> left = gather<T>(a, operation_a, m, k);
  const std::vector<T> right = gather<T>(b, operation_b, k, n);
  std::vector<T> result(m * n);
  if (m > 0 && n > 0 && k > 0) {
    host::gemm(
        CblasNoTrans,
        CblasNoTrans,
        static_cast<int>(m),
        static_cast<int>(n),
        static_cast<int>(k),
        T{1},
        left.data(),
        static_cast<int>(m),
        right.data(),
        static_cast<int>(k),
        T{0},
        result.data(),
        static_cast<int>(m));
  }
  return {result.begin(), result.end()};
}

} // namespace

std::vector<double> multiply(
    cublasComputeType_t compute,
    cublasOperation_t operation_a,
    cublasOperation_t operation_b,
    std::int64_t m,
    std::int64_t n,
    std::int64_t k,
    const Matrix& a,
    const Matrix& b) {
  switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    // Products of 8-bit integers and their sums are exact in double.
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return product<double>(operation_a, operation_b, m, n, k, a, b);
    default:
      return product<float>(operation_a, operation_b, m, n, k, a, b);
  }
}

} // namespace accelerator::blas
