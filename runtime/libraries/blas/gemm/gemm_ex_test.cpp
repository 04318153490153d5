// Products and sums whose elements are of another type than the computation.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "runtime/libraries/blas/testing/products.h"

namespace accelerator::blas::testing {
namespace {

using namespace products;

using Mixed = HandleTest<Single>;

template <typename A, typename C, typename Scalar>
void expect_product(
    cublasHandle_t handle,
    cudaDataType_t a_type,
    cudaDataType_t c_type,
    cublasComputeType_t compute) {
  const auto a = small<A>(kM * kK, 1);
  const auto b = small<A>(kK * kN, 2);
  const auto c = small<C>(kM * kN, 3);
  const Array<A> a_array(a), b_array(b);
  const Array<C> c_array(c);
  const Scalar alpha(2), beta(3);
  ASSERT_EQ(
      cublasGemmEx(
          handle,
          CUBLAS_OP_N,
          CUBLAS_OP_N,
          kM,
          kN,
          kK,
          &alpha,
          a_array.get(),
          a_type,
          kM,
          b_array.get(),
          a_type,
          kK,
          &beta,
          c_array.get(),
          c_type,
          kM,
          compute,
          CUBLAS_GEMM_DEFAULT),
      CUBLAS_STATUS_SUCCESS);
  const auto actual = c_array.values();
  for (int j = 0; j < kN; ++j) {
    for (int i = 0; i < kM; ++i) {
      const int at = j * kM + i;
      EXPECT_EQ(number(actual[at]), 2 * sum(a, b, i, j) + 3 * number(c[at]));
    }
  }
}

TEST_F(Mixed, HalvesAreSummedInSinglePrecision) {
  expect_product<__half, __half, float>(
      handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F);
  expect_product<__half, float, float>(
      handle, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
}

TEST_F(Mixed, HalvesHaveHalfFactorsWhenTheyAreSummedAsHalves) {
  expect_product<__half, __half, __half>(
      handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F);
}

TEST_F(Mixed, Bfloat16IsSummedInSinglePrecision) {
  expect_product<__nv_bfloat16, __nv_bfloat16, float>(
      handle, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
}

TEST_F(Mixed, BytesAreSummedInIntegers) {
  expect_product<std::int8_t, std::int32_t, std::int32_t>(
      handle, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I);
}

TEST_F(Mixed, OneTypeForAllIsThePlainProduct) {
  expect_product<float, float, float>(
      handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
  expect_product<double, double, double>(
      handle, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F);
  // CUDA 13's emulated ones.
  expect_product<float, float, float>(
      handle, CUDA_R_32F, CUDA_R_32F, static_cast<cublasComputeType_t>(78));
  expect_product<double, double, double>(
      handle, CUDA_R_64F, CUDA_R_64F, static_cast<cublasComputeType_t>(79));
}

TEST_F(Mixed, FactorsAreNotTakenForThoseOfAnotherComputation) {
  const Array<double> room(std::vector<double>(100, 5));
  const double one = 1;
  struct Types {
    cudaDataType_t a, b, c;
    cublasComputeType_t compute;
  };
  for (const Types& types :
       {Types{CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_64F},
        Types{CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_32F},
        Types{CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_32F_FAST_TF32},
        Types{CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_64F},
        Types{CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_32F},
        Types{CUDA_R_32F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
        Types{CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
        Types{CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_16F},
        Types{CUDA_R_16F, CUDA_R_16F, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
        Types{CUDA_R_8I, CUDA_R_8I, CUDA_R_8I, CUBLAS_COMPUTE_32I},
        Types{CUDA_C_32F, CUDA_C_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F}}) {
    EXPECT_EQ(
        cublasGemmEx(
            handle,
            CUBLAS_OP_N,
            CUBLAS_OP_N,
            2,
            2,
            2,
            &one,
            room.get(),
            types.a,
            2,
            room.get(),
            types.b,
            2,
            &one,
            room.get(),
            types.c,
            2,
            types.compute,
            CUBLAS_GEMM_DEFAULT),
        CUBLAS_STATUS_NOT_SUPPORTED)
        << types.a << ' ' << types.b << ' ' << types.c << ' ' << types.compute;
  }
  EXPECT_EQ(room.values(), std::vector<double>(100, 5));
}

TEST_F(Mixed, TypesAndSizesThatThereAreNotAreRefused) {
  const Array<float> room(std::vector<float>(100));
  const float one = 1;
  const auto run = [&](cudaDataType_t type, int leading, const float* factor) {
    return cublasGemmEx(
        handle,
        CUBLAS_OP_N,
        CUBLAS_OP_N,
        kM,
        kN,
        kK,
        factor,
        room.get(),
        type,
        leading,
        room.get(),
        type,
        kK,
        factor,
        room.get(),
        type,
        kM,
        CUBLAS_COMPUTE_32F,
        CUBLAS_GEMM_DEFAULT);
  };
  EXPECT_EQ(run(CUDA_R_4I, kM, &one), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(run(CUDA_R_32F, kM - 1, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(run(CUDA_R_32F, kM, nullptr), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Mixed, ABatchOfMixedProducts) {
  constexpr int kCount = 3;
  const auto a = small<__half>(kM * kK * kCount, 1);
  const auto b = small<__half>(kK * kN, 2); // one for all: stride 0
  const Array<__half> a_array(a), b_array(b);
  const Array<float> c_array(std::vector<float>(kM * kN * kCount));
  const float one = 1, zero = 0;
  ASSERT_EQ(
      cublasGemmStridedBatchedEx(
          handle,
          CUBLAS_OP_N,
          CUBLAS_OP_N,
          kM,
          kN,
          kK,
          &one,
          a_array.get(),
          CUDA_R_16F,
          kM,
          kM * kK,
          b_array.get(),
          CUDA_R_16F,
          kK,
          0,
          &zero,
          c_array.get(),
          CUDA_R_32F,
          kM,
          kM * kN,
          kCount,
          CUBLAS_COMPUTE_32F,
          CUBLAS_GEMM_DEFAULT),
      CUBLAS_STATUS_SUCCESS);
  const auto actual = c_array.values();
  for (std::size_t at = 0; at < kM * kN * kCount; ++at) {
    const std::size_t which = at / (kM * kN);
    const std::size_t inside = at % (kM * kN);
    EXPECT_EQ(actual[at], sum(a, b, inside % kM, inside / kM, which * kM * kK));
  }
}

TEST_F(Mixed, SgemmExTakesHalvesAndGivesSinglePrecision) {
  const auto a = small<__half>(kM * kK, 1);
  const auto b = small<__half>(kK * kN, 2);
  const Array<__half> a_array(a), b_array(b);
  const Array<float> c_array(std::vector<float>(kM * kN));
  const float alpha = 0.5, beta = 0;
  ASSERT_EQ(
      cublasSgemmEx(
          handle,
          CUBLAS_OP_N,
          CUBLAS_OP_N,
          kM,
          kN,
          kK,
          &alpha,
          a_array.get(),
          CUDA_R_16F,
          kM,
          b_array.get(),
          CUDA_R_16F,
          kK,
          &beta,
          c_array.get(),
          CUDA_R_32F,
          kM),
      CUBLAS_STATUS_SUCCESS);
  const auto actual = c_array.values();
  for (int at = 0; at < kM * kN; ++at) {
    EXPECT_EQ(actual[at], 0.5 * sum(a, b, at % kM, at / kM));
  }
}

TEST_F(Mixed, HgemmWorksInHalves) {
  constexpr int kCount = 2;
  const auto a = small<__half>(kM * kK * kCount, 1);
  const auto b = small<__half>(kK * kN * kCount, 2);
  const Array<__half> a_array(a), b_array(b);
  const Array<__half> c_array(small<__half>(kM * kN * kCount, 3));
  const __half one(1.0F), zero(0.0F);
  ASSERT_EQ(
      cublasHgemmStridedBatched(
          handle,
          CUBLAS_OP_N,
          CUBLAS_OP_N,
          kM,
          kN,
          kK,
          &one,
          a_array.get(),
          kM,
          kM * kK,
          b_array.get(),
          kK,
          kK * kN,
          &zero,
          c_array.get(),
          kM,
          kM * kN,
          kCount),
      CUBLAS_STATUS_SUCCESS);
  const auto both = c_array.values();
  for (int at = 0; at < kM * kN; ++at) {
    EXPECT_EQ(number(both[at]), sum(a, b, at % kM, at / kM));
    EXPECT_EQ(
        number(both[kM * kN + at]),
        sum(a, b, at % kM, at / kM, kM * kK, kK * kN));
  }
  ASSERT_EQ(
      cublasHgemm(
          handle,
          CUBLAS_OP_N,
          CUBLAS_OP_N,
          kM,
          kN,
          kK,
          &one,
          a_array.get(),
          kM,
          b_array.get(),
          kK,
          &one,
          c_array.get(),
          kM),
      CUBLAS_STATUS_SUCCESS);
  const auto twice = c_array.values();
  for (int at = 0; at < kM * kN; ++at) {
    EXPECT_EQ(number(twice[at]), 2 * sum(a, b, at % kM, at / kM));
  }
}

} // namespace
} // namespace accelerator::blas::testing
