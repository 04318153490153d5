// Products and sums whose elements are of another type than the computation.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "accelerator/runtime/blas/testing/arrays.h"

// Of CUDA 12.5 and newer: the header that this is built with does not have it.
extern "C" cublasStatus_t cublasGemmGroupedBatchedEx(
    cublasHandle_t handle,
    const cublasOperation_t transa[],
    const cublasOperation_t transb[],
    const int m[],
    const int n[],
    const int k[],
    const void* alpha,
    const void* const a[],
    cudaDataType_t a_type,
    const int lda[],
    const void* const b[],
    cudaDataType_t b_type,
    const int ldb[],
    const void* beta,
    void* const c[],
    cudaDataType_t c_type,
    const int ldc[],
    int groups,
    const int sizes[],
    cublasComputeType_t compute);

namespace accelerator::blas::testing {
namespace {

constexpr int kM = 4;
constexpr int kN = 3;
constexpr int kK = 5;

/// Small whole numbers: exact in every type, and so are their products.
template <typename T>
std::vector<T> small(std::size_t count, int seed) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    const int value = (static_cast<int>(i) * 5 + seed) % 7 - 3;
    values.push_back(T(static_cast<float>(value)));
  }
  return values;
}

template <typename T>
double number(T value) {
  return static_cast<float>(value);
}

/// Element (i, j) of a product of dense matrices from given elements on.
template <typename A, typename B>
double sum(
    const std::vector<A>& a,
    const std::vector<B>& b,
    std::size_t i,
    std::size_t j,
    std::size_t a_from = 0,
    std::size_t b_from = 0) {
  double result = 0;
  for (std::size_t k = 0; k < kK; ++k) {
    result += number(a[a_from + k * kM + i]) * number(b[b_from + j * kK + k]);
  }
  return result;
}

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

TEST_F(Mixed, ScatteredMixedProducts) {
  constexpr int kCount = 2;
  const auto a = small<__half>(kM * kK * kCount, 1);
  const auto b = small<__half>(kK * kN, 2);
  const Array<__half> a_array(a), b_array(b);
  const Array<__half> half_array(small<__half>(kM * kN * kCount, 3));
  const Array<float> c_array(std::vector<float>(kM * kN * kCount));
  // The second product first.
  const Array<void*> a_pieces(
      std::vector<void*>{a_array.get() + kM * kK, a_array.get()});
  const Array<void*> b_pieces(std::vector<void*>{b_array.get(), b_array.get()});
  const Array<void*> c_pieces(
      std::vector<void*>{c_array.get() + kM * kN, c_array.get()});
  const Array<void*> half_pieces(
      std::vector<void*>{half_array.get() + kM * kN, half_array.get()});
  const float one = 1, zero = 0;
  const auto batched = [&](cudaDataType_t type, int count, void* const* c) {
    return cublasGemmBatchedEx(
        handle,
        CUBLAS_OP_N,
        CUBLAS_OP_N,
        kM,
        kN,
        kK,
        &one,
        a_pieces.get(),
        type,
        kM,
        b_pieces.get(),
        CUDA_R_16F,
        kK,
        &zero,
        c,
        CUDA_R_32F,
        kM,
        count,
        CUBLAS_COMPUTE_32F,
        CUBLAS_GEMM_DEFAULT);
  };
  ASSERT_EQ(batched(CUDA_R_16F, kCount, c_pieces.get()), CUBLAS_STATUS_SUCCESS);
  const __half half_one(1.0F), half_zero(0.0F);
  ASSERT_EQ(
      cublasHgemmBatched(
          handle,
          CUBLAS_OP_N,
          CUBLAS_OP_N,
          kM,
          kN,
          kK,
          &half_one,
          a_pieces.get<const __half*>(),
          kM,
          b_pieces.get<const __half*>(),
          kK,
          &half_zero,
          half_pieces.get<__half*>(),
          kM,
          kCount),
      CUBLAS_STATUS_SUCCESS);
  const auto actual = c_array.values();
  const auto halves = half_array.values();
  for (std::size_t at = 0; at < kM * kN * kCount; ++at) {
    const std::size_t which = at / (kM * kN);
    const std::size_t inside = at % (kM * kN);
    const double wanted = sum(a, b, inside % kM, inside / kM, which * kM * kK);
    EXPECT_EQ(actual[at], wanted);
    EXPECT_EQ(number(halves[at]), wanted);
  }
  EXPECT_EQ(
      batched(CUDA_R_8I, kCount, c_pieces.get()), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(
      batched(CUDA_R_16F, -1, c_pieces.get()), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      batched(CUDA_R_16F, kCount, nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
}

TEST_F(Mixed, GroupsOfProducts) {
  // One product of 4 x 5 and 5 x 3 matrices, and two of their transposes.
  const auto a = small<float>(kM * kK, 1);
  const auto b = small<float>(kK * kN, 2);
  const auto c = small<float>(kM * kN * 3, 3);
  const Array<float> a_array(a), b_array(b), c_array(c), d_array(c);
  float* const results[] = {c_array.get(), d_array.get()};
  const cublasOperation_t left[] = {CUBLAS_OP_N, CUBLAS_OP_T};
  const cublasOperation_t right[] = {CUBLAS_OP_N, CUBLAS_OP_T};
  const int m[] = {kM, kN}, n[] = {kN, kM}, k[] = {kK, kK};
  const int lda[] = {kM, kK}, ldb[] = {kK, kM}, ldc[] = {kM, kN};
  const int wrong[] = {kM, kN - 1};
  const float alpha[] = {1, 2}, beta[] = {3, 0};
  const int sizes[] = {1, 2};
  const Array<float*> first(
      std::vector<float*>{a_array.get(), b_array.get(), b_array.get()});
  const Array<float*> second(
      std::vector<float*>{b_array.get(), a_array.get(), a_array.get()});
  const auto pieces = [&](float* c) {
    return std::vector<float*>{c, c + kM * kN, c + 2 * kM * kN};
  };
  const Array<float*> third(pieces(results[0])), fourth(pieces(results[1]));
  const auto grouped = [&](const int* leading) {
    return cublasSgemmGroupedBatched(
        handle,
        left,
        right,
        m,
        n,
        k,
        alpha,
        first.get<const float*>(),
        lda,
        second.get<const float*>(),
        ldb,
        beta,
        third.get(),
        leading,
        2,
        sizes);
  };
  EXPECT_EQ(grouped(wrong), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(c_array.values(), c); // of the first group, too
  ASSERT_EQ(grouped(ldc), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(
      cublasGemmGroupedBatchedEx(
          handle,
          left,
          right,
          m,
          n,
          k,
          alpha,
          first.get<const void*>(),
          CUDA_R_32F,
          lda,
          second.get<const void*>(),
          CUDA_R_32F,
          ldb,
          beta,
          fourth.get<void*>(),
          CUDA_R_32F,
          ldc,
          2,
          sizes,
          CUBLAS_COMPUTE_32F),
      CUBLAS_STATUS_SUCCESS);
  for (const auto& found : {c_array.values(), d_array.values()}) {
    for (std::size_t j = 0; j < kN; ++j) {
      for (std::size_t i = 0; i < kM; ++i) {
        const double product = sum(a, b, i, j);
        EXPECT_EQ(found[j * kM + i], product + 3 * c[j * kM + i]);
        for (std::size_t which : {1, 2}) {
          EXPECT_EQ(found[which * kM * kN + i * kN + j], 2 * product);
        }
      }
    }
  }
  ASSERT_EQ(
      cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(grouped(ldc), CUBLAS_STATUS_NOT_SUPPORTED);
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
