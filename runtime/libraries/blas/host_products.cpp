#include "runtime/libraries/blas/host_products.h"

#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/stream_work.h"

namespace accelerator::blas {
namespace {

template <typename T>
void product(
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
    int ldc) {
  renew_threads();
  // The transpose of a row-major matrix is a column-major one.
  host::gemm(
      transpose_b ? CblasTrans : CblasNoTrans,
      transpose_a ? CblasTrans : CblasNoTrans,
      n,
      m,
      k,
      alpha,
      b,
      ldb,
      a,
      lda,
      beta,
      c,
      ldc);
}

constexpr HostProducts kProducts{product<float>, product<double>};

} // namespace
} // namespace accelerator::blas

extern "C" const accelerator::blas::HostProducts* accel_host_products() {
  return &accelerator::blas::kProducts;
}
