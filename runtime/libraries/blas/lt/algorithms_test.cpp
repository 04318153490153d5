// Algorithms that a program chooses itself.
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace accelerator::blas::lt {
namespace {

constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto kSuccess = CUBLAS_STATUS_SUCCESS;

class AlgorithmsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cublasLtCreate(&handle_), kSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cublasLtDestroy(handle_), kSuccess);
  }
  cublasStatus_t make(int id, cublasLtMatmulAlgo_t* algorithm) {
    return cublasLtMatmulAlgoInit(
        handle_,
        CUBLAS_COMPUTE_32F,
        CUDA_R_32F,
        CUDA_R_32F,
        CUDA_R_32F,
        CUDA_R_32F,
        CUDA_R_32F,
        id,
        algorithm);
  }
  cublasLtHandle_t handle_ = nullptr;
};

TEST_F(AlgorithmsTest, AreListedAndMade) {
  int ids[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  int count = -1;
  const auto list =
      [&](cublasLtHandle_t handle, int requested, int* numbers, int* returned) {
        return cublasLtMatmulAlgoGetIds(
            handle,
            CUBLAS_COMPUTE_32F,
            CUDA_R_32F,
            CUDA_R_32F,
            CUDA_R_32F,
            CUDA_R_32F,
            CUDA_R_32F,
            requested,
            numbers,
            returned);
      };
  ASSERT_EQ(list(handle_, 8, ids, &count), kSuccess);
  ASSERT_EQ(count, 1);
  EXPECT_GE(ids[0], 0);
  EXPECT_EQ(list(handle_, 0, ids, &count), kInvalid);
  EXPECT_EQ(list(handle_, 8, nullptr, &count), kInvalid);
  EXPECT_EQ(list(handle_, 8, ids, nullptr), kInvalid);
  EXPECT_EQ(list(nullptr, 8, ids, &count), CUBLAS_STATUS_NOT_INITIALIZED);
  cublasLtMatmulAlgo_t algorithm;
  EXPECT_EQ(make(ids[0], &algorithm), kSuccess);
  EXPECT_EQ(make(-1, &algorithm), kInvalid);
  EXPECT_EQ(make(ids[0], nullptr), kInvalid);
}

TEST_F(AlgorithmsTest, KeepTheirAttributes) {
  cublasLtMatmulAlgo_t algorithm;
  ASSERT_EQ(make(7, &algorithm), kSuccess);
  std::int32_t id = -1;
  std::size_t written = 0;
  EXPECT_EQ(
      cublasLtMatmulAlgoConfigGetAttribute(
          &algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof(id), &written),
      kSuccess);
  EXPECT_EQ(id, 7);
  EXPECT_EQ(written, sizeof(id));
  // The number is only read.
  EXPECT_EQ(
      cublasLtMatmulAlgoConfigSetAttribute(
          &algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof(id)),
      kInvalid);
  struct Known {
    cublasLtMatmulAlgoConfigAttributes_t attribute;
    std::size_t size;
    std::uint32_t initial;
  };
  std::uint32_t next = 3;
  std::vector<std::uint32_t> values;
  const std::vector<Known> all = {
      {CUBLASLT_ALGO_CONFIG_TILE_ID, 4, CUBLASLT_MATMUL_TILE_UNDEFINED},
      {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, 1},
      {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, 0},
      {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, 0},
      {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, 0},
      {CUBLASLT_ALGO_CONFIG_STAGES_ID, 4, CUBLASLT_MATMUL_STAGES_UNDEFINED},
      {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, 0},
      {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, 0}};
  const auto get = [&](const Known& known) {
    std::uint32_t value = 0;
    EXPECT_EQ(
        cublasLtMatmulAlgoConfigGetAttribute(
            &algorithm, known.attribute, &value, known.size, nullptr),
        kSuccess);
    return value;
  };
  for (const Known& known : all) {
    EXPECT_EQ(get(known), known.initial) << known.attribute;
    EXPECT_EQ(
        cublasLtMatmulAlgoConfigSetAttribute(
            &algorithm, known.attribute, &next, known.size),
        kSuccess);
    EXPECT_EQ(
        cublasLtMatmulAlgoConfigSetAttribute(
            &algorithm, known.attribute, &next, known.size + 1),
        kInvalid);
    values.push_back(next++);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(get(all[i]), values[i]);
  }
  const cublasLtMatmulAlgo_t unmade{};
  EXPECT_EQ(
      cublasLtMatmulAlgoConfigGetAttribute(
          &unmade, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof(id), nullptr),
      kInvalid);
}

TEST_F(AlgorithmsTest, SayWhatTheyCan) {
  cublasLtMatmulAlgo_t algorithm;
  ASSERT_EQ(make(0, &algorithm), kSuccess);
  std::int32_t batches = 0;
  EXPECT_EQ(
      cublasLtMatmulAlgoCapGetAttribute(
          &algorithm,
          CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT,
          &batches,
          sizeof(batches),
          nullptr),
      kSuccess);
  EXPECT_EQ(batches, 1);
  // First how long the list is, then the list.
  std::size_t bytes = 0;
  EXPECT_EQ(
      cublasLtMatmulAlgoCapGetAttribute(
          &algorithm, CUBLASLT_ALGO_CAP_TILE_IDS, nullptr, 0, &bytes),
      kSuccess);
  EXPECT_EQ(bytes, sizeof(std::uint32_t));
  std::vector<std::uint32_t> tiles(5, 99);
  EXPECT_EQ(
      cublasLtMatmulAlgoCapGetAttribute(
          &algorithm,
          CUBLASLT_ALGO_CAP_TILE_IDS,
          tiles.data(),
          tiles.size() * sizeof(tiles[0]),
          &bytes),
      kSuccess);
  EXPECT_EQ(bytes, sizeof(std::uint32_t));
  EXPECT_EQ(tiles[0], CUBLASLT_MATMUL_TILE_UNDEFINED);
  EXPECT_EQ(tiles[1], 99);
}

// One that was made, one that was chosen, and the product with it.
TEST_F(AlgorithmsTest, Multiply) {
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  ASSERT_EQ(
      cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
      kSuccess);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 2, 2, 2), kSuccess);
  cublasLtMatmulAlgo_t algorithm;
  ASSERT_EQ(make(0, &algorithm), kSuccess);
  cublasLtMatmulHeuristicResult_t result{};
  EXPECT_EQ(
      cublasLtMatmulAlgoCheck(
          handle_,
          product,
          layout,
          layout,
          layout,
          layout,
          &algorithm,
          &result),
      kSuccess);
  EXPECT_EQ(result.state, kSuccess);
  EXPECT_EQ(result.workspaceSize, 0);
  // What the heuristic chooses is one as well.
  int count = 0;
  ASSERT_EQ(
      cublasLtMatmulAlgoGetHeuristic(
          handle_,
          product,
          layout,
          layout,
          layout,
          layout,
          nullptr,
          1,
          &result,
          &count),
      kSuccess);
  EXPECT_EQ(
      cublasLtMatmulAlgoCheck(
          handle_,
          product,
          layout,
          layout,
          layout,
          layout,
          &result.algo,
          &result),
      kSuccess);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 12 * sizeof(float)), cudaSuccess);
  float* const numbers = static_cast<float*>(memory);
  const float given[] = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_EQ(
      cudaMemcpy(numbers, given, sizeof(given), cudaMemcpyHostToDevice),
      cudaSuccess);
  const float one = 1, zero = 0;
  EXPECT_EQ(
      cublasLtMatmul(
          handle_,
          product,
          &one,
          numbers,
          layout,
          numbers + 4,
          layout,
          &zero,
          numbers + 8,
          layout,
          numbers + 8,
          layout,
          &algorithm,
          nullptr,
          0,
          nullptr),
      kSuccess);
  float got[4];
  ASSERT_EQ(
      cudaMemcpy(got, numbers + 8, sizeof(got), cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_EQ(
      std::vector<float>(got, got + 4), (std::vector<float>{23, 34, 31, 46}));
  // A product that there is not: the inner dimensions differ.
  cublasLtMatrixLayout_t other = nullptr;
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&other, CUDA_R_32F, 3, 2, 3), kSuccess);
  EXPECT_EQ(
      cublasLtMatmulAlgoCheck(
          handle_, product, layout, other, layout, layout, &algorithm, &result),
      kInvalid);
  const cublasLtMatmulAlgo_t unmade{};
  EXPECT_EQ(
      cublasLtMatmulAlgoCheck(
          handle_, product, layout, layout, layout, layout, &unmade, &result),
      kInvalid);
  EXPECT_EQ(cudaFree(numbers), cudaSuccess);
  for (const auto its : {layout, other}) {
    EXPECT_EQ(cublasLtMatrixLayoutDestroy(its), kSuccess);
  }
  EXPECT_EQ(cublasLtMatmulDescDestroy(product), kSuccess);
}

} // namespace
} // namespace accelerator::blas::lt
