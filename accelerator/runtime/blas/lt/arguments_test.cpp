// Arguments of cuBLASLt that make no sense are refused, and by the heuristic
// too.
#include <cublasLt.h>

#include <cstdint>
#include <vector>

#include "accelerator/runtime/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto kNotSupported = CUBLAS_STATUS_NOT_SUPPORTED;
constexpr auto kSuccess = CUBLAS_STATUS_SUCCESS;
constexpr std::int64_t kRoom = 256; // elements behind each pointer

/// A matrix as a table writes it.
struct Shape {
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
};

/// Everything that a product needs: D = A B of 4x3 and 3x2 elements, with what
/// a test changes about it.
class LtArguments : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cublasLtCreate(&handle), kSuccess);
    ASSERT_EQ(
        cublasLtMatmulDescInit(desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), kSuccess);
    lay(a, {4, 3, 4});
    lay(b, {3, 2, 3});
    lay(c, {4, 2, 4});
    lay(d, {4, 2, 4});
  }
  void TearDown() override {
    EXPECT_EQ(cublasLtDestroy(handle), kSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  static void lay(
      cublasLtMatrixLayout_t layout,
      Shape shape,
      cublasLtOrder_t order = CUBLASLT_ORDER_COL) {
    ASSERT_EQ(
        cublasLtMatrixLayoutInit(
            layout, CUDA_R_32F, shape.rows, shape.columns, shape.leading),
        kSuccess);
    ASSERT_EQ(
        cublasLtMatrixLayoutSetAttribute(
            layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof(order)),
        kSuccess);
  }
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    ASSERT_EQ(
        cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof(value)),
        kSuccess);
  }
  cublasStatus_t run() {
    return cublasLtMatmul(
        handle,
        desc,
        alpha,
        left.get(),
        a,
        right.get(),
        b,
        beta,
        result.get(),
        c,
        result.get(),
        d,
        nullptr,
        nullptr,
        0,
        nullptr);
  }
  cublasStatus_t ask() {
    cublasLtMatmulHeuristicResult_t algorithm;
    int found = -1;
    const auto status = cublasLtMatmulAlgoGetHeuristic(
        handle, desc, a, b, c, d, nullptr, 1, &algorithm, &found);
    EXPECT_EQ(found, status == kSuccess ? 1 : 0);
    return status;
  }
  /// That both functions say so, and that what is refused writes nothing.
  void expect(cublasStatus_t status) {
    EXPECT_EQ(run(), status);
    EXPECT_EQ(ask(), status);
    if (status != kSuccess) {
      EXPECT_EQ(result.values(), std::vector<float>(kRoom, 7));
    }
  }

  cublasLtMatmulDescOpaque_t product_memory;
  cublasLtMatrixLayoutOpaque_t layout_memory[4];
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t desc = &product_memory;
  cublasLtMatrixLayout_t a = &layout_memory[0];
  cublasLtMatrixLayout_t b = &layout_memory[1];
  cublasLtMatrixLayout_t c = &layout_memory[2];
  cublasLtMatrixLayout_t d = &layout_memory[3];
  const float one = 1;
  const void* alpha = &one;
  const void* beta = &one;
  const Array<float> left{std::vector<float>(kRoom, 1)};
  const Array<float> right{std::vector<float>(kRoom, 1)};
  const Array<float> result{std::vector<float>(kRoom, 7)};
};

TEST_F(LtArguments, OperationsThatThereAreNotAreRefused) {
  // All sides are 2 long, so that no operation makes them unfit.
  for (auto* one_of_them : {a, b, c, d}) {
    lay(one_of_them, {2, 2, 2});
  }
  for (const auto attribute :
       {CUBLASLT_MATMUL_DESC_TRANSA,
        CUBLASLT_MATMUL_DESC_TRANSB,
        CUBLASLT_MATMUL_DESC_TRANSC}) {
    SCOPED_TRACE(attribute);
    for (const auto operation :
         {CUBLAS_OP_CONJG, static_cast<cublasOperation_t>(9)}) {
      set(attribute, operation);
      expect(kInvalid);
    }
    set(attribute, CUBLAS_OP_N);
  }
  for (const auto operation : {CUBLAS_OP_T, CUBLAS_OP_C}) {
    set(CUBLASLT_MATMUL_DESC_TRANSC, operation);
    expect(kNotSupported);
  }
  set(CUBLASLT_MATMUL_DESC_TRANSC, CUBLAS_OP_N);
  expect(kSuccess);
}

} // namespace
} // namespace accelerator::blas::testing
