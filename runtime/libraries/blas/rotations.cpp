// cuBLAS level 1: plane rotations, made and applied. Source: cuBLAS API,
// chapters 2.5.11 to 2.5.14.
#include <algorithm>
#include <array>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/vectors.h"

namespace accelerator::blas {
namespace {

/// A modified rotation: its form, and the elements of its matrix.
template <typename T>
using Modified = std::array<T, 5>;

// clang-format off
void rotg(float* a, float* b, float* c, float* s) { cblas_srotg(a, b, c, s); }
void rotg(double* a, double* b, double* c, double* s) { cblas_drotg(a, b, c, s); }
void rotg(Complex64* a, Complex64* b, float* c, Complex64* s) { cblas_crotg(a, b, c, s); }
void rotg(Complex128* a, Complex128* b, double* c, Complex128* s) { cblas_zrotg(a, b, c, s); }
void rotmg(float* d1, float* d2, float* x, float y, float* p) { cblas_srotmg(d1, d2, x, y, p); }
void rotmg(double* d1, double* d2, double* x, double y, double* p) { cblas_drotmg(d1, d2, x, y, p); }
void rotm(int n, float* x, int incx, float* y, int incy, const float* p) { cblas_srotm(n, x, incx, y, incy, p); }
void rotm(int n, double* x, int incx, double* y, int incy, const double* p) { cblas_drotm(n, x, incx, y, incy, p); }
// clang-format on

/// Runs the work where the pointer mode says that the numbers are: at once on
/// the host, or in the stream.
template <typename Work>
cublasStatus_t run_by_mode(
    const char* function,
    cublasHandle_t handle,
    std::initializer_list<Extent> numbers,
    Work work) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  for (const Extent& number : numbers) {
    if (number.pointer == nullptr) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
  }
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {
    work();
    return CUBLAS_STATUS_SUCCESS;
  }
  if (!accessible(function, numbers)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, work);
}

template <typename T, typename R>
cublasStatus_t rotg(
    const char* function,
    cublasHandle_t handle,
    T* a,
    T* b,
    R* c,
    T* s) {
  return run_by_mode(
      function,
      handle,
      {{a, sizeof(T)}, {b, sizeof(T)}, {c, sizeof(R)}, {s, sizeof(T)}},
      [=] {
        reads({{a, sizeof(T)}, {b, sizeof(T)}});
        rotg(a, b, c, s);
      });
}

template <typename T>
cublasStatus_t rotmg(
    const char* function,
    cublasHandle_t handle,
    T* d1,
    T* d2,
    T* x,
    const T* y,
    T* parameters) {
  return run_by_mode(
      function,
      handle,
      {{d1, sizeof(T)},
       {d2, sizeof(T)},
       {x, sizeof(T)},
       {y, sizeof(T)},
       {parameters, sizeof(Modified<T>)}},
      [=] {
        reads(
            {{d1, sizeof(T)}, {d2, sizeof(T)}, {x, sizeof(T)}, {y, sizeof(T)}});
        rotmg(d1, d2, x, *y, parameters);
      });
}

/// @param C, @param S types of the cosine and the sine.
template <typename T, typename C, typename S>
cublasStatus_t rot(
    const char* function,
    cublasHandle_t handle,
    int n,
    T* x,
    int incx,
    T* y,
    int incy,
    const C* c,
    const S* s) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (c == nullptr || s == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<C> cosine(handle, c);
  const Scalar<S> sine(handle, s);
  if (!accessible(
          function,
          {{x, vector_bytes(n, incx, sizeof(T))},
           {y, vector_bytes(n, incy, sizeof(T))},
           cosine.extent(),
           sine.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads(
        {vector_read(x, n, incx, sizeof(T)),
         vector_read(y, n, incy, sizeof(T)),
         cosine.extent(),
         sine.extent()});
    const C by_c = cosine.get();
    const S by_s = sine.get();
    T* a = first(x, n, incx);
    T* b = first(y, n, incy);
    for (int i = 0; i < n; ++i, a += incx, b += incy) {
      const T before = *a;
      *a = by_c * before + by_s * *b;
      *b = by_c * *b - host::conjugate(by_s) * before;
    }
  });
}

template <typename T>
cublasStatus_t rotm(
    const char* function,
    cublasHandle_t handle,
    int n,
    T* x,
    int incx,
    T* y,
    int incy,
    const T* parameters) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (parameters == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<Modified<T>> rotation(handle, parameters);
  if (!accessible(
          function,
          {{x, vector_bytes(n, incx, sizeof(T))},
           {y, vector_bytes(n, incy, sizeof(T))},
           rotation.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads(
        {vector_read(x, n, incx, sizeof(T)),
         vector_read(y, n, incy, sizeof(T)),
         rotation.extent()});
    const Modified<T> its = rotation.get();
    rotm(n, x, incx, y, incy, its.data());
  });
}

} // namespace
} // namespace accelerator::blas

using accelerator::blas::Complex128;
using accelerator::blas::Complex64;
namespace blas = accelerator::blas;

extern "C" {

// clang-format off
#define ACCEL_ROT(name, api, type, c_type, s_api, s_type)                                        \
  cublasStatus_t name##_v2(cublasHandle_t handle, int n, api* x, int incx, api* y, int incy,     \
      const c_type* c, const s_api* s) {                                                         \
    return blas::rot(#name, handle, n, (type*)x, incx, (type*)y, incy, c, (const s_type*)s);     \
  }
ACCEL_ROT(cublasSrot, float, float, float, float, float)
ACCEL_ROT(cublasDrot, double, double, double, double, double)
ACCEL_ROT(cublasCrot, cuComplex, Complex64, float, cuComplex, Complex64)
ACCEL_ROT(cublasCsrot, cuComplex, Complex64, float, float, float)
ACCEL_ROT(cublasZrot, cuDoubleComplex, Complex128, double, cuDoubleComplex, Complex128)
ACCEL_ROT(cublasZdrot, cuDoubleComplex, Complex128, double, double, double)
#undef ACCEL_ROT

#define ACCEL_ROTG(letter, api, type, real)                                                      \
  cublasStatus_t cublas##letter##rotg_v2(cublasHandle_t handle, api* a, api* b, real* c, api* s) { \
    return blas::rotg("cublas" #letter "rotg", handle, (type*)a, (type*)b, c, (type*)s);         \
  }
ACCEL_ROTG(S, float, float, float)
ACCEL_ROTG(D, double, double, double)
ACCEL_ROTG(C, cuComplex, Complex64, float)
ACCEL_ROTG(Z, cuDoubleComplex, Complex128, double)
#undef ACCEL_ROTG

#define ACCEL_ROTM(letter, type)                                                                 \
  cublasStatus_t cublas##letter##rotm_v2(cublasHandle_t handle, int n, type* x, int incx, type* y, \
      int incy, const type* parameters) {                                                        \
    return blas::rotm("cublas" #letter "rotm", handle, n, x, incx, y, incy, parameters);         \
  }                                                                                              \
  cublasStatus_t cublas##letter##rotmg_v2(cublasHandle_t handle, type* d1, type* d2, type* x,    \
      const type* y, type* parameters) {                                                         \
    return blas::rotmg("cublas" #letter "rotmg", handle, d1, d2, x, y, parameters);              \
  }
ACCEL_ROTM(S, float)
ACCEL_ROTM(D, double)
#undef ACCEL_ROTM
// clang-format on

} // extern "C"
