#include "runtime/libraries/blas/host_products.h"

#include <mutex>

#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/stream_work.h"

namespace accelerator::blas {
namespace {

/// For the time of its life OpenBLAS computes on the calling thread. Its own
/// threads spin for many milliseconds after each product, and a convolution is
/// made of many small ones: they took 20 times the processor's time. The number
/// of threads is the whole library's, so that others are on one thread
/// meanwhile.
class OneThread {
 public:
  OneThread() {
    const std::lock_guard lock(mutex());
    if (count()++ == 0) {
      before() = openblas_get_num_threads();
      openblas_set_num_threads(1);
    }
  }
  ~OneThread() {
    const std::lock_guard lock(mutex());
    if (--count() == 0) {
      openblas_set_num_threads(before());
    }
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex only;
    return only;
  }
  static int& count() {
    static int alive = 0;
    return alive;
  }
  static int& before() {
    static int threads = 1;
    return threads;
  }
};

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
  const OneThread one;
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
