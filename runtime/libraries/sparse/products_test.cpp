// Products of sparse matrices with dense vectors and matrices, against dense
// computations.
#include <cusparse.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

constexpr int kRows = 6, kColumns = 8, kWidth = 3;

/// The types of a matrix and what it is multiplied with, of results and of
/// scalars.
struct TypesOfProducts {
  cudaDataType input, result, compute;
};

constexpr TypesOfProducts kTypes[] = {
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
    {CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
    {CUDA_C_16F, CUDA_C_16F, CUDA_C_32F},
    {CUDA_C_16BF, CUDA_C_16BF, CUDA_C_32F},
    {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I},
    {CUDA_R_8I, CUDA_R_32F, CUDA_R_32F},
};

class ProductTest : public SparseTest {
 protected:
  void multiply_vector(
      cusparseOperation_t op,
      const Storage& storage,
      const TypesOfProducts& types,
      Wide beta) {
    const Matrix a = sparse_matrix(kRows, kColumns, storage.type, 1, 2);
    const Matrix applied = apply(op, a);
    const Matrix x = full_matrix(applied.columns, 1, types.input, 2);
    const Matrix y = full_matrix(applied.rows, 1, types.result, 3);
    const Sparse left(a, storage);
    const Vector right(x.values, types.input), result(y.values, types.result);
    const Wide alpha = is_complex(types.compute) ? Wide(2, -1) : Wide(2);
    const Number first(types.compute, alpha), second(types.compute, beta);
    std::size_t size = 0;
    ASSERT_EQ(
        cusparseSpMV_bufferSize(
            handle,
            op,
            first.get(),
            left.descriptor,
            right.descriptor,
            second.get(),
            result.descriptor,
            types.compute,
            CUSPARSE_SPMV_ALG_DEFAULT,
            &size),
        kGood);
    ASSERT_GT(size, 0U);
    ASSERT_LE(size, sizeof(double) * 64);
    ASSERT_EQ(
        cusparseSpMV_preprocess(
            handle,
            op,
            first.get(),
            left.descriptor,
            right.descriptor,
            second.get(),
            result.descriptor,
            types.compute,
            CUSPARSE_SPMV_ALG_DEFAULT,
            work.get()),
        kGood);
    ASSERT_EQ(
        cusparseSpMV(
            handle,
            op,
            first.get(),
            left.descriptor,
            right.descriptor,
            second.get(),
            result.descriptor,
            types.compute,
            CUSPARSE_SPMV_ALG_DEFAULT,
            work.get()),
        kGood);
    Matrix wanted = applied * x;
    for (int i = 0; i < wanted.rows; ++i) {
      wanted(i, 0) = alpha * wanted(i, 0) + beta * y(i, 0);
    }
    EXPECT_EQ(result.values.read(), wanted.values);
  }

  void multiply_matrix(
      cusparseOperation_t op_a,
      cusparseOperation_t op_b,
      const Storage& storage,
      cusparseOrder_t order_b,
      cusparseOrder_t order_c,
      const TypesOfProducts& types,
      cusparseSpMMAlg_t algorithm = CUSPARSE_SPMM_ALG_DEFAULT) {
    const Matrix a = sparse_matrix(kRows, kColumns, storage.type, 4, 2);
    const Matrix applied = apply(op_a, a);
    const Matrix b = op_b == kNone
        ? full_matrix(applied.columns, kWidth, types.input, 5)
        : full_matrix(kWidth, applied.columns, types.input, 5);
    const Matrix c = full_matrix(applied.rows, kWidth, types.result, 6);
    const Sparse left(a, storage);
    const Dense right(b, types.input, order_b),
        result(c, types.result, order_c);
    const Wide alpha = is_complex(types.compute) ? Wide(2, -1) : Wide(2);
    const Wide beta = is_complex(types.compute) ? Wide(1, 1) : Wide(-1);
    const Number first(types.compute, alpha), second(types.compute, beta);
    std::size_t size = 0;
    ASSERT_EQ(
        cusparseSpMM_bufferSize(
            handle,
            op_a,
            op_b,
            first.get(),
            left.descriptor,
            right.descriptor,
            second.get(),
            result.descriptor,
            types.compute,
            algorithm,
            &size),
        kGood);
    ASSERT_GT(size, 0U);
    ASSERT_EQ(
        cusparseSpMM_preprocess(
            handle,
            op_a,
            op_b,
            first.get(),
            left.descriptor,
            right.descriptor,
            second.get(),
            result.descriptor,
            types.compute,
            algorithm,
            work.get()),
        kGood);
    ASSERT_EQ(
        cusparseSpMM(
            handle,
            op_a,
            op_b,
            first.get(),
            left.descriptor,
            right.descriptor,
            second.get(),
            result.descriptor,
            types.compute,
            algorithm,
            work.get()),
        kGood);
    Matrix wanted = applied * apply(op_b, b);
    for (std::size_t i = 0; i < wanted.values.size(); ++i) {
      wanted.values[i] = alpha * wanted.values[i] + beta * c.values[i];
    }
    expect_equal(result.read(), wanted);
  }
};

constexpr cusparseFormat_t kVectorFormats[] = {
    CUSPARSE_FORMAT_CSR,
    CUSPARSE_FORMAT_CSC,
    CUSPARSE_FORMAT_COO,
    CUSPARSE_FORMAT_SLICED_ELLPACK};

TEST_F(ProductTest, VectorsOfAllTypes) {
  for (const TypesOfProducts& types : kTypes) {
    for (const cusparseFormat_t format : kVectorFormats) {
      for (const cusparseOperation_t op : kOperations) {
        SCOPED_TRACE(::testing::Message() << types.input << " " << format);
        multiply_vector(op, {format, types.input}, types, 0);
        multiply_vector(op, {format, types.input}, types, 3);
      }
    }
  }
}

TEST_F(ProductTest, RealMatricesWithComplexVectors) {
  constexpr TypesOfProducts kSingle{CUDA_C_32F, CUDA_C_32F, CUDA_C_32F};
  constexpr TypesOfProducts kDouble{CUDA_C_64F, CUDA_C_64F, CUDA_C_64F};
  for (const cusparseOperation_t op : kOperations) {
    multiply_vector(op, {CUSPARSE_FORMAT_CSR, CUDA_R_32F}, kSingle, 1);
    multiply_vector(op, {CUSPARSE_FORMAT_COO, CUDA_R_64F}, kDouble, 1);
  }
}

TEST_F(ProductTest, IndicesOfAllKinds) {
  constexpr TypesOfProducts kDouble{CUDA_R_64F, CUDA_R_64F, CUDA_R_64F};
  for (const auto format : kVectorFormats) {
    for (const auto index : {CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I}) {
      for (const auto base :
           {CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE}) {
        SCOPED_TRACE(::testing::Message() << format << index << base);
        multiply_vector(kNone, {format, CUDA_R_64F, index, base}, kDouble, 0);
        // Slices of which the last one has fewer rows than the others.
        multiply_vector(
            kTurn, {format, CUDA_R_64F, index, base, 4}, kDouble, 0);
      }
    }
  }
}

constexpr cusparseFormat_t kMatrixFormats[] = {
    CUSPARSE_FORMAT_CSR,
    CUSPARSE_FORMAT_CSC,
    CUSPARSE_FORMAT_COO,
    CUSPARSE_FORMAT_BLOCKED_ELL};

TEST_F(ProductTest, MatricesOfAllTypes) {
  for (const TypesOfProducts& types : kTypes) {
    for (const cusparseFormat_t format : kMatrixFormats) {
      SCOPED_TRACE(::testing::Message() << types.input << " " << format);
      multiply_matrix(
          kNone,
          kNone,
          {format, types.input},
          CUSPARSE_ORDER_COL,
          CUSPARSE_ORDER_ROW,
          types);
    }
  }
}

TEST_F(ProductTest, MatricesInAllWays) {
  for (const cudaDataType type : kPlainTypes) {
    for (const cusparseFormat_t format : kMatrixFormats) {
      for (const cusparseOperation_t op_a : kOperations) {
        if (format == CUSPARSE_FORMAT_BLOCKED_ELL && op_a != kNone) {
          continue;
        }
        for (const cusparseOperation_t op_b : kOperations) {
          for (const auto order_b : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
            for (const auto order_c :
                 {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
              SCOPED_TRACE(::testing::Message() << type << " " << format);
              multiply_matrix(
                  op_a,
                  op_b,
                  {format, type, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ONE},
                  order_b,
                  order_c,
                  {type, type, type});
            }
          }
        }
      }
    }
  }
}

TEST_F(ProductTest, Algorithms) {
  const auto run = [this](cusparseFormat_t format, int algorithm) {
    multiply_matrix(
        kNone,
        kNone,
        {format},
        CUSPARSE_ORDER_ROW,
        CUSPARSE_ORDER_ROW,
        {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
        static_cast<cusparseSpMMAlg_t>(algorithm));
  };
  for (const int algorithm : {0, 4, 6, 12}) {
    run(CUSPARSE_FORMAT_CSR, algorithm);
  }
  for (const int algorithm : {0, 1, 2, 3, 5}) {
    run(CUSPARSE_FORMAT_COO, algorithm);
  }
  run(CUSPARSE_FORMAT_BLOCKED_ELL, 13);
}

// With beta = 0 the old result does not count, whatever it is.
TEST_F(ProductTest, OldResultsAreNotRead) {
  const Sparse a(sparse_matrix(4, 4, CUDA_R_64F, 9), {});
  const Vector x(std::vector<Wide>(4, 1), CUDA_R_64F);
  const Vector y(std::vector<Wide>(4, NAN), CUDA_R_64F);
  const double alpha = 1, beta = 0;
  ASSERT_EQ(
      cusparseSpMV(
          handle,
          kNone,
          &alpha,
          a.descriptor,
          x.descriptor,
          &beta,
          y.descriptor,
          CUDA_R_64F,
          CUSPARSE_SPMV_ALG_DEFAULT,
          nullptr),
      kGood);
  for (const Wide value : y.values.read()) {
    EXPECT_FALSE(std::isnan(value.real()));
  }
}

// 2049 is no number of float16: sums are rounded once, at the end.
TEST_F(ProductTest, SmallTypesAreRoundedOnce) {
  Matrix a(1, 3);
  a.values = {2048, 1, 1};
  const Sparse left(a, {CUSPARSE_FORMAT_CSR, CUDA_R_16F});
  const Vector x(std::vector<Wide>(3, 1), CUDA_R_16F);
  const Vector y(std::vector<Wide>(1), CUDA_R_16F);
  const float alpha = 1, beta = 0;
  ASSERT_EQ(
      cusparseSpMV(
          handle,
          kNone,
          &alpha,
          left.descriptor,
          x.descriptor,
          &beta,
          y.descriptor,
          CUDA_R_32F,
          CUSPARSE_SPMV_ALG_DEFAULT,
          nullptr),
      kGood);
  EXPECT_EQ(y.values.read()[0], Wide(2050));
}

// Without entries, and without rows or columns, arrays may be null pointers.
TEST_F(ProductTest, NothingAtAll) {
  const double alpha = 1, beta = 2;
  for (const int columns : {0, 5}) {
    cusparseSpMatDescr_t a = nullptr;
    ASSERT_EQ(
        cusparseCreateCsr(
            &a,
            2,
            columns,
            0,
            nullptr,
            nullptr,
            nullptr,
            CUSPARSE_INDEX_32I,
            CUSPARSE_INDEX_32I,
            CUSPARSE_INDEX_BASE_ZERO,
            CUDA_R_64F),
        kGood);
    const Vector x(std::vector<Wide>(columns, 1), CUDA_R_64F);
    const Vector y({3, 4}, CUDA_R_64F);
    ASSERT_EQ(
        cusparseSpMV(
            handle,
            kNone,
            &alpha,
            a,
            x.descriptor,
            &beta,
            y.descriptor,
            CUDA_R_64F,
            CUSPARSE_SPMV_ALG_DEFAULT,
            nullptr),
        kGood);
    EXPECT_EQ(y.values.read(), (std::vector<Wide>{6, 8}));
    EXPECT_EQ(cusparseDestroySpMat(a), kGood);
  }
}

} // namespace
} // namespace accelerator::sparse::testing
