// What products refuse.
#include <cusparse.h>
#include <gtest/gtest.h>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

constexpr int kRows = 4, kColumns = 6, kWidth = 2;
constexpr auto kDouble = CUDA_R_64F;
constexpr auto kNoOperation = static_cast<cusparseOperation_t>(3);

class ProductStatusTest : public SparseTest {
 protected:
  /// A product of a matrix and a vector, which can be changed.
  struct Call {
    cusparseHandle_t handle;
    cusparseOperation_t op = kNone;
    const void* alpha;
    cusparseConstSpMatDescr_t a;
    cusparseConstDnVecDescr_t x;
    const void* beta;
    cusparseDnVecDescr_t y;
    cudaDataType compute = kDouble;
    int algorithm = 0;
  };
  Call call() const {
    Call good{};
    good.handle = handle;
    good.alpha = good.beta = &one;
    good.a = matrix.descriptor;
    good.x = wide.descriptor;
    good.y = tall.descriptor;
    return good;
  }
  /// All three functions answer this.
  void expect(const Call& c, cusparseStatus_t wanted) const {
    const auto algorithm = static_cast<cusparseSpMVAlg_t>(c.algorithm);
    std::size_t size = 0;
    EXPECT_EQ(
        cusparseSpMV_bufferSize(
            c.handle,
            c.op,
            c.alpha,
            c.a,
            c.x,
            c.beta,
            c.y,
            c.compute,
            algorithm,
            &size),
        wanted);
    for (const auto function : {cusparseSpMV_preprocess, cusparseSpMV}) {
      EXPECT_EQ(
          function(
              c.handle,
              c.op,
              c.alpha,
              c.a,
              c.x,
              c.beta,
              c.y,
              c.compute,
              algorithm,
              work.get()),
          wanted);
    }
  }

  /// A product of two matrices.
  struct MatrixCall {
    cusparseHandle_t handle;
    cusparseOperation_t op_a = kNone;
    cusparseOperation_t op_b = kNone;
    const void* alpha;
    cusparseConstSpMatDescr_t a;
    cusparseConstDnMatDescr_t b;
    const void* beta;
    cusparseDnMatDescr_t c;
    cudaDataType compute = kDouble;
    int algorithm = 0;
  };
  MatrixCall matrix_call() const {
    MatrixCall good{};
    good.handle = handle;
    good.alpha = good.beta = &one;
    good.a = matrix.descriptor;
    good.b = right.descriptor;
    good.c = result.descriptor;
    return good;
  }
  void expect(const MatrixCall& c, cusparseStatus_t wanted) const {
    const auto algorithm = static_cast<cusparseSpMMAlg_t>(c.algorithm);
    std::size_t size = 0;
    EXPECT_EQ(
        cusparseSpMM_bufferSize(
            c.handle,
            c.op_a,
            c.op_b,
            c.alpha,
            c.a,
            c.b,
            c.beta,
            c.c,
            c.compute,
            algorithm,
            &size),
        wanted);
    for (const auto function : {cusparseSpMM_preprocess, cusparseSpMM}) {
      EXPECT_EQ(
          function(
              c.handle,
              c.op_a,
              c.op_b,
              c.alpha,
              c.a,
              c.b,
              c.beta,
              c.c,
              c.compute,
              algorithm,
              work.get()),
          wanted);
    }
  }

  const double one = 1;
  const Matrix values = sparse_matrix(kRows, kColumns, kDouble, 1, 2);
  const Sparse matrix{values, {}};
  const Vector wide{std::vector<Wide>(kColumns), kDouble};
  const Vector tall{std::vector<Wide>(kRows), kDouble};
  const Dense right{Matrix(kColumns, kWidth), kDouble};
  const Dense result{Matrix(kRows, kWidth), kDouble};
};

TEST_F(ProductStatusTest, WhatIsNotThere) {
  expect(call(), kGood);
  Call c = call();
  c.handle = nullptr;
  expect(c, kInvalid);
  c = call();
  c.alpha = nullptr;
  expect(c, kInvalid);
  c = call();
  c.a = nullptr;
  expect(c, kInvalid);
  c = call();
  c.x = nullptr;
  expect(c, kInvalid);
  c = call();
  c.beta = nullptr;
  expect(c, kInvalid);
  c = call();
  c.y = nullptr;
  expect(c, kInvalid);
  c = call();
  EXPECT_EQ(
      cusparseSpMV_bufferSize(
          handle,
          c.op,
          c.alpha,
          c.a,
          c.x,
          c.beta,
          c.y,
          c.compute,
          CUSPARSE_SPMV_ALG_DEFAULT,
          nullptr),
      kInvalid);
}

TEST_F(ProductStatusTest, WhatDoesNotFit) {
  Call c = call();
  c.op = kNoOperation;
  expect(c, kInvalid);
  c = call();
  c.op = kTurn;
  expect(c, kInvalid);
  c = call();
  c.x = tall.descriptor;
  expect(c, kInvalid);
  c = call();
  c.y = wide.descriptor;
  expect(c, kInvalid);
  for (const int algorithm : {-1, 6}) {
    c = call();
    c.algorithm = algorithm;
    expect(c, kInvalid);
  }
}

