// Products of scattered matrices, of one size and of several.
#include <cuda_fp16.h>

#include <vector>

#include "runtime/libraries/blas/testing/products.h"

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

using namespace products;
using Groups = HandleTest<Single>;

TEST_F(Groups, ScatteredMixedProducts) {
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

TEST_F(Groups, GroupsOfProducts) {
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

} // namespace
} // namespace accelerator::blas::testing
