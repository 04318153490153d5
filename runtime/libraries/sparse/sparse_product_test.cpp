// Products of two sparse matrices, and those whose structure stays.
#include <cusparse.h>
#include <gtest/gtest.h>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

constexpr int kRows = 5, kInner = 6, kColumns = 4;
constexpr auto kDefault = CUSPARSE_SPGEMM_DEFAULT;

class SparseProductTest : public SparseTest {
 protected:
  void SetUp() override {
    SparseTest::SetUp();
    ASSERT_EQ(cusparseSpGEMM_createDescr(&descriptor), kGood);
  }
  void TearDown() override {
    EXPECT_EQ(cusparseSpGEMM_destroyDescr(descriptor), kGood);
    SparseTest::TearDown();
  }

  /// A result whose arrays come later.
  cusparseSpMatDescr_t empty_result(cudaDataType type) {
    cusparseSpMatDescr_t c = nullptr;
    EXPECT_EQ(
        cusparseCreateCsr(
            &c,
            kRows,
            kColumns,
            0,
            nullptr,
            nullptr,
            nullptr,
            CUSPARSE_INDEX_32I,
            CUSPARSE_INDEX_32I,
            CUSPARSE_INDEX_BASE_ZERO,
            type),
        kGood);
    return c;
  }
  /// The entries that a result has.
  static std::int64_t nnz_of(cusparseSpMatDescr_t c) {
    std::int64_t rows = 0, columns = 0, nnz = 0;
    EXPECT_EQ(cusparseSpMatGetSize(c, &rows, &columns, &nnz), kGood);
    return nnz;
  }
  /// One where a matrix is not zero.
  static Matrix marks(const Matrix& matrix) {
    Matrix result(matrix.rows, matrix.columns);
    for (std::size_t i = 0; i < matrix.values.size(); ++i) {
      result.values[i] = matrix.values[i] == 0.0 ? 0 : 1;
    }
    return result;
  }
  /// Where a product can have something, be it zero, as a dense matrix.
  static Matrix structure_of(const Matrix& a, const Matrix& b) {
    return marks(marks(a) * marks(b));
  }
  static double count(const Matrix& structure) {
    double sum = 0;
    for (const Wide value : structure.values) {
      sum += value.real();
    }
    return sum;
  }
  /// That arrays are those of a product.
  static void expect_product(
      const std::vector<int>& offsets,
      const std::vector<int>& columns,
      const std::vector<Wide>& values,
      const Matrix& structure,
      const Matrix& wanted) {
    std::size_t k = 0;
    for (int i = 0; i < structure.rows; ++i) {
      EXPECT_EQ(offsets[i], static_cast<int>(k));
      for (int j = 0; j < structure.columns; ++j) {
        if (structure(i, j) != 0.0) {
          ASSERT_LT(k, columns.size());
          EXPECT_EQ(columns[k], j);
          EXPECT_EQ(values[k], wanted(i, j)) << i << " " << j;
          ++k;
        }
      }
    }
    EXPECT_EQ(offsets.back(), static_cast<int>(k));
  }

  template <typename Function>
  cusparseStatus_t call(
      Function function,
      const Sparse& a,
      const Sparse& b,
      cusparseSpMatDescr_t c,
      cudaDataType type,
      std::size_t* size,
      void* buffer) {
    const Number alpha(type, 2), beta(type, 0);
    return function(
        handle,
        kNone,
        kNone,
        alpha.get(),
        a.descriptor,
        b.descriptor,
        beta.get(),
        c,
        type,
        kDefault,
        descriptor,
        size,
        buffer);
  }

  cusparseSpGEMMDescr_t descriptor = nullptr;
};

