// Descriptors of vectors, dense matrices and matrices of blocks, as
// runtime/libraries/sparse/descriptors/sparse_matrix_test.cpp has the others.
#include <cusparse.h>
#include <gtest/gtest.h>

#include "runtime/libraries/sparse/testing/places.h"

namespace accelerator::sparse::testing {
namespace {

TEST(Blocks, HaveToFit) {
  const auto bsr = [](int blocks, int rows, int columns, auto order) {
    return make_matrix(
        cusparseCreateBsr,
        4,
        5,
        blocks,
        rows,
        columns,
        p,
        q,
        r,
        kNarrow,
        kNarrow,
        kZero,
        kFloat,
        order);
  };
  EXPECT_EQ(bsr(6, 2, 2, kByRows), kGood);
  EXPECT_EQ(bsr(6, 1, 1, kByColumns), kGood);
  EXPECT_EQ(bsr(21, 2, 2, kByRows), kInvalid);
  EXPECT_EQ(bsr(6, 2, 3, kByRows), kInvalid);
  EXPECT_EQ(bsr(6, 0, 0, kByRows), kInvalid);
  EXPECT_EQ(bsr(6, 2, 2, static_cast<cusparseOrder_t>(0)), kInvalid);
  cusparseSpMatDescr_t matrix = nullptr;
  ASSERT_EQ(
      cusparseCreateBsr(
          &matrix,
          4,
          5,
          6,
          2,
          2,
          p,
          q,
          r,
          kNarrow,
          kNarrow,
          kZero,
          kFloat,
          kByRows),
      kGood);
  std::int64_t rows = 0, columns = 0, nnz = 0;
  EXPECT_EQ(cusparseSpMatGetSize(matrix, &rows, &columns, &nnz), kGood);
  EXPECT_EQ(
      (std::vector{rows, columns, nnz}),
      (std::vector<std::int64_t>{8, 10, 24}));
  EXPECT_EQ(cusparseDestroySpMat(matrix), kGood);
  const auto ell = [](int rows_, int columns_, int block, int ell_columns) {
    return make_matrix(
        cusparseCreateBlockedEll,
        rows_,
        columns_,
        block,
        ell_columns,
        p,
        q,
        kNarrow,
        kZero,
        kFloat);
  };
  EXPECT_EQ(ell(8, 8, 2, 4), kGood);
  EXPECT_EQ(ell(8, 8, 0, 0), kGood);
  EXPECT_EQ(ell(9, 8, 2, 4), kInvalid);
  EXPECT_EQ(ell(8, 9, 2, 4), kInvalid);
  EXPECT_EQ(ell(8, 8, 2, 3), kInvalid);
  EXPECT_EQ(ell(8, 8, 2, 10), kInvalid);
  EXPECT_EQ(ell(8, 8, 0, 4), kInvalid);
  EXPECT_EQ(ell(8, 8, 16, 0), kInvalid);
  const auto sliced = [](int size, int slice, auto type) {
    return make_matrix(
        cusparseCreateSlicedEll,
        8,
        8,
        10,
        size,
        slice,
        p,
        q,
        r,
        kNarrow,
        type,
        kZero,
        kFloat);
  };
  EXPECT_EQ(sliced(16, 2, kNarrow), kGood);
  EXPECT_EQ(sliced(16, 2, kWide), kUnsupported);
  EXPECT_EQ(sliced(9, 2, kNarrow), kInvalid);
  EXPECT_EQ(sliced(16, 9, kNarrow), kInvalid);
  EXPECT_EQ(sliced(16, -1, kNarrow), kInvalid);
}

template <typename Descriptor, typename Pointer, typename Get>
void expect_told_of_ell(Descriptor matrix, Get get) {
  std::int64_t rows = 0, columns = 0, block = 0, across = 0;
  Pointer first = nullptr, second = nullptr;
  auto index_type = kWide;
  auto base = kZero;
  auto type = CUDA_R_8I;
  EXPECT_EQ(
      get(matrix,
          &rows,
          &columns,
          &block,
          &across,
          &first,
          &second,
          &index_type,
          &base,
          &type),
      kGood);
  EXPECT_EQ(
      (std::vector{rows, columns, block, across}),
      (std::vector<std::int64_t>{8, 6, 2, 4}));
  EXPECT_EQ(first, p);
  EXPECT_EQ(second, q);
  EXPECT_EQ(index_type, kNarrow);
  EXPECT_EQ(base, kOne);
  EXPECT_EQ(type, kFloat);
}

TEST(Blocks, AreTold) {
  cusparseSpMatDescr_t matrix = nullptr;
  ASSERT_EQ(
      cusparseCreateBlockedEll(
          &matrix, 8, 6, 2, 4, p, q, kNarrow, kOne, kFloat),
      kGood);
  expect_told_of_ell<cusparseSpMatDescr_t, void*>(
      matrix, cusparseBlockedEllGet);
  expect_told_of_ell<cusparseConstSpMatDescr_t, const void*>(
      matrix, cusparseConstBlockedEllGet);
  EXPECT_EQ(cusparseDestroySpMat(matrix), kGood);
}

TEST(DenseMatrices, TellWhatTheyAre) {
  const auto make_dense = [](int rows, int columns, int leading, auto order) {
    return make<cusparseDnMatDescr_t>(
        cusparseDestroyDnMat,
        cusparseCreateDnMat,
        rows,
        columns,
        leading,
        p,
        kFloat,
        order);
  };
  EXPECT_EQ(make_dense(4, 5, 4, kByColumns), kGood);
  EXPECT_EQ(make_dense(4, 5, 3, kByColumns), kInvalid);
  EXPECT_EQ(make_dense(4, 5, 4, kByRows), kInvalid);
  EXPECT_EQ(make_dense(4, 5, 5, kByRows), kGood);
  EXPECT_EQ(make_dense(0, 0, 0, kByRows), kGood);
  EXPECT_EQ(make_dense(-4, 5, 5, kByRows), kInvalid);
  EXPECT_EQ(make_dense(4, 5, 5, static_cast<cusparseOrder_t>(0)), kInvalid);
  for (const bool is_constant : {false, true}) {
    cusparseDnMatDescr_t matrix = nullptr;
    cusparseConstDnMatDescr_t constant = nullptr;
    ASSERT_EQ(
        is_constant
            ? cusparseCreateConstDnMat(&constant, 4, 5, 6, p, kFloat, kByRows)
            : cusparseCreateDnMat(&matrix, 4, 5, 6, p, kFloat, kByRows),
        kGood);
    matrix = is_constant ? const_cast<cusparseDnMatDescr_t>(constant) : matrix;
    std::int64_t rows = 0, columns = 0, leading = 0;
    void* values = nullptr;
    const void* fixed = nullptr;
    auto type = CUDA_R_8I;
    auto order = kByColumns;
    EXPECT_EQ(
        is_constant
            ? cusparseConstDnMatGet(
                  matrix, &rows, &columns, &leading, &fixed, &type, &order)
            : cusparseDnMatGet(
                  matrix, &rows, &columns, &leading, &values, &type, &order),
        kGood);
    EXPECT_EQ(
        (std::vector{rows, columns, leading}),
        (std::vector<std::int64_t>{4, 5, 6}));
    EXPECT_EQ(is_constant ? fixed : values, p);
    EXPECT_EQ(type, kFloat);
    EXPECT_EQ(order, kByRows);
    EXPECT_EQ(cusparseDnMatSetValues(matrix, q), kGood);
    EXPECT_EQ(cusparseDnMatGetValues(matrix, &values), kGood);
    EXPECT_EQ(values, q);
    EXPECT_EQ(cusparseConstDnMatGetValues(matrix, &fixed), kGood);
    EXPECT_EQ(fixed, q);
    EXPECT_EQ(cusparseDnMatSetValues(matrix, odd), kInvalid);
    int batches = 0;
    std::int64_t stride = 0;
    EXPECT_EQ(cusparseDnMatSetStridedBatch(matrix, 2, 24), kGood);
    EXPECT_EQ(cusparseDnMatGetStridedBatch(matrix, &batches, &stride), kGood);
    EXPECT_EQ(batches, 2);
    EXPECT_EQ(stride, 24);
    EXPECT_EQ(cusparseDnMatSetStridedBatch(matrix, 2, 0), kGood);
    EXPECT_EQ(cusparseDnMatSetStridedBatch(matrix, 2, 23), kInvalid);
    EXPECT_EQ(cusparseDnMatSetStridedBatch(matrix, 0, 24), kInvalid);
    EXPECT_EQ(cusparseDnMatGetStridedBatch(matrix, nullptr, &stride), kInvalid);
    EXPECT_EQ(cusparseDestroyDnMat(matrix), kGood);
  }
  EXPECT_EQ(cusparseDestroyDnMat(nullptr), kGood);
}

TEST(Vectors, TellWhatTheyAre) {
  for (const bool is_constant : {false, true}) {
    cusparseDnVecDescr_t vector = nullptr;
    cusparseConstDnVecDescr_t constant = nullptr;
    ASSERT_EQ(
        is_constant ? cusparseCreateConstDnVec(&constant, 5, p, kFloat)
                    : cusparseCreateDnVec(&vector, 5, p, kFloat),
        kGood);
    vector = is_constant ? const_cast<cusparseDnVecDescr_t>(constant) : vector;
    std::int64_t size = 0;
    void* values = nullptr;
    const void* fixed = nullptr;
    auto type = CUDA_R_8I;
    EXPECT_EQ(
        is_constant ? cusparseConstDnVecGet(vector, &size, &fixed, &type)
                    : cusparseDnVecGet(vector, &size, &values, &type),
        kGood);
    EXPECT_EQ(size, 5);
    EXPECT_EQ(is_constant ? fixed : values, p);
    EXPECT_EQ(type, kFloat);
    EXPECT_EQ(cusparseDnVecSetValues(vector, q), kGood);
    EXPECT_EQ(cusparseDnVecGetValues(vector, &values), kGood);
    EXPECT_EQ(values, q);
    EXPECT_EQ(cusparseConstDnVecGetValues(vector, &fixed), kGood);
    EXPECT_EQ(fixed, q);
    EXPECT_EQ(cusparseDnVecSetValues(vector, nullptr), kGood);
    EXPECT_EQ(cusparseDnVecSetValues(vector, odd), kInvalid);
    EXPECT_EQ(cusparseDnVecGetValues(vector, nullptr), kInvalid);
    EXPECT_EQ(cusparseDestroyDnVec(vector), kGood);
  }
  cusparseDnVecDescr_t none = nullptr;
  EXPECT_EQ(cusparseCreateDnVec(&none, -5, p, kFloat), kInvalid);
  EXPECT_EQ(cusparseCreateDnVec(nullptr, 5, p, kFloat), kInvalid);
  EXPECT_EQ(cusparseDestroyDnVec(nullptr), kGood);
}

TEST(SparseVectors, TellWhatTheyAre) {
  const auto make_vector = [](int size, int nnz, void* indices) {
    return make<cusparseSpVecDescr_t>(
        cusparseDestroySpVec,
        cusparseCreateSpVec,
        size,
        nnz,
        indices,
        p,
        kNarrow,
        kZero,
        kFloat);
  };
  EXPECT_EQ(make_vector(5, 5, p), kGood);
  EXPECT_EQ(make_vector(5, 6, p), kInvalid);
  EXPECT_EQ(make_vector(-1, 0, p), kInvalid);
  EXPECT_EQ(make_vector(5, 2, odd), kInvalid);
  EXPECT_EQ(make_vector(5, 2, nullptr), kGood);
  for (const bool is_constant : {false, true}) {
    cusparseSpVecDescr_t vector = nullptr;
    cusparseConstSpVecDescr_t constant = nullptr;
    ASSERT_EQ(
        is_constant
            ? cusparseCreateConstSpVec(
                  &constant, 5, 2, p, q, kWide, kOne, kFloat)
            : cusparseCreateSpVec(&vector, 5, 2, p, q, kWide, kOne, kFloat),
        kGood);
    vector = is_constant ? const_cast<cusparseSpVecDescr_t>(constant) : vector;
    std::int64_t size = 0, nnz = 0;
    void *indices = nullptr, *values = nullptr;
    const void *fixed_indices = nullptr, *fixed = nullptr;
    auto index_type = kNarrow;
    auto base = kZero;
    auto type = CUDA_R_8I;
    EXPECT_EQ(
        is_constant ? cusparseConstSpVecGet(
                          vector,
                          &size,
                          &nnz,
                          &fixed_indices,
                          &fixed,
                          &index_type,
                          &base,
                          &type)
                    : cusparseSpVecGet(
                          vector,
                          &size,
                          &nnz,
                          &indices,
                          &values,
                          &index_type,
                          &base,
                          &type),
        kGood);
    EXPECT_EQ(size, 5);
    EXPECT_EQ(nnz, 2);
    EXPECT_EQ(is_constant ? fixed_indices : indices, p);
    EXPECT_EQ(is_constant ? fixed : values, q);
    EXPECT_EQ(index_type, kWide);
    EXPECT_EQ(base, kOne);
    EXPECT_EQ(type, kFloat);
    base = kZero;
    EXPECT_EQ(cusparseSpVecGetIndexBase(vector, &base), kGood);
    EXPECT_EQ(base, kOne);
    EXPECT_EQ(cusparseSpVecSetValues(vector, r), kGood);
    EXPECT_EQ(cusparseSpVecGetValues(vector, &values), kGood);
    EXPECT_EQ(values, r);
    EXPECT_EQ(cusparseConstSpVecGetValues(vector, &fixed), kGood);
    EXPECT_EQ(fixed, r);
    EXPECT_EQ(cusparseSpVecSetValues(vector, odd), kInvalid);
    EXPECT_EQ(cusparseSpVecGetIndexBase(vector, nullptr), kInvalid);
    EXPECT_EQ(cusparseDestroySpVec(vector), kGood);
  }
  EXPECT_EQ(cusparseDestroySpVec(nullptr), kGood);
}

} // namespace
} // namespace accelerator::sparse::testing
