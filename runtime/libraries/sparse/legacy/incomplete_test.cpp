// Incomplete factorizations: the product of the factors has the matrix's own
// elements where it has entries, whatever it has elsewhere.
#include <cusparse.h>
#include <gtest/gtest.h>

#include <limits>

#include "runtime/libraries/sparse/testing/incomplete.h"

namespace accelerator::sparse::testing {
namespace {

template <typename F>
class FactorsTest : public IncompleteTest<F> {};

TYPED_TEST_SUITE(FactorsTest, IncompleteTypes);

TYPED_TEST(FactorsTest, LuOfRows) {
  using F = TypeParam;
  const Storage storage = this->storage_of(CUSPARSE_FORMAT_CSR);
  for (const unsigned seed : {1, 5}) {
    const Matrix matrix = this->dominant(seed);
    const Sparse a(matrix, storage);
    int bytes = 0;
    ASSERT_EQ(
        F::lu_size(
            this->handle,
            this->kRows,
            this->nnz(a),
            this->description,
            this->elements(a),
            this->integers(a.offsets),
            this->integers(a.indices),
            this->lu,
            &bytes),
        kGood);
    EXPECT_GT(bytes, 0);
    ASSERT_EQ(this->analyse_lu(a), kGood);
    this->expect_zero(this->kNoZero);
    ASSERT_EQ(this->factor_lu(a), kGood);
    this->expect_zero(this->kNoZero);
    this->expect_lu(this->read(a, storage), matrix, 1);
  }
}

TYPED_TEST(FactorsTest, LuOfBlocks) {
  using F = TypeParam;
  for (const auto order : {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_COL}) {
    const Storage storage = this->storage_of(CUSPARSE_FORMAT_BSR, order);
    const auto direction = order == CUSPARSE_ORDER_ROW
        ? CUSPARSE_DIRECTION_ROW
        : CUSPARSE_DIRECTION_COLUMN;
    const Matrix matrix = this->dominant(3, this->kBlock);
    const Sparse a(matrix, storage);
    const auto call = [&](auto function, auto... rest) {
      return function(
          this->handle,
          direction,
          this->kRows / this->kBlock,
          this->nnz(a),
          this->description,
          this->elements(a),
          this->integers(a.offsets),
          this->integers(a.indices),
          this->kBlock,
          this->block_lu,
          rest...);
    };
    int bytes = 0, position = 7;
    ASSERT_EQ(call(F::blu_size, &bytes), kGood);
    EXPECT_GT(bytes, 0);
    ASSERT_EQ(call(F::blu_analysis, this->kLevels, this->work.get()), kGood);
    ASSERT_EQ(call(F::blu, this->kLevels, this->work.get()), kGood);
    EXPECT_EQ(
        cusparseXbsrilu02_zeroPivot(this->handle, this->block_lu, &position),
        kGood);
    EXPECT_EQ(position, this->kNoZero);
    this->expect_lu(this->read(a, storage), matrix, this->kBlock);
    // All pivots are small enough to be replaced.
    const Sparse b(matrix, storage);
    double tolerance = std::numeric_limits<double>::infinity();
    const Number one(F::kType, 1);
    ASSERT_EQ(
        F::blu_boost(
            this->handle,
            this->block_lu,
            1,
            &tolerance,
            static_cast<typename F::Api*>(const_cast<void*>(one.get()))),
        kGood);
    ASSERT_EQ(
        F::blu(
            this->handle,
            direction,
            this->kRows / this->kBlock,
            this->nnz(b),
            this->description,
            this->elements(b),
            this->integers(b.offsets),
            this->integers(b.indices),
            this->kBlock,
            this->block_lu,
            this->kLevels,
            this->work.get()),
        kGood);
    ASSERT_EQ(
        F::blu_boost(this->handle, this->block_lu, 0, nullptr, nullptr), kGood);
    const Matrix boosted = this->read(b, storage);
    for (int i = 0; i < this->kRows; ++i) {
      EXPECT_EQ(boosted(i, i), Wide(1));
    }
  }
}

TYPED_TEST(FactorsTest, CholeskyOfRows) {
  using F = TypeParam;
  const Storage storage = this->storage_of(CUSPARSE_FORMAT_CSR);
  const Matrix matrix = this->definite(2);
  const Sparse a(matrix, storage);
  const auto call = [&](auto function, auto... rest) {
    return function(
        this->handle,
        this->kRows,
        this->nnz(a),
        this->description,
        this->elements(a),
        this->integers(a.offsets),
        this->integers(a.indices),
        this->cholesky,
        rest...);
  };
  int bytes = 0, position = 7;
  ASSERT_EQ(call(F::cholesky_size, &bytes), kGood);
  EXPECT_GT(bytes, 0);
  ASSERT_EQ(
      call(F::cholesky_analysis, this->kNoLevels, this->work.get()), kGood);
  ASSERT_EQ(call(F::cholesky, this->kNoLevels, this->work.get()), kGood);
  EXPECT_EQ(
      cusparseXcsric02_zeroPivot(this->handle, this->cholesky, &position),
      kGood);
  EXPECT_EQ(position, this->kNoZero);
  this->expect_cholesky(this->read(a, storage), matrix, 1);
}

TYPED_TEST(FactorsTest, CholeskyOfBlocks) {
  using F = TypeParam;
  for (const auto order : {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_COL}) {
    const Storage storage = this->storage_of(CUSPARSE_FORMAT_BSR, order);
    const Matrix matrix = this->definite(4, this->kBlock);
    const Sparse a(matrix, storage);
    const auto call = [&](auto function, auto... rest) {
      return function(
          this->handle,
          order == CUSPARSE_ORDER_ROW ? CUSPARSE_DIRECTION_ROW
                                      : CUSPARSE_DIRECTION_COLUMN,
          this->kRows / this->kBlock,
          this->nnz(a),
          this->description,
          this->elements(a),
          this->integers(a.offsets),
          this->integers(a.indices),
          this->kBlock,
          this->block_cholesky,
          rest...);
    };
    int bytes = 0, position = 7;
    ASSERT_EQ(call(F::bcholesky_size, &bytes), kGood);
    EXPECT_GT(bytes, 0);
    ASSERT_EQ(
        call(F::bcholesky_analysis, this->kLevels, this->work.get()), kGood);
    ASSERT_EQ(call(F::bcholesky, this->kLevels, this->work.get()), kGood);
    EXPECT_EQ(
        cusparseXbsric02_zeroPivot(
            this->handle, this->block_cholesky, &position),
        kGood);
    EXPECT_EQ(position, this->kNoZero);
    this->expect_cholesky(this->read(a, storage), matrix, this->kBlock);
  }
}

} // namespace
} // namespace accelerator::sparse::testing