TEST_F(SparseProductTest, AllTypes) {
  for (const cudaDataType type :
       {CUDA_R_16F,
        CUDA_R_16BF,
        CUDA_R_32F,
        CUDA_R_64F,
        CUDA_C_32F,
        CUDA_C_64F}) {
    SCOPED_TRACE(type);
    const Matrix first = sparse_matrix(kRows, kInner, type, 1);
    const Matrix second = sparse_matrix(kInner, kColumns, type, 2);
    const Sparse a(first, {CUSPARSE_FORMAT_CSR, type});
    const Sparse b(
        second,
        {CUSPARSE_FORMAT_CSR,
         type,
         CUSPARSE_INDEX_32I,
         CUSPARSE_INDEX_BASE_ONE});
    const cusparseSpMatDescr_t c = empty_result(type);
    std::size_t size = 0;
    for (void* const buffer : {static_cast<void*>(nullptr), work.get<void>()}) {
      ASSERT_EQ(
          call(cusparseSpGEMM_workEstimation, a, b, c, type, &size, buffer),
          kGood);
      ASSERT_GT(size, 0U);
    }
    std::int64_t products = 0;
    EXPECT_EQ(cusparseSpGEMM_getNumProducts(descriptor, &products), kGood);
    EXPECT_EQ(
        static_cast<double>(products), count(marks(first) * marks(second)));
    size = 0;
    for (void* const buffer : {static_cast<void*>(nullptr), work.get<void>()}) {
      EXPECT_EQ(nnz_of(c), 0);
      ASSERT_EQ(
          call(cusparseSpGEMM_compute, a, b, c, type, &size, buffer), kGood);
      ASSERT_GT(size, 0U);
    }
    const Matrix structure = structure_of(first, second);
    const auto nnz = static_cast<std::size_t>(nnz_of(c));
    ASSERT_EQ(nnz, static_cast<std::size_t>(count(structure)));
    const Array<int> offsets{std::vector<int>(kRows + 1, -1)};
    const Array<int> columns{std::vector<int>(nnz, -1)};
    const Values values(type, std::vector<Wide>(nnz, 5));
    ASSERT_EQ(
        cusparseCsrSetPointers(
            c, offsets.get<void>(), columns.get<void>(), values.get()),
        kGood);
    const Number alpha(type, 2), beta(type, 1);
    ASSERT_EQ(
        cusparseSpGEMM_copy(
            handle,
            kNone,
            kNone,
            alpha.get(),
            a.descriptor,
            b.descriptor,
            beta.get(),
            c,
            type,
            kDefault,
            descriptor),
        kGood);
    Matrix wanted = first * second;
    for (Wide& value : wanted.values) {
      value = 2.0 * value + 5.0;
    }
    expect_product(
        offsets.values(), columns.values(), values.read(), structure, wanted);
    EXPECT_EQ(cusparseDestroySpMat(c), kGood);
  }
}

TEST_F(SparseProductTest, StructuresCanBeUsedAgain) {
  constexpr auto kType = CUDA_R_64F;
  const Matrix first = sparse_matrix(kRows, kInner, kType, 3);
  const Matrix second = sparse_matrix(kInner, kColumns, kType, 4);
  const Sparse a(first, {}), b(second, {});
  const cusparseSpMatDescr_t c = empty_result(kType);
  std::size_t sizes[5] = {};
  void* const room = work.get();
  for (void* const buffer : {static_cast<void*>(nullptr), room}) {
    ASSERT_EQ(
        cusparseSpGEMMreuse_workEstimation(
            handle,
            kNone,
            kNone,
            a.descriptor,
            b.descriptor,
            c,
            kDefault,
            descriptor,
            &sizes[0],
            buffer),
        kGood);
    ASSERT_EQ(
        cusparseSpGEMMreuse_nnz(
            handle,
            kNone,
            kNone,
            a.descriptor,
            b.descriptor,
            c,
            kDefault,
            descriptor,
            &sizes[1],
            buffer,
            &sizes[2],
            buffer,
            &sizes[3],
            buffer),
        kGood);
  }
  const Matrix structure = structure_of(first, second);
  const auto nnz = static_cast<std::size_t>(nnz_of(c));
  ASSERT_EQ(nnz, static_cast<std::size_t>(count(structure)));
  const Array<int> offsets{std::vector<int>(kRows + 1, -1)};
  const Array<int> columns{std::vector<int>(nnz, -1)};
  const Values values(kType, std::vector<Wide>(nnz, 5));
  ASSERT_EQ(
      cusparseCsrSetPointers(
          c, offsets.get<void>(), columns.get<void>(), values.get()),
      kGood);
  for (void* const buffer : {static_cast<void*>(nullptr), room}) {
    ASSERT_EQ(
        cusparseSpGEMMreuse_copy(
            handle,
            kNone,
            kNone,
            a.descriptor,
            b.descriptor,
            c,
            kDefault,
            descriptor,
            &sizes[4],
            buffer),
        kGood);
  }
  for (const std::size_t size : sizes) {
    EXPECT_GT(size, 0U);
  }
  const double alpha = 1, beta = 0;
  Matrix left = first;
  for (const double factor : {1.0, -3.0}) {
    for (std::size_t i = 0; i < left.values.size(); ++i) {
      left.values[i] = factor * first.values[i];
    }
    std::vector<double> changed;
    for (const Wide value : a.arrays.values) {
      changed.push_back(factor * value.real());
    }
    ASSERT_EQ(
        cudaMemcpy(
            a.values.get(),
            changed.data(),
            changed.size() * sizeof(double),
            cudaMemcpyHostToDevice),
        cudaSuccess);
    ASSERT_EQ(
        cusparseSpGEMMreuse_compute(
            handle,
            kNone,
            kNone,
            &alpha,
            a.descriptor,
            b.descriptor,
            &beta,
            c,
            kType,
            kDefault,
            descriptor),
        kGood);
    expect_product(
        offsets.values(),
        columns.values(),
        values.read(),
        structure,
        left * second);
  }
  EXPECT_EQ(cusparseDestroySpMat(c), kGood);
}

