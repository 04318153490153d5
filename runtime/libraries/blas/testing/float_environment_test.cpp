// A process that flushes denormal numbers from its very beginning: cuBLAS does
// not, on none of its threads.
#include <xmmintrin.h>

#include <cstring>
#include <limits>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr unsigned kFlushing = 0x8040; // results, operands

// Before OpenBLAS's threads begin, which is before main().
[[gnu::constructor(101)]] void flush_denormals() {
  _mm_setcsr(_mm_getcsr() | kFlushing);
}

TEST(FloatEnvironment, OfTheProgramIsNotThatOfProducts) {
  ASSERT_EQ(_mm_getcsr() & kFlushing, kFlushing);
  constexpr int kN = 300; // large enough for all threads
  constexpr float kDenormal = std::numeric_limits<float>::denorm_min() * 1000;
  std::vector<float> identity(kN * kN);
  for (int i = 0; i < kN; ++i) {
    identity[i * kN + i] = 1;
  }
  const std::vector<float> denormals(kN * kN, kDenormal);
  const Array<float> a(identity);
  const Array<float> b(denormals);
  const Array<float> c(std::vector<float>(kN * kN));
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  const float one = 1;
  const float zero = 0;
  ASSERT_EQ(
      cublasSgemm(
          handle,
          CUBLAS_OP_N,
          CUBLAS_OP_N,
          kN,
          kN,
          kN,
          &one,
          a.get(),
          kN,
          b.get(),
          kN,
          &zero,
          c.get(),
          kN),
      CUBLAS_STATUS_SUCCESS);
  const std::vector<float> values = c.values();
  // Bytes, as this thread takes denormal numbers for zeros.
  EXPECT_EQ(
      std::memcmp(
          values.data(), denormals.data(), values.size() * sizeof(float)),
      0);
  EXPECT_EQ(_mm_getcsr() & kFlushing, kFlushing);
  EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

} // namespace
} // namespace accelerator::blas::testing