TEST_F(ProductStatusTest, WhatIsNotSupported) {
  // The types: of all, of the vectors, of the scalars.
  Call c = call();
  c.compute = CUDA_R_32F;
  expect(c, kUnsupported);
  const Vector other(std::vector<Wide>(kColumns), CUDA_R_32F);
  c = call();
  c.x = other.descriptor;
  expect(c, kUnsupported);
  const Vector result_of_floats(std::vector<Wide>(kRows), CUDA_R_32F);
  c = call();
  c.y = result_of_floats.descriptor;
  expect(c, kUnsupported);
  // The formats, and the algorithms for others.
  for (const auto format : {CUSPARSE_FORMAT_BSR, CUSPARSE_FORMAT_BLOCKED_ELL}) {
    const Sparse blocks(values, {format});
    c = call();
    c.a = blocks.descriptor;
    expect(c, kUnsupported);
  }
  for (const int algorithm : {1, 4, 5}) {
    c = call();
    c.algorithm = algorithm;
    expect(c, kUnsupported);
  }
  const Sparse coordinates(values, {CUSPARSE_FORMAT_COO});
  c = call();
  c.a = coordinates.descriptor;
  c.algorithm = CUSPARSE_SPMV_COO_ALG2;
  expect(c, kGood);
  c.algorithm = CUSPARSE_SPMV_CSR_ALG1;
  expect(c, kUnsupported);
  // Indices of 16 bits, for which there are descriptors.
  cusparseSpMatDescr_t narrow = nullptr;
  ASSERT_EQ(
      cusparseCreateCsr(
          &narrow,
          kRows,
          kColumns,
          1,
          matrix.offsets.get(),
          matrix.indices.get(),
          matrix.values.get(),
          CUSPARSE_INDEX_16U,
          CUSPARSE_INDEX_16U,
          CUSPARSE_INDEX_BASE_ZERO,
          kDouble),
      kGood);
  c = call();
  c.a = narrow;
  expect(c, kUnsupported);
  ASSERT_EQ(cusparseDestroySpMat(narrow), kGood);
  // Batches, and triangles.
  const Sparse batches(values, {});
  ASSERT_EQ(cusparseCsrSetStridedBatch(batches.descriptor, 2, 0, 0), kGood);
  c = call();
  c.a = batches.descriptor;
  expect(c, kUnsupported);
  const Sparse triangle(values, {});
  auto lower = CUSPARSE_FILL_MODE_LOWER;
  ASSERT_EQ(
      cusparseSpMatSetAttribute(
          triangle.descriptor, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof(lower)),
      kGood);
  c = call();
  c.a = triangle.descriptor;
  expect(c, kUnsupported);
  MatrixCall m = matrix_call();
  m.a = triangle.descriptor;
  expect(m, kUnsupported);
}

TEST_F(ProductStatusTest, Matrices) {
  expect(matrix_call(), kGood);
  MatrixCall c = matrix_call();
  c.handle = nullptr;
  expect(c, kInvalid);
  c = matrix_call();
  c.a = nullptr;
  expect(c, kInvalid);
  c = matrix_call();
  c.b = nullptr;
  expect(c, kInvalid);
  c = matrix_call();
  c.c = nullptr;
  expect(c, kInvalid);
  c = matrix_call();
  c.alpha = nullptr;
  expect(c, kInvalid);
  c = matrix_call();
  c.beta = nullptr;
  expect(c, kInvalid);
  c = matrix_call();
  c.op_a = kNoOperation;
  expect(c, kInvalid);
  c = matrix_call();
  c.op_b = kNoOperation;
  expect(c, kInvalid);
  c = matrix_call();
  c.op_a = kTurn;
  expect(c, kInvalid);
  c = matrix_call();
  c.op_b = kConj;
  expect(c, kInvalid);
  c = matrix_call();
  c.b = c.c;
  expect(c, kInvalid);
  const Dense narrow(Matrix(kRows, kWidth - 1), kDouble);
  c = matrix_call();
  c.c = narrow.descriptor;
  expect(c, kInvalid);
  for (const int algorithm : {-1, 7, 14}) {
    c = matrix_call();
    c.algorithm = algorithm;
    expect(c, kInvalid);
  }
  for (const int algorithm : {1, 13}) {
    c = matrix_call();
    c.algorithm = algorithm;
    expect(c, kUnsupported);
  }
  c = matrix_call();
  c.compute = CUDA_R_32F;
  expect(c, kUnsupported);
  const Dense floats(Matrix(kColumns, kWidth), CUDA_R_32F);
  c = matrix_call();
  c.b = floats.descriptor;
  expect(c, kUnsupported);
  for (const auto format :
       {CUSPARSE_FORMAT_BSR, CUSPARSE_FORMAT_SLICED_ELLPACK}) {
    const Sparse other(values, {format});
    c = matrix_call();
    c.a = other.descriptor;
    expect(c, kUnsupported);
  }
  const Sparse ell(values, {CUSPARSE_FORMAT_BLOCKED_ELL});
  const Dense left(Matrix(kRows, kWidth), kDouble);
  const Dense product(Matrix(kColumns, kWidth), kDouble);
  c = matrix_call();
  c.a = ell.descriptor;
  expect(c, kGood);
  c.op_a = kTurn;
  c.b = left.descriptor;
  c.c = product.descriptor;
  expect(c, kUnsupported);
  // A batch for one result.
  const Sparse batches(values, {});
  ASSERT_EQ(cusparseCsrSetStridedBatch(batches.descriptor, 2, 0, 0), kGood);
  c = matrix_call();
  c.a = batches.descriptor;
  expect(c, kUnsupported);
}

} // namespace
} // namespace accelerator::sparse::testing
