// cuBLAS level 1 of vectors whose type of elements is an argument. Sums of
// 16-bit elements are in single precision or better; what has one type for all
// is the function of that type. Source: cuBLAS API, chapter 2.8.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/numeric.h"

namespace accelerator::blas {
namespace {

/// A type of elements that single precision computes with.
bool is_half(cudaDataType_t type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF;
}

bool all_are(
    cudaDataType_t type,
    std::initializer_list<cudaDataType_t> others) {
  for (const cudaDataType_t other : others) {
    if (other != type) {
      return false;
    }
  }
  return true;
}

/// A vector of real elements. Its lowest address is `data`, be the stride
/// negative.
struct Vector {
  void* data;
  cudaDataType_t type;
  int n;
  int stride;

  Extent extent() const {
    return {data, vector_bytes(n, stride, size_of(type))};
  }
  Read read(bool is_used = true) const {
    return vector_read(data, is_used ? n : 0, stride, size_of(type));
  }
  std::size_t place(std::ptrdiff_t i) const {
    return stride < 0 ? (i - (n - 1)) * stride : i * stride;
  }
  double get(std::ptrdiff_t i) const {
    return load(type, data, place(i));
  }
  void set(std::ptrdiff_t i, double value) const {
    store(type, data, place(i), value);
  }
};

Vector constant(const void* data, cudaDataType_t type, int n, int stride) {
  return {const_cast<void*>(data), type, n, stride};
}

/// Stores what `compute` returns as a number of `type`, where the handle's
/// pointer mode says.
template <typename Compute>
cublasStatus_t deliver_as(
    const char* function,
    cublasHandle_t handle,
    void* result,
    cudaDataType_t type,
    Compute compute) {
  if (result == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool on_host = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
  if (!on_host && !accessible(function, {{result, size_of(type)}})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  const cublasStatus_t status = enqueue(
      function, handle->stream, [=] { store(type, result, 0, compute()); });
  if (status == CUBLAS_STATUS_SUCCESS && on_host &&
      cudaStreamSynchronize(handle->stream) != cudaSuccess) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return status;
}

/// The dot product of real vectors, summed in double precision.
cublasStatus_t dot(
    const char* function,
    cublasHandle_t handle,
    const Vector& x,
    const Vector& y,
    void* result,
    cudaDataType_t type) {
  if (size_of(x.type) == 0 || size_of(y.type) == 0 || size_of(type) == 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  for (const cudaDataType_t its : {x.type, y.type, type}) {
    if (its == CUDA_C_32F || its == CUDA_C_64F) {
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
  }
  if (!accessible(function, {x.extent(), y.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return deliver_as(function, handle, result, type, [=] {
    reads({x.read(), y.read()});
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < x.n; ++i) {
      sum += x.get(i) * y.get(i);
    }
    return sum;
  });
}

/// cublasDotEx and cublasDotcEx, which conjugates x.
/// @tparam kSingle, kDouble the functions of one complex type.
template <auto kSingle, auto kDouble>
cublasStatus_t dot_ex(
    const char* function,
    cublasHandle_t handle,
    int n,
    const void* x,
    cudaDataType x_type,
    int incx,
    const void* y,
    cudaDataType y_type,
    int incy,
    void* result,
    cudaDataType result_type,
    cudaDataType execution) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  const auto uniform = [&](auto call, auto zero) {
    using T = decltype(zero);
    return call(
        handle,
        n,
        static_cast<const T*>(x),
        incx,
        static_cast<const T*>(y),
        incy,
        static_cast<T*>(result));
  };
  if (all_are(execution, {x_type, y_type, result_type})) {
    if (execution == CUDA_C_32F) {
      return uniform(kSingle, cuComplex());
    }
    if (execution == CUDA_C_64F) {
      return uniform(kDouble, cuDoubleComplex());
    }
  }
  return dot(
      function,
      handle,
      constant(x, x_type, n, incx),
      constant(y, y_type, n, incy),
      result,
      result_type);
}

} // namespace
} // namespace accelerator::blas

namespace blas = accelerator::blas;
using blas::Vector;

ENTRY_POINT(11, cublasDotEx, blas::dot_ex<cublasCdotu, cublasZdotu>)
ENTRY_POINT(11, cublasDotcEx, blas::dot_ex<cublasCdotc, cublasZdotc>)

extern "C" {

cublasStatus_t cublasAxpyEx(
    cublasHandle_t handle,
    int n,
    const void* alpha,
    cudaDataType alpha_type,
    const void* x,
    cudaDataType x_type,
    int incx,
    void* y,
    cudaDataType y_type,
    int incy,
    cudaDataType execution) {
  constexpr const char* kFunction = "cublasAxpyEx";
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
#define ACCEL_UNIFORM(type, letter, api)                                   \
  if (blas::all_are(type, {alpha_type, x_type, y_type, execution})) {      \
    return cublas##letter##axpy_v2(                                        \
        handle, n, (const api*)alpha, (const api*)x, incx, (api*)y, incy); \
  }
  ACCEL_UNIFORM(CUDA_R_32F, S, float)
  ACCEL_UNIFORM(CUDA_R_64F, D, double)
  ACCEL_UNIFORM(CUDA_C_32F, C, cuComplex)
  ACCEL_UNIFORM(CUDA_C_64F, Z, cuDoubleComplex)
#undef ACCEL_UNIFORM
  if (!blas::is_half(x_type) || x_type != y_type ||
      !blas::all_are(CUDA_R_32F, {alpha_type, execution})) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const blas::Scalar<float> factor(handle, alpha);
  const Vector in = blas::constant(x, x_type, n, incx);
  const Vector out{y, y_type, n, incy};
  if (!blas::accessible(
          kFunction, {in.extent(), out.extent(), factor.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return blas::enqueue(kFunction, handle->stream, [=] {
    blas::reads({factor.extent()});
    const float by = factor.get();
    blas::reads({in.read(by != 0), out.read(by != 0)});
    for (std::ptrdiff_t i = 0; by != 0 && i < n; ++i) {
      out.set(
          i,
          std::fma(
              by,
              static_cast<float>(in.get(i)),
              static_cast<float>(out.get(i))));
    }
  });
}

cublasStatus_t cublasScalEx(
    cublasHandle_t handle,
    int n,
    const void* alpha,
    cudaDataType alpha_type,
    void* x,
    cudaDataType x_type,
    int incx,
    cudaDataType execution) {
  constexpr const char* kFunction = "cublasScalEx";
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
#define ACCEL_UNIFORM(type, letter, api)                      \
  if (blas::all_are(type, {alpha_type, x_type, execution})) { \
    return cublas##letter##scal_v2(                           \
        handle, n, (const api*)alpha, (api*)x, incx);         \
  }
  ACCEL_UNIFORM(CUDA_R_32F, S, float)
  ACCEL_UNIFORM(CUDA_R_64F, D, double)
  ACCEL_UNIFORM(CUDA_C_32F, C, cuComplex)
  ACCEL_UNIFORM(CUDA_C_64F, Z, cuDoubleComplex)
#undef ACCEL_UNIFORM
  if (!blas::is_half(x_type) ||
      !blas::all_are(CUDA_R_32F, {alpha_type, execution})) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const blas::Scalar<float> factor(handle, alpha);
  const Vector vector{x, x_type, incx > 0 ? n : 0, incx};
  if (!blas::accessible(kFunction, {vector.extent(), factor.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return blas::enqueue(kFunction, handle->stream, [=] {
    blas::reads({factor.extent(), vector.read()});
    const float by = factor.get();
    for (std::ptrdiff_t i = 0; i < vector.n; ++i) {
      vector.set(i, by * static_cast<float>(vector.get(i)));
    }
  });
}

cublasStatus_t cublasNrm2Ex(
    cublasHandle_t handle,
    int n,
    const void* x,
    cudaDataType x_type,
    int incx,
    void* result,
    cudaDataType result_type,
    cudaDataType execution) {
  constexpr const char* kFunction = "cublasNrm2Ex";
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
#define ACCEL_UNIFORM(type, real, name, api, real_api)                   \
  if (x_type == type && blas::all_are(real, {result_type, execution})) { \
    return name(handle, n, (const api*)x, incx, (real_api*)result);      \
  }
  ACCEL_UNIFORM(CUDA_R_32F, CUDA_R_32F, cublasSnrm2_v2, float, float)
  ACCEL_UNIFORM(CUDA_R_64F, CUDA_R_64F, cublasDnrm2_v2, double, double)
  ACCEL_UNIFORM(CUDA_C_32F, CUDA_R_32F, cublasScnrm2_v2, cuComplex, float)
  ACCEL_UNIFORM(
      CUDA_C_64F, CUDA_R_64F, cublasDznrm2_v2, cuDoubleComplex, double)
#undef ACCEL_UNIFORM
  if (!blas::is_half(x_type) || result_type != x_type ||
      execution != CUDA_R_32F) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const Vector vector = blas::constant(x, x_type, incx > 0 ? n : 0, incx);
  if (!blas::accessible(kFunction, {vector.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return blas::deliver_as(kFunction, handle, result, result_type, [=] {
    blas::reads({vector.read()});
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < vector.n; ++i) {
      sum += vector.get(i) * vector.get(i);
    }
    return std::sqrt(sum);
  });
}

cublasStatus_t cublasRotEx(
    cublasHandle_t handle,
    int n,
    void* x,
    cudaDataType x_type,
    int incx,
    void* y,
    cudaDataType y_type,
    int incy,
    const void* c,
    const void* s,
    cudaDataType turn_type,
    cudaDataType execution) {
  constexpr const char* kFunction = "cublasRotEx";
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
#define ACCEL_UNIFORM(type, turn, name, api, turn_api)                         \
  if (blas::all_are(type, {x_type, y_type, execution}) && turn_type == turn) { \
    return name(                                                               \
        handle,                                                                \
        n,                                                                     \
        (api*)x,                                                               \
        incx,                                                                  \
        (api*)y,                                                               \
        incy,                                                                  \
        (const turn_api*)c,                                                    \
        (const turn_api*)s);                                                   \
  }
  ACCEL_UNIFORM(CUDA_R_32F, CUDA_R_32F, cublasSrot_v2, float, float)
  ACCEL_UNIFORM(CUDA_R_64F, CUDA_R_64F, cublasDrot_v2, double, double)
  ACCEL_UNIFORM(CUDA_C_32F, CUDA_R_32F, cublasCsrot_v2, cuComplex, float)
  ACCEL_UNIFORM(CUDA_C_64F, CUDA_R_64F, cublasZdrot_v2, cuDoubleComplex, double)
#undef ACCEL_UNIFORM
  if (!blas::is_half(x_type) || !blas::all_are(x_type, {y_type, turn_type}) ||
      execution != CUDA_R_32F) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (c == nullptr || s == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  using Bits = std::uint16_t; // of a number of 16 bits
  const blas::Scalar<Bits> cosine(handle, c);
  const blas::Scalar<Bits> sine(handle, s);
  const Vector left{x, x_type, n, incx};
  const Vector right{y, y_type, n, incy};
  if (!blas::accessible(
          kFunction,
          {left.extent(), right.extent(), cosine.extent(), sine.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return blas::enqueue(kFunction, handle->stream, [=] {
    blas::reads({cosine.extent(), sine.extent(), left.read(), right.read()});
    const auto value = [&](const blas::Scalar<Bits>& scalar) {
      const Bits bits = scalar.get();
      return static_cast<float>(blas::load(turn_type, &bits, 0));
    };
    const float by_c = value(cosine);
    const float by_s = value(sine);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const float a = static_cast<float>(left.get(i));
      const float b = static_cast<float>(right.get(i));
      left.set(i, by_c * a + by_s * b);
      right.set(i, by_c * b - by_s * a);
    }
  });
}

} // extern "C"
