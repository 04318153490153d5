// Vectors and matrices to the device and back.
// Source: cuBLAS API, "cuBLAS Helper Function Reference".
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>

#include "runtime/signatures/entry_points.h"

namespace {

/// A matrix on either side; of a vector the elements are its columns.
struct Matrix {
  const void* from;
  int from_leading;
  void* to;
  int to_leading;
};

cublasStatus_t copy(
    int rows,
    int columns,
    int size,
    const Matrix& matrix,
    cudaMemcpyKind kind,
    std::optional<cudaStream_t> stream) {
  if (rows < 0 || columns < 0 || size <= 0 || matrix.from_leading <= 0 ||
      matrix.to_leading <= 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto bytes = [size](int elements) {
    return static_cast<std::size_t>(elements) * static_cast<std::size_t>(size);
  };
  const auto run = [&](auto function, auto... in) {
    return function(
        matrix.to,
        bytes(matrix.to_leading),
        matrix.from,
        bytes(matrix.from_leading),
        bytes(rows),
        columns,
        kind,
        in...);
  };
  const cudaError_t error =
      stream ? run(cudaMemcpy2DAsync, *stream) : run(cudaMemcpy2D);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                              : CUBLAS_STATUS_MAPPING_ERROR;
}

/// @param stream without which it waits.
template <cudaMemcpyKind kKind, typename... Stream>
cublasStatus_t copy_vector(
    const char*,
    int n,
    int size,
    const void* x,
    int incx,
    void* y,
    int incy,
    Stream... stream) {
  return copy(
      1,
      n,
      size,
      {x, incx, y, incy},
      kKind,
      std::optional<cudaStream_t>(stream...));
}

template <cudaMemcpyKind kKind, typename... Stream>
cublasStatus_t copy_matrix(
    const char*,
    int rows,
    int columns,
    int size,
    const void* a,
    int lda,
    void* b,
    int ldb,
    Stream... stream) {
  return copy(
      rows,
      columns,
      size,
      {a, lda, b, ldb},
      kKind,
      std::optional<cudaStream_t>(stream...));
}

constexpr auto kSet = cudaMemcpyHostToDevice;
constexpr auto kGet = cudaMemcpyDeviceToHost;

} // namespace

ENTRY_POINT(6, cublasSetVector, copy_vector<kSet>)
ENTRY_POINT(6, cublasGetVector, copy_vector<kGet>)
ENTRY_POINT(7, cublasSetVectorAsync, copy_vector<kSet>)
ENTRY_POINT(7, cublasGetVectorAsync, copy_vector<kGet>)
ENTRY_POINT(7, cublasSetMatrix, copy_matrix<kSet>)
ENTRY_POINT(7, cublasGetMatrix, copy_matrix<kGet>)
ENTRY_POINT(8, cublasSetMatrixAsync, copy_matrix<kSet>)
ENTRY_POINT(8, cublasGetMatrixAsync, copy_matrix<kGet>)
