// Matrix products whose element types differ from the type they are computed
// in, as cublasGemmEx and cublasLtMatmul have them.
#pragma once

#include <cublas_v2.h>

#include "runtime/libraries/blas/numeric.h"

namespace accelerator::blas {

/// One operand of a product: where it is, what it holds, how it lies.
struct Matrix {
  const void* data = nullptr;
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t leading = 0; // elements from one column to the next
  bool row_major = false;
};

/// Whether `type` is complex.
bool is_complex(cudaDataType_t type);

/// op(A) op(B), before alpha, beta and everything else, for real matrices: m x
/// n, column-major and dense. Sums in float, in double for CUBLAS_COMPUTE_64F,
/// and exactly for CUBLAS_COMPUTE_32I.
/// @param m, n, k at the most INT_MAX, which callers see to: the host's BLAS
/// counts in int.
std::vector<double> multiply(
    cublasComputeType_t compute,
    cublasOperation_t operation_a,
    cublasOperation_t operation_b,
    std::int64_t m,
    std::int64_t n,
    std::int64_t k,
    const Matrix& a,
    const Matrix& b);

/// The computation type of the legacy cublasGemmEx, which takes a data type.
cublasComputeType_t compute_type(cudaDataType_t type);

/// The type of alpha and beta.
cudaDataType_t scale_type(cublasComputeType_t compute, cudaDataType_t c);

} // namespace accelerator::blas
