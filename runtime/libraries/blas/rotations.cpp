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
  return submit(
      function,
      handle,
      {{x, vector_bytes(n, incx, sizeof(T))},
       {y, vector_bytes(n, incy, sizeof(T))},
       cosine.extent(),
       sine.extent()},
      [=] {
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
  return submit(
      function,
      handle,
      {{x, vector_bytes(n, incx, sizeof(T))},
       {y, vector_bytes(n, incy, sizeof(T))},
       rotation.extent()},
      [=] {
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

using namespace accelerator::blas;

ENTRY_POINTS(8, cublas, rot, rot)
ENTRY_POINT(8, cublasCsrot, rot)
ENTRY_POINT(8, cublasZdrot, rot)
ENTRY_POINTS(5, cublas, rotg, rotg)
ENTRY_POINTS_REAL(7, cublas, rotm, rotm)
ENTRY_POINTS_REAL(6, cublas, rotmg, rotmg)