TEST_F(SparseProductTest, WhatIsRefused) {
  constexpr auto kType = CUDA_R_64F;
  const Matrix first = sparse_matrix(kRows, kInner, kType, 5);
  const Matrix second = sparse_matrix(kInner, kColumns, kType, 6);
  const Sparse a(first, {}), b(second, {});
  const Sparse wide(second, {CUSPARSE_FORMAT_CSR, kType, CUSPARSE_INDEX_64I});
  const Sparse csc(second, {CUSPARSE_FORMAT_CSC});
  const cusparseSpMatDescr_t c = empty_result(kType);
  std::size_t size = 0;
  const auto estimate = [&](const Sparse& left, const Sparse& right) {
    return call(
        cusparseSpGEMM_workEstimation, left, right, c, kType, &size, nullptr);
  };
  EXPECT_EQ(estimate(a, b), kGood);
  EXPECT_EQ(estimate(b, a), kInvalid);
  EXPECT_EQ(estimate(a, wide), kUnsupported);
  EXPECT_EQ(estimate(a, csc), kUnsupported);
  EXPECT_EQ(
      call(cusparseSpGEMM_compute, a, b, c, CUDA_R_32F, &size, nullptr),
      kUnsupported);
  EXPECT_EQ(
      call(cusparseSpGEMM_compute, a, b, c, kType, nullptr, nullptr), kInvalid);
  const double alpha = 1, beta = 0;
  std::size_t other = 0;
  const auto estimate_memory = [&](auto algorithm, float fraction, void* room) {
    return cusparseSpGEMM_estimateMemory(
        handle,
        kNone,
        kNone,
        &alpha,
        a.descriptor,
        b.descriptor,
        &beta,
        c,
        kType,
        algorithm,
        descriptor,
        fraction,
        &size,
        room,
        &other);
  };
  size = 0;
  EXPECT_EQ(estimate_memory(CUSPARSE_SPGEMM_ALG3, 0.5F, nullptr), kGood);
  EXPECT_GT(size, 0U);
  EXPECT_EQ(
      estimate_memory(CUSPARSE_SPGEMM_ALG2, 0.5F, work.get<void>()), kGood);
  EXPECT_GT(other, 0U);
  EXPECT_EQ(estimate_memory(kDefault, 0.5F, nullptr), kUnsupported);
  EXPECT_EQ(estimate_memory(CUSPARSE_SPGEMM_ALG2, 0, nullptr), kInvalid);
  // Nothing has been computed that could be copied.
  EXPECT_EQ(
      cusparseSpGEMM_copy(
          handle,
          kNone,
          kNone,
          &alpha,
          a.descriptor,
          b.descriptor,
          &beta,
          c,
          kType,
          kDefault,
          descriptor),
      kInvalid);
  EXPECT_EQ(
      cusparseSpGEMM_copy(
          handle,
          kTurn,
          kNone,
          &alpha,
          a.descriptor,
          b.descriptor,
          &beta,
          c,
          kType,
          kDefault,
          descriptor),
      kUnsupported);
  EXPECT_EQ(cusparseSpGEMM_createDescr(nullptr), kInvalid);
  EXPECT_EQ(cusparseSpGEMM_destroyDescr(nullptr), kGood);
  std::int64_t products = 0;
  EXPECT_EQ(cusparseSpGEMM_getNumProducts(nullptr, &products), kInvalid);
  EXPECT_EQ(cusparseSpGEMM_getNumProducts(descriptor, nullptr), kInvalid);
  EXPECT_EQ(cusparseDestroySpMat(c), kGood);
}

} // namespace
} // namespace accelerator::sparse::testing
