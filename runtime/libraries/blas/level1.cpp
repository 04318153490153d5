// cuBLAS level 1: vectors, but for rotations. Source: cuBLAS API, chapter 2.5.
#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/vectors.h"

namespace accelerator::blas {
namespace {

template <bool kConjugate, typename T>
cublasStatus_t dot(
    const char* function,
    cublasHandle_t handle,
    int n,
    const T* x,
    int incx,
    const T* y,
    int incy,
    T* result) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!accessible(
          function,
          {{x, vector_bytes(n, incx, sizeof(T))},
           {y, vector_bytes(n, incy, sizeof(T))}})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return deliver(function, handle, result, [=] {
    reads(
        {vector_read(x, n, incx, sizeof(T)),
         vector_read(y, n, incy, sizeof(T))});
    const T* a = first(x, n, incx);
    const T* b = first(y, n, incy);
    // In double precision: one sum in single precision would stop growing
    // where its last digit is larger than what is added to it.
    using Wide =
        std::conditional_t<std::is_floating_point_v<T>, double, Complex128>;
    Wide sum{};
    for (int i = 0; i < n; ++i, a += incx, b += incy) {
      sum += Wide(kConjugate ? host::conjugate(*a) : *a) * Wide(*b);
    }
    return T(sum);
  });
}

template <typename T>
cublasStatus_t axpy(
    const char* function,
    cublasHandle_t handle,
    int n,
    const T* alpha,
    const T* x,
    int incx,
    T* y,
    int incy) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> a(handle, alpha);
  if (!accessible(
          function,
          {{x, vector_bytes(n, incx, sizeof(T))},
           {y, vector_bytes(n, incy, sizeof(T))},
           a.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads({a.extent()});
    const int used = a.get() == T{} ? 0 : n;
    reads(
        {vector_read(x, used, incx, sizeof(T)),
         vector_read(y, used, incy, sizeof(T))});
    host::axpy(n, a.get(), x, incx, y, incy);
  });
}

template <typename T, typename S>
cublasStatus_t scal(
    const char* function,
    cublasHandle_t handle,
    int n,
    const S* alpha,
    T* x,
    int incx) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<S> a(handle, alpha);
  if (!accessible(
          function, {{x, vector_bytes(n, incx, sizeof(T))}, a.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads({a.extent(), vector_read(x, incx > 0 ? n : 0, incx, sizeof(T))});
    const S factor = a.get();
    for (int i = 0; incx > 0 && i < n; ++i) {
      x[static_cast<std::ptrdiff_t>(i) * incx] *= factor;
    }
  });
}

template <typename T>
cublasStatus_t move(
    const char* function,
    cublasHandle_t handle,
    int n,
    T* x,
    int incx,
    T* y,
    int incy,
    bool swap) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!accessible(
          function,
          {{x, vector_bytes(n, incx, sizeof(T))},
           {y, vector_bytes(n, incy, sizeof(T))}})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(function, handle->stream, [=] {
    reads(
        {vector_read(x, n, incx, sizeof(T)),
         vector_read(y, swap ? n : 0, incy, sizeof(T))});
    T* a = first(x, n, incx);
    T* b = first(y, n, incy);
    for (int i = 0; i < n; ++i, a += incx, b += incy) {
      if (swap) {
        std::swap(*a, *b);
      } else {
        *b = *a;
      }
    }
  });
}

template <typename T, typename R>
cublasStatus_t norm(
    const char* function,
    cublasHandle_t handle,
    int n,
    const T* x,
    int incx,
    R* result,
    R (*compute)(int, const T*, int)) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!accessible(function, {{x, vector_bytes(n, incx, sizeof(T))}})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return deliver(function, handle, result, [=]() -> R {
    reads({vector_read(x, incx > 0 ? n : 0, incx, sizeof(T))});
    return n > 0 && incx > 0 ? compute(n, x, incx) : R{0};
  });
}

template <typename T>
cublasStatus_t extreme(
    const char* function,
    cublasHandle_t handle,
    int n,
    const T* x,
    int incx,
    int* result,
    bool largest) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!accessible(function, {{x, vector_bytes(n, incx, sizeof(T))}})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return deliver(function, handle, result, [=] {
    reads({vector_read(x, incx > 0 ? n : 0, incx, sizeof(T))});
    // cuBLAS compares |Re| + |Im| and counts from 1.
    int best = 0;
    double best_value = 0;
    for (int i = 0; incx > 0 && i < n; ++i) {
      const std::complex<double> value(
          x[static_cast<std::ptrdiff_t>(i) * incx]);
      const double size = std::abs(value.real()) + std::abs(value.imag());
      if (best == 0 || (largest ? size > best_value : size < best_value)) {
        best = i + 1;
        best_value = size;
      }
    }
    return best;
  });
}

} // namespace
} // namespace accelerator::blas

using accelerator::blas::Complex128;
using accelerator::blas::Complex64;
namespace blas = accelerator::blas;

// cuComplex and std::complex have the same layout.
template <typename T>
static const T* in(const void* pointer) {
  return static_cast<const T*>(pointer);
}
template <typename T>
static T* out(void* pointer) {
  return static_cast<T*>(pointer);
}

