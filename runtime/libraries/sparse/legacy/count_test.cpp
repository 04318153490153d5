// How many elements of dense matrices are not zero.
#include <cusparse.h>
#include <gtest/gtest.h>

#include <limits>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

using Integers = std::vector<int>;
constexpr auto kRows = CUSPARSE_DIRECTION_ROW;
constexpr auto kColumns = CUSPARSE_DIRECTION_COLUMN;

class CountTest : public SparseTest {
 protected:
  void SetUp() override {
    SparseTest::SetUp();
    ASSERT_EQ(cusparseCreateMatDescr(&description), kGood);
  }
  void TearDown() override {
    EXPECT_EQ(cusparseDestroyMatDescr(description), kGood);
    SparseTest::TearDown();
  }

  /// Three rows and four columns, with two more rows in memory that do not
  /// count: by rows 2, 0, 3 and by columns 1, 2, 1, 1 are not zero.
  template <typename T, typename Count>
  void expect_counts(T one, Count count) {
    const T zero = T(), pad = one;
    const Array<T> matrix(
        std::vector<T>{zero, zero, one,  pad, pad, one,  zero, one, pad, pad,
                       one,  zero, zero, pad, pad, zero, zero, one, pad, pad});
    for (const bool by_rows : {true, false}) {
      const Array<int> counts(Integers(4, -1)), on_device(Integers{-1});
      int total = -1;
      ASSERT_EQ(
          cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST), kGood);
      const auto direction = by_rows ? kRows : kColumns;
      ASSERT_EQ(
          count(
              handle,
              direction,
              3,
              4,
              description,
              matrix.get(),
              5,
              counts.get(),
              &total),
          kGood);
      EXPECT_EQ(total, 5);
      EXPECT_EQ(
          counts.values(),
          by_rows ? Integers({2, 0, 3, -1}) : Integers({1, 2, 1, 1}));
      ASSERT_EQ(
          cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE), kGood);
      ASSERT_EQ(
          count(
              handle,
              direction,
              3,
              4,
              description,
              matrix.get(),
              5,
              counts.get(),
              on_device.get()),
          kGood);
      EXPECT_EQ(on_device.values(), Integers{5});
    }
  }

  cusparseMatDescr_t description = nullptr;
};

TEST_F(CountTest, ByRowsAndColumns) {
  expect_counts(2.0F, cusparseSnnz);
  expect_counts(-std::numeric_limits<double>::denorm_min(), cusparseDnnz);
  expect_counts(std::numeric_limits<float>::quiet_NaN(), cusparseSnnz);
  expect_counts(make_cuComplex(0, 1), cusparseCnnz);
  expect_counts(make_cuDoubleComplex(1, 0), cusparseZnnz);
}

TEST_F(CountTest, NegativeZeroIsZero) {
  const Array<float> matrix(std::vector<float>{-0.0F, 1.0F});
  const Array<int> counts(Integers(2, -1));
  int total = -1;
  ASSERT_EQ(
      cusparseSnnz(
          handle,
          kRows,
          2,
          1,
          description,
          matrix.get(),
          2,
          counts.get(),
          &total),
      kGood);
  EXPECT_EQ(total, 1);
  EXPECT_EQ(counts.values(), (Integers{0, 1}));
}

TEST_F(CountTest, WhatIsRefused) {
  const Array<float> matrix(std::vector<float>(6));
  const Array<int> counts(Integers(3));
  int total = -1;
  const auto count = [&](cusparseHandle_t on,
                         int direction,
                         int rows,
                         int columns,
                         int leading,
                         int* result) {
    return cusparseSnnz(
        on,
        static_cast<cusparseDirection_t>(direction),
        rows,
        columns,
        description,
        matrix.get(),
        leading,
        counts.get(),
        result);
  };
  EXPECT_EQ(
      count(nullptr, kRows, 3, 2, 3, &total), CUSPARSE_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(count(handle, 2, 3, 2, 3, &total), kInvalid);
  EXPECT_EQ(count(handle, kRows, -1, 2, 3, &total), kInvalid);
  EXPECT_EQ(count(handle, kRows, 3, -1, 3, &total), kInvalid);
  EXPECT_EQ(count(handle, kRows, 3, 2, 2, &total), kInvalid);
  EXPECT_EQ(count(handle, kRows, 3, 2, 3, nullptr), kInvalid);
  EXPECT_EQ(total, -1);
  EXPECT_EQ(count(handle, kRows, 0, 2, 1, &total), kGood);
  EXPECT_EQ(total, 0);
  ASSERT_EQ(
      cusparseSetMatType(description, CUSPARSE_MATRIX_TYPE_TRIANGULAR), kGood);
  EXPECT_EQ(
      count(handle, kRows, 3, 2, 3, &total),
      CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
}

} // namespace
} // namespace accelerator::sparse::testing
