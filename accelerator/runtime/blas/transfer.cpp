// Vectors and matrices to the device and back.
// Source: cuBLAS API, "cuBLAS Helper Function Reference".
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace {

/// A matrix on either side; of a vector the elements are its columns.
struct Matrix {
  const void* from;
  int from_leading;
  void* to;
  int to_leading;
};

/// Copies a matrix. Without `stream` (null) it waits.
cublasStatus_t copy(
    int rows,
    int columns,
    int size,
    const Matrix& matrix,
    cudaMemcpyKind kind,
    const cudaStream_t* stream) {
  if (rows < 0 || columns < 0 || size <= 0 || matrix.from_leading <= 0 ||
      matrix.to_leading <= 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto bytes = [size](int elements) {
    return static_cast<std::size_t>(elements) * static_cast<std::size_t>(size);
  };
  const cudaError_t error = stream == nullptr ? cudaMemcpy2D(
                                                    matrix.to,
                                                    bytes(matrix.to_leading),
                                                    matrix.from,
                                                    bytes(matrix.from_leading),
                                                    bytes(rows),
                                                    columns,
                                                    kind)
                                              : cudaMemcpy2DAsync(
                                                    matrix.to,
                                                    bytes(matrix.to_leading),
                                                    matrix.from,
                                                    bytes(matrix.from_leading),
                                                    bytes(rows),
                                                    columns,
                                                    kind,
                                                    *stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                              : CUBLAS_STATUS_MAPPING_ERROR;
}

} // namespace

extern "C" {

cublasStatus_t cublasSetVector(
    int n,
    int size,
    const void* x,
    int incx,
    void* y,
    int incy) {
  return copy(1, n, size, {x, incx, y, incy}, cudaMemcpyHostToDevice, nullptr);
}

cublasStatus_t cublasGetVector(
    int n,
    int size,
    const void* x,
    int incx,
    void* y,
    int incy) {
  return copy(1, n, size, {x, incx, y, incy}, cudaMemcpyDeviceToHost, nullptr);
}

cublasStatus_t cublasSetMatrix(
    int rows,
    int columns,
    int size,
    const void* a,
    int lda,
    void* b,
    int ldb) {
  return copy(
      rows, columns, size, {a, lda, b, ldb}, cudaMemcpyHostToDevice, nullptr);
}

cublasStatus_t cublasGetMatrix(
    int rows,
    int columns,
    int size,
    const void* a,
    int lda,
    void* b,
    int ldb) {
  return copy(
      rows, columns, size, {a, lda, b, ldb}, cudaMemcpyDeviceToHost, nullptr);
}

cublasStatus_t cublasSetVectorAsync(
    int n,
    int size,
    const void* x,
    int incx,
    void* y,
    int incy,
    cudaStream_t stream) {
  return copy(1, n, size, {x, incx, y, incy}, cudaMemcpyHostToDevice, &stream);
}

cublasStatus_t cublasGetVectorAsync(
    int n,
    int size,
    const void* x,
    int incx,
    void* y,
    int incy,
    cudaStream_t stream) {
  return copy(1, n, size, {x, incx, y, incy}, cudaMemcpyDeviceToHost, &stream);
}

cublasStatus_t cublasSetMatrixAsync(
    int rows,
    int columns,
    int size,
    const void* a,
    int lda,
    void* b,
    int ldb,
    cudaStream_t stream) {
  return copy(
      rows, columns, size, {a, lda, b, ldb}, cudaMemcpyHostToDevice, &stream);
}

cublasStatus_t cublasGetMatrixAsync(
    int rows,
    int columns,
    int size,
    const void* a,
    int lda,
    void* b,
    int ldb,
    cudaStream_t stream) {
  return copy(
      rows, columns, size, {a, lda, b, ldb}, cudaMemcpyDeviceToHost, &stream);
}

} // extern "C"
