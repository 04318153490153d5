// Flushing of denormal numbers and rounding are set for a thread of the
// program, as by torch.set_flush_denormal(True), before CUDA is first used: the
// device knows nothing of it, and the program keeps what it has set.
#include <xmmintrin.h>

#include <cfenv>
#include <cstring>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

constexpr unsigned kFlushing = 0x8040; // results, operands
constexpr unsigned kExceptions = 0x3f; // flags that arithmetic raises

class FloatEnvironment : public ::testing::Test {
 protected:
  void SetUp() override {
    _mm_setcsr(_mm_getcsr() | kFlushing);
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    own = _mm_getcsr() & ~kExceptions;
  }
  void TearDown() override {
    EXPECT_EQ(_mm_getcsr() & ~kExceptions, own);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    std::fesetenv(FE_DFL_ENV);
  }
  static unsigned bits(float value) {
    unsigned result = 0;
    std::memcpy(&result, &value, sizeof(result));
    return result;
  }
  static float value(unsigned bits) {
    float result = 0;
    std::memcpy(&result, &bits, sizeof(result));
    return result;
  }

  unsigned own = 0;
};

TEST_F(FloatEnvironment, OfTheHostIsNotTheKernels) {
  for (const bool own_stream : {false, true}) {
    cudaStream_t stream = nullptr;
    if (own_stream) {
      ASSERT_OK(cudaStreamCreate(&stream));
    }
    // A denormal number times 1, and 1 + 2^-31.
    const float operands[] = {value(0x00400000), 1, 1, value(0x30000000)};
    float* memory = nullptr;
    ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(operands)));
    ASSERT_OK(
        cudaMemcpy(memory, operands, sizeof(operands), cudaMemcpyHostToDevice));
    void* arguments[] = {&memory};
    ASSERT_OK(cudaLaunchKernel(symbol(compute), 1, 1, arguments, 0, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
    float results[4] = {};
    ASSERT_OK(
        cudaMemcpy(results, memory, sizeof(results), cudaMemcpyDeviceToHost));
    EXPECT_EQ(bits(results[0]), 0x00400000u);
    EXPECT_EQ(bits(results[2]), 0x3f800000u);
    EXPECT_EQ(_mm_getcsr() & ~kExceptions, own);
    EXPECT_OK(cudaFree(memory));
  }
}

TEST_F(FloatEnvironment, OfTheHostIsNotThatOfWorkInStreams) {
  // As cuBLAS does its work.
  unsigned seen = ~0u;
  ASSERT_OK(cudaLaunchHostFunc(
      nullptr,
      [](void* place) { *static_cast<unsigned*>(place) = _mm_getcsr(); },
      &seen));
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(seen & ~kExceptions, 0x1f80u); // how a thread begins
}

} // namespace
} // namespace accelerator::cudart::testing
