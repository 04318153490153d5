// The descriptors of cuBLASLt keep their attributes.
#include <cublasLt.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace {

template <typename T>
T get(
    cublasLtMatmulDesc_t descriptor,
    cublasLtMatmulDescAttributes_t attribute) {
  T value{};
  std::size_t written = 0;
  EXPECT_EQ(
      cublasLtMatmulDescGetAttribute(
          descriptor, attribute, &value, sizeof(value), &written),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(written, sizeof(value));
  return value;
}

template <typename T>
T get(
    cublasLtMatrixLayout_t layout,
    cublasLtMatrixLayoutAttribute_t attribute) {
  T value{};
  std::size_t written = 0;
  EXPECT_EQ(
      cublasLtMatrixLayoutGetAttribute(
          layout, attribute, &value, sizeof(value), &written),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(written, sizeof(value));
  return value;
}

TEST(LtDescriptors, TheVersionIsThatOfTheHeader) {
  EXPECT_EQ(cublasLtGetVersion(), static_cast<std::size_t>(CUBLAS_VERSION));
}

TEST(LtDescriptors, AProductStartsWithDefaults) {
  // In memory of the caller, which Init writes; the header calls the function
  // whose name ends in _internal.
  cublasLtMatmulDescOpaque_t memory;
  cublasLtMatmulDesc_t product = &memory;
  ASSERT_EQ(
      cublasLtMatmulDescInit(product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(
      get<cublasComputeType_t>(product, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE),
      CUBLAS_COMPUTE_32F);
  EXPECT_EQ(
      get<cudaDataType_t>(product, CUBLASLT_MATMUL_DESC_SCALE_TYPE),
      CUDA_R_32F);
  EXPECT_EQ(
      get<cublasLtPointerMode_t>(product, CUBLASLT_MATMUL_DESC_POINTER_MODE),
      CUBLASLT_POINTER_MODE_HOST);
  EXPECT_EQ(
      get<cublasOperation_t>(product, CUBLASLT_MATMUL_DESC_TRANSA),
      CUBLAS_OP_N);
  EXPECT_EQ(
      get<cublasLtEpilogue_t>(product, CUBLASLT_MATMUL_DESC_EPILOGUE),
      CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(get<void*>(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER), nullptr);
  EXPECT_EQ(
      cublasLtMatmulDescInit(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F),
      CUBLAS_STATUS_INVALID_VALUE);
}

TEST(LtDescriptors, AttributesAreKeptAndHaveTheirSize) {
  cublasLtMatmulDesc_t product = nullptr;
  ASSERT_EQ(
      cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
      CUBLAS_STATUS_SUCCESS);
  constexpr auto kEpilogue = CUBLASLT_MATMUL_DESC_EPILOGUE;
  const auto gelu = CUBLASLT_EPILOGUE_GELU_BIAS;
  EXPECT_EQ(
      cublasLtMatmulDescSetAttribute(product, kEpilogue, &gelu, sizeof(gelu)),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(get<cublasLtEpilogue_t>(product, kEpilogue), gelu);
  EXPECT_EQ(
      cublasLtMatmulDescSetAttribute(product, kEpilogue, &gelu, 2),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      cublasLtMatmulDescSetAttribute(product, kEpilogue, nullptr, 4),
      CUBLAS_STATUS_INVALID_VALUE);

  std::uint64_t wide = 0;
  std::size_t needed = 0;
  EXPECT_EQ(
      cublasLtMatmulDescGetAttribute(product, kEpilogue, nullptr, 0, &needed),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(needed, sizeof(gelu));
  EXPECT_EQ(
      cublasLtMatmulDescGetAttribute(product, kEpilogue, nullptr, 0, nullptr),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      cublasLtMatmulDescGetAttribute(product, kEpilogue, nullptr, 4, &needed),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      cublasLtMatmulDescGetAttribute(
          product, kEpilogue, &wide, sizeof(wide), &needed),
      CUBLAS_STATUS_INVALID_VALUE)
      << "another size than that of the attribute";
  EXPECT_EQ(cublasLtMatmulDescDestroy(product), CUBLAS_STATUS_SUCCESS);
}

TEST(LtDescriptors, ALayoutStartsAsOneColumnMajorMatrix) {
  cublasLtMatrixLayoutOpaque_t memory;
  cublasLtMatrixLayout_t layout = &memory;
  ASSERT_EQ(
      cublasLtMatrixLayoutInit(layout, CUDA_R_16F, 3, 4, 5),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(
      get<cudaDataType_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE), CUDA_R_16F);
  EXPECT_EQ(
      get<cublasLtOrder_t>(layout, CUBLASLT_MATRIX_LAYOUT_ORDER),
      CUBLASLT_ORDER_COL);
  EXPECT_EQ(get<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS), 3u);
  EXPECT_EQ(get<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS), 4u);
  EXPECT_EQ(get<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD), 5);
  EXPECT_EQ(get<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT), 1);
  EXPECT_EQ(
      get<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET),
      0);
  EXPECT_EQ(
      cublasLtMatrixLayoutInit(nullptr, CUDA_R_16F, 3, 4, 5),
      CUBLAS_STATUS_INVALID_VALUE);
}

TEST(LtDescriptors, PreferencesAreTakenAtTheirSize) {
  cublasLtMatmulPreferenceOpaque_t memory;
  cublasLtMatmulPreference_t preference = &memory;
  ASSERT_EQ(cublasLtMatmulPreferenceInit(preference), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatmulPreferenceInit(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  const std::uint64_t bytes = 1 << 20;
  const std::uint32_t alignment = 16;
  const auto set = [&](auto attribute, const void* value, std::size_t size) {
    return cublasLtMatmulPreferenceSetAttribute(
        preference, attribute, value, size);
  };
  constexpr auto kWorkspace = CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
  constexpr auto kAlignment = CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  EXPECT_EQ(set(kWorkspace, &bytes, 8), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(set(kAlignment, &alignment, 4), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(set(kWorkspace, &bytes, 4), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(set(kWorkspace, nullptr, 8), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(set(kAlignment, &alignment, 2), CUBLAS_STATUS_INVALID_VALUE);
}

} // namespace