extern "C" {

#define ACCEL_DOT(name, api, type, conjugate) \
  cublasStatus_t name(                        \
      cublasHandle_t handle,                  \
      int n,                                  \
      const api* x,                           \
      int incx,                               \
      const api* y,                           \
      int incy,                               \
      api* result) {                          \
    return blas::dot<conjugate, type>(        \
        #name,                                \
        handle,                               \
        n,                                    \
        in<type>(x),                          \
        incx,                                 \
        in<type>(y),                          \
        incy,                                 \
        out<type>(result));                   \
  }
ACCEL_DOT(cublasSdot_v2, float, float, false)
ACCEL_DOT(cublasDdot_v2, double, double, false)
ACCEL_DOT(cublasCdotu_v2, cuComplex, Complex64, false)
ACCEL_DOT(cublasCdotc_v2, cuComplex, Complex64, true)
ACCEL_DOT(cublasZdotu_v2, cuDoubleComplex, Complex128, false)
ACCEL_DOT(cublasZdotc_v2, cuDoubleComplex, Complex128, true)
#undef ACCEL_DOT

#define ACCEL_LEVEL1(letter, api, type, real, norm_name, sum_name)           \
  cublasStatus_t cublas##letter##axpy_v2(                                    \
      cublasHandle_t handle,                                                 \
      int n,                                                                 \
      const api* alpha,                                                      \
      const api* x,                                                          \
      int incx,                                                              \
      api* y,                                                                \
      int incy) {                                                            \
    return blas::axpy<type>(                                                 \
        "cublas" #letter "axpy",                                             \
        handle,                                                              \
        n,                                                                   \
        in<type>(alpha),                                                     \
        in<type>(x),                                                         \
        incx,                                                                \
        out<type>(y),                                                        \
        incy);                                                               \
  }                                                                          \
  cublasStatus_t cublas##letter##scal_v2(                                    \
      cublasHandle_t handle, int n, const api* alpha, api* x, int incx) {    \
    return blas::scal<type>(                                                 \
        "cublas" #letter "scal",                                             \
        handle,                                                              \
        n,                                                                   \
        in<type>(alpha),                                                     \
        out<type>(x),                                                        \
        incx);                                                               \
  }                                                                          \
  cublasStatus_t cublas##letter##copy_v2(                                    \
      cublasHandle_t handle,                                                 \
      int n,                                                                 \
      const api* x,                                                          \
      int incx,                                                              \
      api* y,                                                                \
      int incy) {                                                            \
    return blas::move<type>(                                                 \
        "cublas" #letter "copy",                                             \
        handle,                                                              \
        n,                                                                   \
        const_cast<type*>(in<type>(x)),                                      \
        incx,                                                                \
        out<type>(y),                                                        \
        incy,                                                                \
        false);                                                              \
  }                                                                          \
  cublasStatus_t cublas##letter##swap_v2(                                    \
      cublasHandle_t handle, int n, api* x, int incx, api* y, int incy) {    \
    return blas::move<type>(                                                 \
        "cublas" #letter "swap",                                             \
        handle,                                                              \
        n,                                                                   \
        out<type>(x),                                                        \
        incx,                                                                \
        out<type>(y),                                                        \
        incy,                                                                \
        true);                                                               \
  }                                                                          \
  cublasStatus_t norm_name(                                                  \
      cublasHandle_t handle, int n, const api* x, int incx, real* result) {  \
    return blas::norm<type, real>(                                           \
        #norm_name, handle, n, in<type>(x), incx, result, blas::host::nrm2); \
  }                                                                          \
  cublasStatus_t sum_name(                                                   \
      cublasHandle_t handle, int n, const api* x, int incx, real* result) {  \
    return blas::norm<type, real>(                                           \
        #sum_name, handle, n, in<type>(x), incx, result, blas::host::asum);  \
  }                                                                          \
  cublasStatus_t cublasI##letter##amax_v2(                                   \
      cublasHandle_t handle, int n, const api* x, int incx, int* result) {   \
    return blas::extreme<type>(                                              \
        "cublasIamax", handle, n, in<type>(x), incx, result, true);          \
  }                                                                          \
  cublasStatus_t cublasI##letter##amin_v2(                                   \
      cublasHandle_t handle, int n, const api* x, int incx, int* result) {   \
    return blas::extreme<type>(                                              \
        "cublasIamin", handle, n, in<type>(x), incx, result, false);         \
  }
// cuBLAS names the functions for I*amax in lower case.
#define cublasISamax_v2 cublasIsamax_v2
#define cublasIDamax_v2 cublasIdamax_v2
#define cublasICamax_v2 cublasIcamax_v2
#define cublasIZamax_v2 cublasIzamax_v2
#define cublasISamin_v2 cublasIsamin_v2
#define cublasIDamin_v2 cublasIdamin_v2
#define cublasICamin_v2 cublasIcamin_v2
#define cublasIZamin_v2 cublasIzamin_v2
ACCEL_LEVEL1(S, float, float, float, cublasSnrm2_v2, cublasSasum_v2)
ACCEL_LEVEL1(D, double, double, double, cublasDnrm2_v2, cublasDasum_v2)
ACCEL_LEVEL1(C, cuComplex, Complex64, float, cublasScnrm2_v2, cublasScasum_v2)
ACCEL_LEVEL1(
    Z,
    cuDoubleComplex,
    Complex128,
    double,
    cublasDznrm2_v2,
    cublasDzasum_v2)
#undef ACCEL_LEVEL1

cublasStatus_t cublasCsscal_v2(
    cublasHandle_t handle,
    int n,
    const float* alpha,
    cuComplex* x,
    int incx) {
  return blas::scal<Complex64>(
      "cublasCsscal", handle, n, alpha, out<Complex64>(x), incx);
}

cublasStatus_t cublasZdscal_v2(
    cublasHandle_t handle,
    int n,
    const double* alpha,
    cuDoubleComplex* x,
    int incx) {
  return blas::scal<Complex128>(
      "cublasZdscal", handle, n, alpha, out<Complex128>(x), incx);
}

} // extern "C"
