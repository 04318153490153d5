// Transforms of half types: IEEE's and the brain floating point.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cufft.h>
#include <cufftXt.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"
#include "runtime/libraries/fft/testing/naive.h"

namespace accelerator::fft::testing {
namespace {

using blas::testing::Array;
using blas::testing::random;

float narrow(__half value) {
  return __half2float(value);
}
float narrow(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

/// Half types: real numbers there and back, and complex ones with gaps.
template <typename H>
void check_halves(cudaDataType real, cudaDataType complex, double tolerance) {
  constexpr int kBatch = 3;
  long long n[] = {4, 8};
  const Sizes sizes = {4, 8};
  size_t size = 0;
  cufftHandle there = 0, back = 0;
  ASSERT_EQ(cufftCreate(&there), CUFFT_SUCCESS);
  ASSERT_EQ(cufftCreate(&back), CUFFT_SUCCESS);
  const auto make = [&](cufftHandle handle, cudaDataType in, cudaDataType out) {
    return cufftXtMakePlanMany(
        handle,
        2,
        n,
        nullptr,
        1,
        0,
        in,
        nullptr,
        1,
        0,
        out,
        kBatch,
        &size,
        complex);
  };
  ASSERT_EQ(make(there, real, complex), CUFFT_SUCCESS);
  ASSERT_EQ(make(back, complex, real), CUFFT_SUCCESS);
  std::vector<H> values;
  for (const float value : random<float>(32 * kBatch, 6)) {
    values.push_back(H(value));
  }
  const Array<H> source(values);
  const Array<H> spectrum{std::vector<H>(2 * 4 * 5 * kBatch)};
  ASSERT_EQ(
      cufftXtExec(there, source.get(), spectrum.get(), CUFFT_FORWARD),
      CUFFT_SUCCESS);
  const auto result = spectrum.values();
  for (int b = 0; b < kBatch; ++b) {
    std::vector<Wide> one;
    for (int i = 0; i < 32; ++i) {
      one.emplace_back(narrow(values[b * 32 + i]));
    }
    const auto wanted = half(naive(one, sizes, -1), sizes);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t address = 2 * (b * wanted.size() + i);
      const Wide got(narrow(result[address]), narrow(result[address + 1]));
      ASSERT_LE(std::abs(got - wanted[i]), tolerance);
    }
  }
  const Array<H> again{std::vector<H>(values.size())};
  ASSERT_EQ(
      cufftXtExec(back, spectrum.get(), again.get(), CUFFT_INVERSE),
      CUFFT_SUCCESS);
  const auto got = again.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(narrow(got[i]) / 32, narrow(values[i]), tolerance);
  }
  EXPECT_EQ(cufftDestroy(there), CUFFT_SUCCESS);
  EXPECT_EQ(cufftDestroy(back), CUFFT_SUCCESS);
}

TEST(Halves, OfFloatingPoint) {
  check_halves<__half>(CUDA_R_16F, CUDA_C_16F, 0.05);
}

TEST(Halves, OfBrainFloatingPoint) {
  check_halves<__nv_bfloat16>(CUDA_R_16BF, CUDA_C_16BF, 0.3);
}

TEST(Halves, OfComplexNumbersWithGapsInPlace) {
  constexpr int kN = 8, kStride = 2, kBatch = 2, kDistance = 17;
  long long n[] = {kN};
  size_t size = 0;
  cufftHandle handle = 0;
  ASSERT_EQ(cufftCreate(&handle), CUFFT_SUCCESS);
  ASSERT_EQ(
      cufftXtMakePlanMany(
          handle,
          1,
          n,
          n,
          kStride,
          kDistance,
          CUDA_C_16F,
          n,
          kStride,
          kDistance,
          CUDA_C_16F,
          kBatch,
          &size,
          CUDA_C_16F),
      CUFFT_SUCCESS);
  std::vector<__half> values;
  for (const float value : random<float>(2 * kDistance * kBatch, 6)) {
    values.push_back(__half(value));
  }
  const Array<__half> data(values);
  ASSERT_EQ(
      cufftXtExec(handle, data.get(), data.get(), CUFFT_INVERSE),
      CUFFT_SUCCESS);
  const auto result = data.values();
  for (int b = 0; b < kBatch; ++b) {
    const auto at = [&](const std::vector<__half>& from, int i) {
      const int address = 2 * (b * kDistance + i * kStride);
      return Wide(narrow(from[address]), narrow(from[address + 1]));
    };
    std::vector<Wide> one;
    for (int i = 0; i < kN; ++i) {
      one.push_back(at(values, i));
    }
    const auto wanted = naive(one, {kN}, 1);
    for (int i = 0; i < kN; ++i) {
      EXPECT_LE(std::abs(at(result, i) - wanted[i]), 0.05);
    }
    // The gap behind the first element.
    const int gap = 2 * (b * kDistance + 1);
    EXPECT_EQ(narrow(result[gap]), narrow(values[gap]));
  }
  EXPECT_EQ(cufftDestroy(handle), CUFFT_SUCCESS);
}

} // namespace
} // namespace accelerator::fft::testing
