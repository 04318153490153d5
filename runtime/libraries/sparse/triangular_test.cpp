// Solutions of sparse triangular systems, which are held against the product.
#include <cusparse.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/libraries/sparse/testing/matrices.h"
#include "runtime/libraries/sparse/testing/triangles.h"

namespace accelerator::sparse::testing {
namespace {

constexpr int kN = 6, kWidth = 2;

class TriangularTest : public SparseTest {
 protected:
  void SetUp() override {
    SparseTest::SetUp();
    ASSERT_EQ(cusparseSpSV_createDescr(&of_vector), kGood);
    ASSERT_EQ(cusparseSpSM_createDescr(&of_matrix), kGood);
  }
  void TearDown() override {
    EXPECT_EQ(cusparseSpSV_destroyDescr(of_vector), kGood);
    EXPECT_EQ(cusparseSpSM_destroyDescr(of_matrix), kGood);
    SparseTest::TearDown();
  }

  static void set_triangle(const Sparse& a, bool is_upper, bool is_unit) {
    auto fill = is_upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    auto diagonal =
        is_unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    ASSERT_EQ(
        cusparseSpMatSetAttribute(
            a.descriptor, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)),
        kGood);
    ASSERT_EQ(
        cusparseSpMatSetAttribute(
            a.descriptor,
            CUSPARSE_SPMAT_DIAG_TYPE,
            &diagonal,
            sizeof(diagonal)),
        kGood);
  }

  void solve_vector(
      cusparseOperation_t op,
      const Storage& storage,
      bool is_upper,
      bool is_unit) {
    const cudaDataType type = storage.type;
    const Matrix a = solvable_matrix(kN, type, 1);
    const Matrix wanted = full_matrix(kN, 1, type, 2);
    const Matrix b = apply(op, triangle_of(a, is_upper, is_unit)) * wanted;
    const Sparse matrix(a, storage);
    set_triangle(matrix, is_upper, is_unit);
    const Vector right(b.values, type);
    const Vector got(std::vector<Wide>(kN), type);
    const Number alpha(type, 2);
    std::size_t size = 0;
    ASSERT_EQ(
        cusparseSpSV_bufferSize(
            handle,
            op,
            alpha.get(),
            matrix.descriptor,
            right.descriptor,
            got.descriptor,
            type,
            CUSPARSE_SPSV_ALG_DEFAULT,
            of_vector,
            &size),
        kGood);
    ASSERT_GT(size, 0U);
    ASSERT_EQ(
        cusparseSpSV_analysis(
            handle,
            op,
            alpha.get(),
            matrix.descriptor,
            right.descriptor,
            got.descriptor,
            type,
            CUSPARSE_SPSV_ALG_DEFAULT,
            of_vector,
            work.get()),
        kGood);
    ASSERT_EQ(
        cusparseSpSV_solve(
            handle,
            op,
            alpha.get(),
            matrix.descriptor,
            right.descriptor,
            got.descriptor,
            type,
            CUSPARSE_SPSV_ALG_DEFAULT,
            of_vector),
        kGood);
    const std::vector<Wide> values = got.values.read();
    for (int i = 0; i < kN; ++i) {
      EXPECT_EQ(values[i], 2.0 * wanted(i, 0)) << i;
    }
  }

  void solve_matrix(
      cusparseOperation_t op_a,
      cusparseOperation_t op_b,
      const Storage& storage,
      cusparseOrder_t order,
      bool is_upper) {
    const cudaDataType type = storage.type;
    const Matrix a = solvable_matrix(kN, type, 3);
    const Matrix wanted = full_matrix(kN, kWidth, type, 4);
    const Matrix product =
        apply(op_a, triangle_of(a, is_upper, false)) * wanted;
    const Matrix b = apply(op_b, product);
    const Sparse matrix(a, storage);
    set_triangle(matrix, is_upper, false);
    const Dense right(b, type, order);
    const Dense got(Matrix(kN, kWidth), type, CUSPARSE_ORDER_ROW);
    const Number alpha(type, 1);
    std::size_t size = 0;
    ASSERT_EQ(
        cusparseSpSM_bufferSize(
            handle,
            op_a,
            op_b,
            alpha.get(),
            matrix.descriptor,
            right.descriptor,
            got.descriptor,
            type,
            CUSPARSE_SPSM_ALG_DEFAULT,
            of_matrix,
            &size),
        kGood);
    ASSERT_GT(size, 0U);
    ASSERT_EQ(
        cusparseSpSM_analysis(
            handle,
            op_a,
            op_b,
            alpha.get(),
            matrix.descriptor,
            right.descriptor,
            got.descriptor,
            type,
            CUSPARSE_SPSM_ALG_DEFAULT,
            of_matrix,
            work.get()),
        kGood);
    ASSERT_EQ(
        cusparseSpSM_solve(
            handle,
            op_a,
            op_b,
            alpha.get(),
            matrix.descriptor,
            right.descriptor,
            got.descriptor,
            type,
            CUSPARSE_SPSM_ALG_DEFAULT,
            of_matrix),
        kGood);
    expect_equal(got.read(), wanted);
  }

