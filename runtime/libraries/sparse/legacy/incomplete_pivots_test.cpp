// Pivots of incomplete factorizations: the first that is missing or zero, and
// what replaces small ones.
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <gtest/gtest.h>

#include "runtime/libraries/sparse/testing/incomplete.h"

namespace accelerator::sparse::testing {
namespace {

template <typename F>
class IncompletePivotsTest : public IncompleteTest<F> {};

TYPED_TEST_SUITE(IncompletePivotsTest, IncompleteTypes);

// The analysis finds entries that are missing, the factorization zeros too.
TYPED_TEST(IncompletePivotsTest, FirstZeroPivot) {
  const Storage storage = this->storage_of(CUSPARSE_FORMAT_CSR);
  Matrix matrix(this->kRows, this->kRows);
  for (int i = 0; i < this->kRows; ++i) {
    matrix(i, i) = 2;
  }
  // Of the second row's pivot nothing is left: 2 - 4 / 2 * 1.
  matrix(0, 1) = 1;
  matrix(1, 0) = 4;
  matrix(5, 5) = 0;
  const Sparse a(matrix, storage);
  ASSERT_EQ(this->analyse_lu(a), kGood);
  this->expect_zero(6);
  ASSERT_EQ(this->factor_lu(a), kGood);
  this->expect_zero(2);
  matrix(1, 0) = 2;
  const Sparse b(matrix, storage);
  ASSERT_EQ(this->factor_lu(b), kGood);
  this->expect_zero(6);
}

TYPED_TEST(IncompletePivotsTest, CholeskyOfWhatIsNotPositive) {
  using F = TypeParam;
  for (const double bad : {0.0, -1.0}) {
    SCOPED_TRACE(bad);
    Matrix matrix(this->kRows, this->kRows);
    for (int i = 0; i < this->kRows; ++i) {
      matrix(i, i) = 1;
    }
    // The fourth row's pivot is `bad`.
    matrix(3, 1) = matrix(1, 3) = 2;
    matrix(3, 3) = 4 + bad;
    const Sparse a(matrix, this->storage_of(CUSPARSE_FORMAT_CSR));
    const auto call = [&](auto function) {
      return function(
          this->handle,
          this->kRows,
          this->nnz(a),
          this->description,
          this->elements(a),
          this->integers(a.offsets),
          this->integers(a.indices),
          this->cholesky,
          this->kLevels,
          this->work.get());
    };
    ASSERT_EQ(call(F::cholesky_analysis), kGood);
    ASSERT_EQ(call(F::cholesky), kGood);
    int position = 7;
    EXPECT_EQ(
        cusparseXcsric02_zeroPivot(this->handle, this->cholesky, &position),
        this->kZeroPivot);
    EXPECT_EQ(position, 4);
  }
}

// Pivots up to the tolerance, which may be on the device, are replaced.
TYPED_TEST(IncompletePivotsTest, NumericBoost) {
  using F = TypeParam;
  using Api = typename F::Api;
  const Storage storage = this->storage_of(CUSPARSE_FORMAT_CSR);
  Matrix matrix(this->kRows, this->kRows);
  for (int i = 0; i < this->kRows; ++i) {
    matrix(i, i) = 2;
  }
  matrix(0, 1) = 1;
  matrix(1, 0) = 4;
  matrix(7, 7) = 0.5;
  matrix(8, 8) = -0.25;
  const Number value(F::kType, 8);
  const Values there(F::kType, {Wide(8)});
  const Array<double> half(std::vector<double>(1, 0.5));
  double tolerance = 0.5;
  for (const auto mode :
       {CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE}) {
    SCOPED_TRACE(mode);
    const bool on_host = mode == CUSPARSE_POINTER_MODE_HOST;
    ASSERT_EQ(cusparseSetPointerMode(this->handle, mode), kGood);
    ASSERT_EQ(
        F::lu_boost(
            this->handle,
            this->lu,
            1,
            on_host ? &tolerance : half.get(),
            static_cast<Api*>(
                on_host ? const_cast<void*>(value.get()) : there.get())),
        kGood);
    ASSERT_EQ(
        cusparseSetPointerMode(this->handle, CUSPARSE_POINTER_MODE_HOST),
        kGood);
    const Sparse a(matrix, storage);
    ASSERT_EQ(this->analyse_lu(a), kGood);
    ASSERT_EQ(this->factor_lu(a), kGood);
    this->expect_zero(this->kNoZero);
    const Matrix factors = this->read(a, storage);
    for (int i = 0; i < this->kRows; ++i) {
      const bool is_small = i == 1 || i == 7 || i == 8;
      EXPECT_EQ(factors(i, i), Wide(is_small ? 8 : 2)) << i;
    }
    ASSERT_EQ(F::lu_boost(this->handle, this->lu, 0, nullptr, nullptr), kGood);
    const Sparse b(matrix, storage);
    ASSERT_EQ(this->factor_lu(b), kGood);
    this->expect_zero(2);
  }
  EXPECT_EQ(
      F::lu_boost(
          this->handle,
          this->lu,
          1,
          nullptr,
          static_cast<Api*>(const_cast<void*>(value.get()))),
      kInvalid);
  EXPECT_EQ(
      F::lu_boost(nullptr, this->lu, 0, nullptr, nullptr),
      CUSPARSE_STATUS_NOT_INITIALIZED);
}

TYPED_TEST(IncompletePivotsTest, WhatDoesNotGoTogether) {
  const Sparse a(this->dominant(1), this->storage_of(CUSPARSE_FORMAT_CSR));
  // Without an analysis, or with levels that it did not have.
  EXPECT_EQ(this->factor_lu(a), kInvalid);
  ASSERT_EQ(this->analyse_lu(a, this->kNoLevels), kGood);
  EXPECT_EQ(this->factor_lu(a, this->kLevels), kInvalid);
  EXPECT_EQ(this->factor_lu(a, this->kNoLevels, 64), kInvalid);
  ASSERT_EQ(
      cusparseSetMatType(this->description, CUSPARSE_MATRIX_TYPE_SYMMETRIC),
      kGood);
  EXPECT_EQ(
      this->factor_lu(a, this->kNoLevels),
      CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  ASSERT_EQ(
      cusparseSetMatType(this->description, CUSPARSE_MATRIX_TYPE_GENERAL),
      kGood);
  EXPECT_EQ(this->factor_lu(a, this->kNoLevels), kGood);
}

} // namespace
} // namespace accelerator::sparse::testing
