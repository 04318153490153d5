// Matrix products of one element type: cublas?gemm, batched and strided, and
// matrix times vector. Source: cuBLAS API, chapters 2.6 and 2.7.
#include <algorithm>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"

namespace accelerator::blas {
namespace {

/// One call's matrices: sizes of what is read and written.
template <typename T>
struct Product {
  cublasOperation_t operation_a, operation_b;
  int m, n, k, lda, ldb, ldc;

  bool valid() const {
    return host::known(operation_a) && host::known(operation_b) && m >= 0 &&
        n >= 0 && k >= 0 &&
        lda >= std::max(1, operation_a == CUBLAS_OP_N ? m : k) &&
        ldb >= std::max(1, operation_b == CUBLAS_OP_N ? k : n) &&
        ldc >= std::max(1, m);
  }
  std::size_t a_bytes() const {
    return operation_a == CUBLAS_OP_N ? matrix_bytes(m, k, lda, sizeof(T))
                                      : matrix_bytes(k, m, lda, sizeof(T));
  }
  std::size_t b_bytes() const {
    return operation_b == CUBLAS_OP_N ? matrix_bytes(k, n, ldb, sizeof(T))
                                      : matrix_bytes(n, k, ldb, sizeof(T));
  }
  std::size_t c_bytes() const {
    return matrix_bytes(m, n, ldc, sizeof(T));
  }
  /// C is not read where nothing of it is kept, nor are the others where
  /// nothing of them is wanted.
  void tell_reads(T alpha, const T* a, const T* b, T beta, const T* c) const {
    const bool plain_a = operation_a == CUBLAS_OP_N;
    const bool plain_b = operation_b == CUBLAS_OP_N;
    const int depth = alpha == T{} ? 0 : k;
    reads(
        {matrix_read(
             a, plain_a ? m : depth, plain_a ? depth : m, lda, sizeof(T)),
         matrix_read(
             b, plain_b ? depth : n, plain_b ? n : depth, ldb, sizeof(T)),
         matrix_read(c, beta == T{} ? 0 : m, n, ldc, sizeof(T))});
  }
  void run(T alpha, const T* a, const T* b, T beta, T* c) const {
    if (m == 0 || n == 0) {
      return;
    }
    tell_reads(alpha, a, b, beta, c);
    host::gemm(
        host::transpose(operation_a),
        host::transpose(operation_b),
        m,
        n,
        k,
        alpha,
        a,
        lda,
        b,
        ldb,
        beta,
        c,
        ldc);
  }
};

template <typename T>
cublasStatus_t strided(
    const char* function,
    cublasHandle_t handle,
    cublasOperation_t operation_a,
    cublasOperation_t operation_b,
    int m,
    int n,
    int k,
    const T* alpha,
    const T* a,
    int lda,
    long long stride_a,
    const T* b,
    int ldb,
    long long stride_b,
    const T* beta,
    T* c,
    int ldc,
    long long stride_c,
    int count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  const Product<T> product{operation_a, operation_b, m, n, k, lda, ldb, ldc};
  if (alpha == nullptr || beta == nullptr || count < 0 || !product.valid()) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (count == 0 || m == 0 || n == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const Scalar<T> factor(handle, alpha);
  const Scalar<T> old(handle, beta);
  const auto whole =
      [&](const T* pointer, std::size_t bytes, long long stride) {
        return strided_extent(pointer, bytes, stride, sizeof(T), count);
      };
  return submit(
      function,
      handle,
      {whole(a, product.a_bytes(), stride_a),
       whole(b, product.b_bytes(), stride_b),
       whole(c, product.c_bytes(), stride_c),
       factor.extent(),
       old.extent()},
      [=] {
        reads({factor.extent(), old.extent()});
        for (int i = 0; i < count; ++i) {
          product.run(
              factor.get(),
              a + i * stride_a,
              b + i * stride_b,
              old.get(),
              c + i * stride_c);
        }
      });
}

template <typename T>
cublasStatus_t gemm(
    const char* function,
    cublasHandle_t handle,
    cublasOperation_t ta,
    cublasOperation_t tb,
    int m,
    int n,
    int k,
    const T* alpha,
    const T* a,
    int lda,
    const T* b,
    int ldb,
    const T* beta,
    T* c,
    int ldc) {
  return strided(
      function,
      handle,
      ta,
      tb,
      m,
      n,
      k,
      alpha,
      a,
      lda,
      0,
      b,
      ldb,
      0,
      beta,
      c,
      ldc,
      0,
      1);
}

template <typename T>
cublasStatus_t batched(
    const char* function,
    cublasHandle_t handle,
    cublasOperation_t operation_a,
    cublasOperation_t operation_b,
    int m,
    int n,
    int k,
    const T* alpha,
    const T* const a[],
    int lda,
    const T* const b[],
    int ldb,
    const T* beta,
    T* const c[],
    int ldc,
    int count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  const Product<T> product{operation_a, operation_b, m, n, k, lda, ldb, ldc};
  if (alpha == nullptr || beta == nullptr || count < 0 || !product.valid()) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (m == 0 || n == 0) {
    // Nothing is there that pointers could lead to.
    count = 0;
  }
  const std::size_t pointers = count * sizeof(void*);
  const Scalar<T> factor(handle, alpha);
  const Scalar<T> old(handle, beta);
  return submit_checked(
      function,
      handle,
      {{a, pointers},
       {b, pointers},
       {c, pointers},
       factor.extent(),
       old.extent()},
      [=] {
        reads(
            {{a, pointers},
             {b, pointers},
             {c, pointers},
             factor.extent(),
             old.extent()});
        for (int i = 0; i < count; ++i) {
          if (!accessible(
                  function,
                  {{a[i], product.a_bytes()},
                   {b[i], product.b_bytes()},
                   {c[i], product.c_bytes()}})) {
            return false;
          }
          product.run(factor.get(), a[i], b[i], old.get(), c[i]);
        }
        return true;
      });
}

template <typename T>
cublasStatus_t gemv(
    const char* function,
    cublasHandle_t handle,
    cublasOperation_t operation,
    int m,
    int n,
    const T* alpha,
    const T* a,
    int lda,
    const T* x,
    int incx,
    const T* beta,
    T* y,
    int incy) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!host::known(operation) || alpha == nullptr || beta == nullptr || m < 0 ||
      n < 0 || lda < std::max(1, m) || incx == 0 || incy == 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const int x_length = operation == CUBLAS_OP_N ? n : m;
  const int y_length = operation == CUBLAS_OP_N ? m : n;
  const Scalar<T> factor(handle, alpha);
  const Scalar<T> old(handle, beta);
  return submit(
      function,
      handle,
      {{a, matrix_bytes(m, n, lda, sizeof(T))},
       {x, vector_bytes(x_length, incx, sizeof(T))},
       {y, vector_bytes(y_length, incy, sizeof(T))},
       factor.extent(),
       old.extent()},
      [=] {
        reads({factor.extent(), old.extent()});
        const bool is_wanted = factor.get() != T{};
        reads(
            {matrix_read(a, is_wanted ? m : 0, n, lda, sizeof(T)),
             vector_read(x, is_wanted ? x_length : 0, incx, sizeof(T)),
             vector_read(y, old.get() == T{} ? 0 : y_length, incy, sizeof(T))});
        T* result = y;
        // Like gemm, gemv does not read y when beta is zero, be it NaN.
        if (old.get() == T{}) {
          T* begin = incy < 0
              ? y - static_cast<std::ptrdiff_t>(y_length - 1) * incy
              : y;
          for (int i = 0; i < y_length; ++i) {
            begin[static_cast<std::ptrdiff_t>(i) * incy] = T{};
          }
        }
        host::gemv(
            host::transpose(operation),
            m,
            n,
            factor.get(),
            a,
            lda,
            x,
            incx,
            old.get(),
            result,
            incy);
      });
}

} // namespace
} // namespace accelerator::blas

using namespace accelerator::blas;

ENTRY_POINTS(14, cublas, gemm, gemm)
ENTRY_POINTS(18, cublas, gemmStridedBatched, strided)
ENTRY_POINTS(15, cublas, gemmBatched, batched)
ENTRY_POINTS(12, cublas, gemv, gemv)

// With three products of real matrices for one of complex ones, which is not
// done here.
ENTRY_POINTS_COMPLEX(14, cublas, gemm3m, gemm)