  cusparseSpSVDescr_t of_vector = nullptr;
  cusparseSpSMDescr_t of_matrix = nullptr;
};

TEST_F(TriangularTest, Vectors) {
  for (const cudaDataType type : kPlainTypes) {
    for (const auto format :
         {CUSPARSE_FORMAT_CSR,
          CUSPARSE_FORMAT_COO,
          CUSPARSE_FORMAT_SLICED_ELLPACK}) {
      for (const cusparseOperation_t op : kOperations) {
        for (const bool is_upper : {false, true}) {
          for (const bool is_unit : {false, true}) {
            SCOPED_TRACE(::testing::Message() << type << format << is_upper);
            solve_vector(
                op,
                {format, type, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ONE},
                is_upper,
                is_unit);
          }
        }
      }
    }
  }
}

TEST_F(TriangularTest, Matrices) {
  for (const cudaDataType type : kPlainTypes) {
    for (const cusparseOperation_t op_a : kOperations) {
      for (const cusparseOperation_t op_b : kOperations) {
        for (const auto order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
          SCOPED_TRACE(::testing::Message() << type << op_a << op_b << order);
          solve_matrix(op_a, op_b, {CUSPARSE_FORMAT_CSR, type}, order, false);
          solve_matrix(op_a, op_b, {CUSPARSE_FORMAT_COO, type}, order, true);
        }
      }
    }
  }
}

// A zero on the diagonal is no error, as on a GPU.
TEST_F(TriangularTest, SingularMatricesGiveInfinities) {
  Matrix a(2, 2);
  a(1, 0) = a(1, 1) = 1;
  const Sparse matrix(a, {});
  const Vector right({1, 1}, CUDA_R_64F), got({0, 0}, CUDA_R_64F);
  const double alpha = 1;
  for (const auto call : {0, 1}) {
    EXPECT_EQ(
        call == 0 ? cusparseSpSV_analysis(
                        handle,
                        kNone,
                        &alpha,
                        matrix.descriptor,
                        right.descriptor,
                        got.descriptor,
                        CUDA_R_64F,
                        CUSPARSE_SPSV_ALG_DEFAULT,
                        of_vector,
                        nullptr)
                  : cusparseSpSV_solve(
                        handle,
                        kNone,
                        &alpha,
                        matrix.descriptor,
                        right.descriptor,
                        got.descriptor,
                        CUDA_R_64F,
                        CUSPARSE_SPSV_ALG_DEFAULT,
                        of_vector),
        kGood);
  }
  EXPECT_TRUE(std::isinf(got.values.read()[0].real()));
}

// The values of the analysis count until they are replaced.
TEST_F(TriangularTest, ValuesCanBeReplaced) {
  Matrix a(2, 2);
  a(0, 0) = 2;
  a(1, 0) = 3;
  a(1, 1) = 4;
  const Sparse matrix(a, {});
  const Vector right({8, 8}, CUDA_R_64F), got({0, 0}, CUDA_R_64F);
  const Dense right_matrix(
      Matrix(std::vector<double>{8, 8}, 2, 1, 2), CUDA_R_64F);
  const Dense got_matrix(Matrix(2, 1), CUDA_R_64F);
  const double alpha = 1;
  const auto solve = [&] {
    EXPECT_EQ(
        cusparseSpSV_solve(
            handle,
            kNone,
            &alpha,
            matrix.descriptor,
            right.descriptor,
            got.descriptor,
            CUDA_R_64F,
            CUSPARSE_SPSV_ALG_DEFAULT,
            of_vector),
        kGood);
    EXPECT_EQ(
        cusparseSpSM_solve(
            handle,
            kNone,
            kNone,
            &alpha,
            matrix.descriptor,
            right_matrix.descriptor,
            got_matrix.descriptor,
            CUDA_R_64F,
            CUSPARSE_SPSM_ALG_DEFAULT,
            of_matrix),
        kGood);
    const std::vector<Wide> values = got.values.read();
    EXPECT_EQ(got_matrix.read().values, values);
    return values;
  };
  // Nothing can be solved, or replaced, before the analysis.
  EXPECT_EQ(
      cusparseSpSV_solve(
          handle,
          kNone,
          &alpha,
          matrix.descriptor,
          right.descriptor,
          got.descriptor,
          CUDA_R_64F,
          CUSPARSE_SPSV_ALG_DEFAULT,
          of_vector),
      kInvalid);
  EXPECT_EQ(
      cusparseSpSV_updateMatrix(
          handle, of_vector, matrix.values.get(), CUSPARSE_SPSV_UPDATE_GENERAL),
      kInvalid);
  ASSERT_EQ(
      cusparseSpSV_analysis(
          handle,
          kNone,
          &alpha,
          matrix.descriptor,
          right.descriptor,
          got.descriptor,
          CUDA_R_64F,
          CUSPARSE_SPSV_ALG_DEFAULT,
          of_vector,
          work.get()),
      kGood);
  ASSERT_EQ(
      cusparseSpSM_analysis(
          handle,
          kNone,
          kNone,
          &alpha,
          matrix.descriptor,
          right_matrix.descriptor,
          got_matrix.descriptor,
          CUDA_R_64F,
          CUSPARSE_SPSM_ALG_DEFAULT,
          of_matrix,
          work.get()),
      kGood);
  EXPECT_EQ(solve(), (std::vector<Wide>{4, -1}));
  const Values all(CUDA_R_64F, {1, 1, 2}), diagonal(CUDA_R_64F, {4, 1});
  EXPECT_EQ(
      cusparseSpSV_updateMatrix(
          handle, of_vector, all.get(), CUSPARSE_SPSV_UPDATE_GENERAL),
      kGood);
  EXPECT_EQ(
      cusparseSpSM_updateMatrix(
          handle, of_matrix, all.get(), CUSPARSE_SPSM_UPDATE_GENERAL),
      kGood);
  EXPECT_EQ(solve(), (std::vector<Wide>{8, 0}));
  EXPECT_EQ(
      cusparseSpSV_updateMatrix(
          handle, of_vector, diagonal.get(), CUSPARSE_SPSV_UPDATE_DIAGONAL),
      kGood);
  EXPECT_EQ(
      cusparseSpSM_updateMatrix(
          handle, of_matrix, diagonal.get(), CUSPARSE_SPSM_UPDATE_DIAGONAL),
      kGood);
  EXPECT_EQ(solve(), (std::vector<Wide>{2, 6}));
  EXPECT_EQ(
      cusparseSpSV_updateMatrix(
          handle, of_vector, nullptr, CUSPARSE_SPSV_UPDATE_GENERAL),
      kInvalid);
}

TEST_F(TriangularTest, WhatIsRefused) {
  const Matrix a = solvable_matrix(kN, CUDA_R_64F, 5);
  const double alpha = 1;
  const Vector right(std::vector<Wide>(kN, 1), CUDA_R_64F);
  const Vector other(std::vector<Wide>(kN - 1, 1), CUDA_R_64F);
  const auto answer = [&](const Sparse& matrix,
                          const Vector& b,
                          const Vector& x,
                          cudaDataType type,
                          cusparseSpSVDescr_t descriptor) {
    std::size_t size = 0;
    return cusparseSpSV_bufferSize(
        handle,
        kNone,
        &alpha,
        matrix.descriptor,
        b.descriptor,
        x.descriptor,
        type,
        CUSPARSE_SPSV_ALG_DEFAULT,
        descriptor,
        &size);
  };
  const Sparse good(a, {}), wide(sparse_matrix(4, 6, CUDA_R_64F, 6), {});
  const Sparse csc(a, {CUSPARSE_FORMAT_CSC});
  EXPECT_EQ(answer(good, right, right, CUDA_R_64F, of_vector), kGood);
  EXPECT_EQ(answer(good, right, right, CUDA_R_64F, nullptr), kInvalid);
  EXPECT_EQ(answer(good, other, right, CUDA_R_64F, of_vector), kInvalid);
  EXPECT_EQ(answer(good, right, other, CUDA_R_64F, of_vector), kInvalid);
  EXPECT_EQ(answer(wide, right, right, CUDA_R_64F, of_vector), kInvalid);
  EXPECT_EQ(answer(csc, right, right, CUDA_R_64F, of_vector), kUnsupported);
  EXPECT_EQ(answer(good, right, right, CUDA_R_32F, of_vector), kUnsupported);
  EXPECT_EQ(cusparseSpSV_createDescr(nullptr), kInvalid);
  EXPECT_EQ(cusparseSpSM_createDescr(nullptr), kInvalid);
  EXPECT_EQ(cusparseSpSV_destroyDescr(nullptr), kGood);
  EXPECT_EQ(cusparseSpSM_destroyDescr(nullptr), kGood);
}

} // namespace
} // namespace accelerator::sparse::testing
