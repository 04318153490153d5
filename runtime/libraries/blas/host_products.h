// The matrix products of libcublas.so.12, for libcudnn.so.9: one OpenBLAS is
// enough for both.
#pragma once

namespace accelerator::blas {

/// C = alpha op(A) op(B) + beta C of row-major matrices, on the calling thread:
/// C is m x n, and op(A) is m x k. `lda` and its like are elements from row to
/// row of what lies in memory.
template <typename T>
using HostProduct = void (*)(
    bool transpose_a,
    bool transpose_b,
    int m,
    int n,
    int k,
    T alpha,
    const T* a,
    int lda,
    const T* b,
    int ldb,
    T beta,
    T* c,
    int ldc);

struct HostProducts {
  HostProduct<float> s;
  HostProduct<double> d;
};

} // namespace accelerator::blas

/// For use in work of a stream, as with all of OpenBLAS.
extern "C" const accelerator::blas::HostProducts* accel_host_products();
