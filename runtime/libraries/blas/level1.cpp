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
  return submit(
      function,
      handle,
      {{x, vector_bytes(n, incx, sizeof(T))},
       {y, vector_bytes(n, incy, sizeof(T))},
       a.extent()},
      [=] {
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
  return submit(
      function,
      handle,
      {{x, vector_bytes(n, incx, sizeof(T))}, a.extent()},
      [=] {
        reads({a.extent(), vector_read(x, incx > 0 ? n : 0, incx, sizeof(T))});
        const S factor = a.get();
        for (int i = 0; incx > 0 && i < n; ++i) {
          x[static_cast<std::ptrdiff_t>(i) * incx] *= factor;
        }
      });
}

/// @param X the elements of x, which are const where they are only copied.
template <typename X, typename T>
cublasStatus_t copy_or_swap(
    const char* function,
    cublasHandle_t handle,
    int n,
    X* x,
    int incx,
    T* y,
    int incy) {
  constexpr bool kSwaps = !std::is_const_v<X>;
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  return submit(
      function,
      handle,
      {{x, vector_bytes(n, incx, sizeof(T))},
       {y, vector_bytes(n, incy, sizeof(T))}},
      [=] {
        reads(
            {vector_read(x, n, incx, sizeof(T)),
             vector_read(y, kSwaps ? n : 0, incy, sizeof(T))});
        X* a = first(x, n, incx);
        T* b = first(y, n, incy);
        for (int i = 0; i < n; ++i, a += incx, b += incy) {
          if constexpr (kSwaps) {
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

template <typename T, typename R>
cublasStatus_t nrm2(
    const char* function,
    cublasHandle_t handle,
    int n,
    const T* x,
    int incx,
    R* result) {
  return norm(function, handle, n, x, incx, result, host::nrm2);
}

template <typename T, typename R>
cublasStatus_t asum(
    const char* function,
    cublasHandle_t handle,
    int n,
    const T* x,
    int incx,
    R* result) {
  return norm(function, handle, n, x, incx, result, host::asum);
}

template <typename T>
cublasStatus_t extreme(
    const char* function,
    bool largest,
    cublasHandle_t handle,
    int n,
    const T* x,
    int incx,
    int* result) {
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

using namespace accelerator::blas;

ENTRY_POINTS_REAL(7, cublas, dot, dot<false>)
ENTRY_POINTS_COMPLEX(7, cublas, dotu, dot<false>)
ENTRY_POINTS_COMPLEX(7, cublas, dotc, dot<true>)
ENTRY_POINTS(7, cublas, axpy, axpy)
ENTRY_POINTS(5, cublas, scal, scal)
ENTRY_POINT(5, cublasCsscal, scal)
ENTRY_POINT(5, cublasZdscal, scal)
ENTRY_POINTS(6, cublas, copy, copy_or_swap)
ENTRY_POINTS(6, cublas, swap, copy_or_swap)
ENTRY_POINTS_REAL(5, cublas, nrm2, nrm2)
ENTRY_POINT(5, cublasScnrm2, nrm2)
ENTRY_POINT(5, cublasDznrm2, nrm2)
ENTRY_POINTS_REAL(5, cublas, asum, asum)
ENTRY_POINT(5, cublasScasum, asum)
ENTRY_POINT(5, cublasDzasum, asum)
ENTRY_POINT_WITH(5, cublasIsamax, true, extreme)
ENTRY_POINT_WITH(5, cublasIdamax, true, extreme)
ENTRY_POINT_WITH(5, cublasIcamax, true, extreme)
ENTRY_POINT_WITH(5, cublasIzamax, true, extreme)
ENTRY_POINT_WITH(5, cublasIsamin, false, extreme)
ENTRY_POINT_WITH(5, cublasIdamin, false, extreme)
ENTRY_POINT_WITH(5, cublasIcamin, false, extreme)
ENTRY_POINT_WITH(5, cublasIzamin, false, extreme)
