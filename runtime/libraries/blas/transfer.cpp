// Vectors and matrices to the device and back.
// Source: cuBLAS API, "cuBLAS Helper Function Reference".
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>

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

} // namespace

extern "C" {

// The four functions of a direction. Without a stream they wait.
#define ACCEL_DIRECTION(Verb, kind)                                   \
  cublasStatus_t cublas##Verb##VectorAsync(                           \
      int n,                                                          \
      int size,                                                       \
      const void* x,                                                  \
      int incx,                                                       \
      void* y,                                                        \
      int incy,                                                       \
      cudaStream_t stream) {                                          \
    return copy(1, n, size, {x, incx, y, incy}, kind, stream);        \
  }                                                                   \
  cublasStatus_t cublas##Verb##Vector(                                \
      int n, int size, const void* x, int incx, void* y, int incy) {  \
    return copy(1, n, size, {x, incx, y, incy}, kind, {});            \
  }                                                                   \
  cublasStatus_t cublas##Verb##MatrixAsync(                           \
      int rows,                                                       \
      int columns,                                                    \
      int size,                                                       \
      const void* a,                                                  \
      int lda,                                                        \
      void* b,                                                        \
      int ldb,                                                        \
      cudaStream_t stream) {                                          \
    return copy(rows, columns, size, {a, lda, b, ldb}, kind, stream); \
  }                                                                   \
  cublasStatus_t cublas##Verb##Matrix(                                \
      int rows,                                                       \
      int columns,                                                    \
      int size,                                                       \
      const void* a,                                                  \
      int lda,                                                        \
      void* b,                                                        \
      int ldb) {                                                      \
    return copy(rows, columns, size, {a, lda, b, ldb}, kind, {});     \
  }
ACCEL_DIRECTION(Set, cudaMemcpyHostToDevice)
ACCEL_DIRECTION(Get, cudaMemcpyDeviceToHost)
#undef ACCEL_DIRECTION

} // extern "C"
