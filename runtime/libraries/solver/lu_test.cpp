// LU and LDL factorisations, and solving with them.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

template <typename F>
class LuTest : public SolverTest<F> {};
TYPED_TEST_SUITE(LuTest, AllTypes);

/// A with its rows exchanged as pivots say, forwards.
template <typename Int>
Matrix exchanged(Matrix a, const std::vector<Int>& pivots) {
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    for (int j = 0; j < a.columns; ++j) {
      std::swap(
          a(static_cast<int>(i), j), a(static_cast<int>(pivots[i]) - 1, j));
    }
  }
  return a;
}

TYPED_TEST(LuTest, FactorsTimesEachOtherAreTheMatrix) {
  using F = TypeParam;
  using Api = typename F::Api;
  for (const auto& [rows, columns] :
       {std::pair{6, 6}, {9, 4}, {4, 9}, {1, 1}, {0, 3}}) {
    const int count = std::min(rows, columns);
    const int leading = rows + 2;
    const Matrix a = this->random_matrix(rows, columns, 1);
    for (const bool is_wide : {false, true}) {
      const Array<typename F::T> array(this->packed(a, leading));
      const Array<int> pivots{std::vector<int>(count)};
      const Array<std::int64_t> wide_pivots{std::vector<std::int64_t>(count)};
      if (is_wide) {
        size_t device = 0, host = 1;
        ASSERT_EQ(
            cusolverDnXgetrf_bufferSize(
                this->handle,
                this->params,
                rows,
                columns,
                F::kType,
                array.get(),
                leading,
                F::kType,
                &device,
                &host),
            CUSOLVER_STATUS_SUCCESS);
        EXPECT_EQ(host, 0U);
        ASSERT_EQ(
            cusolverDnXgetrf(
                this->handle,
                this->params,
                rows,
                columns,
                F::kType,
                array.get(),
                leading,
                wide_pivots.get(),
                F::kType,
                this->work.get(),
                device,
                nullptr,
                0,
                this->info.get()),
            CUSOLVER_STATUS_SUCCESS);
      } else {
        int size = 0;
        ASSERT_EQ(
            F::getrf_size(
                this->handle,
                rows,
                columns,
                array.template get<Api>(),
                leading,
                &size),
            CUSOLVER_STATUS_SUCCESS);
        EXPECT_GT(size, 0);
        ASSERT_EQ(
            F::getrf(
                this->handle,
                rows,
                columns,
                array.template get<Api>(),
                leading,
                this->work.template get<Api>(),
                pivots.get(),
                this->info.get()),
            CUSOLVER_STATUS_SUCCESS);
      }
      ASSERT_EQ(this->last_info(), 0);
      const Matrix factors(array.values(), rows, columns, leading);
      expect_near(
          this->lower(factors, count, true) * this->upper(factors, count),
          is_wide ? exchanged(a, wide_pivots.values())
                  : exchanged(a, pivots.values()),
          F::kTolerance);
      // What is between the columns stays.
      if (columns > 0) {
        EXPECT_EQ(array.values()[leading - 1], typename F::T(77));
      }
    }
  }
}

TYPED_TEST(LuTest, WithoutPivots) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kN = 5;
  Matrix a = this->random_matrix(kN, kN, 2);
  for (int i = 0; i < kN; ++i) {
    a(i, i) += 10;
  }
  const Array<typename F::T> array(this->packed(a, kN));
  ASSERT_EQ(
      F::getrf(
          this->handle,
          kN,
          kN,
          array.template get<Api>(),
          kN,
          this->work.template get<Api>(),
          nullptr,
          this->info.get()),
      CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(this->last_info(), 0);
  const Matrix factors(array.values(), kN, kN, kN);
  expect_near(
      this->lower(factors, kN, true) * this->upper(factors, kN),
      a,
      F::kTolerance);
  const Matrix b = this->random_matrix(kN, 1, 3);
  const Array<typename F::T> solution(this->packed(b, kN));
  ASSERT_EQ(
      F::getrs(
          this->handle,
          CUBLAS_OP_N,
          kN,
          1,
          array.template get<Api>(),
          kN,
          nullptr,
          solution.template get<Api>(),
          kN,
          this->info.get()),
      CUSOLVER_STATUS_SUCCESS);
  expect_near(a * Matrix(solution.values(), kN, 1, kN), b, F::kTolerance);
}

TYPED_TEST(LuTest, AZeroPivotIsTold) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kN = 4;
  Matrix a = this->random_matrix(kN, kN, 4);
  for (int i = 0; i < kN; ++i) {
    a(i, 2) = 0;
  }
  for (const bool has_pivots : {false, true}) {
    const Array<typename F::T> array(this->packed(a, kN));
    const Array<int> pivots{std::vector<int>(kN)};
    ASSERT_EQ(
        F::getrf(
            this->handle,
            kN,
            kN,
            array.template get<Api>(),
            kN,
            this->work.template get<Api>(),
            has_pivots ? pivots.get() : nullptr,
            this->info.get()),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(this->last_info(), 3);
  }
}

TYPED_TEST(LuTest, SolvesWithEachOperation) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kN = 6, kColumns = 3, kLda = 7, kLdb = 8;
  const Matrix a = this->random_matrix(kN, kN, 5);
  const Matrix b = this->random_matrix(kN, kColumns, 6);
  const Array<typename F::T> factors(this->packed(a, kLda));
  const Array<int> pivots{std::vector<int>(kN)};
  ASSERT_EQ(
      F::getrf(
          this->handle,
          kN,
          kN,
          factors.template get<Api>(),
          kLda,
          this->work.template get<Api>(),
          pivots.get(),
          this->info.get()),
      CUSOLVER_STATUS_SUCCESS);
  const auto narrow_pivots = pivots.values();
  const Array<std::int64_t> wide_pivots(
      std::vector<std::int64_t>(narrow_pivots.begin(), narrow_pivots.end()));
  for (const auto operation : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    for (const bool is_wide : {false, true}) {
      const Array<typename F::T> solution(this->packed(b, kLdb));
      ASSERT_EQ(
          is_wide ? cusolverDnXgetrs(
                        this->handle,
                        this->params,
                        operation,
                        kN,
                        kColumns,
                        F::kType,
                        factors.get(),
                        kLda,
                        wide_pivots.get(),
                        F::kType,
                        solution.get(),
                        kLdb,
                        this->info.get())
                  : F::getrs(
                        this->handle,
                        operation,
                        kN,
                        kColumns,
                        factors.template get<Api>(),
                        kLda,
                        pivots.get(),
                        solution.template get<Api>(),
                        kLdb,
                        this->info.get()),
          CUSOLVER_STATUS_SUCCESS);
      EXPECT_EQ(this->last_info(), 0);
      expect_near(
          apply(operation, a) * Matrix(solution.values(), kN, kColumns, kLdb),
          b,
          F::kTolerance);
    }
  }
}

TYPED_TEST(LuTest, ExchangesRows) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kN = 5, kColumns = 3;
  const Matrix a = this->random_matrix(kN, kColumns, 7);
  // Of rows 2 to 4, in every second place.
  const Array<int> pivots{std::vector<int>{-1, 5, -1, 3, -1, 2, -1}};
  const std::vector<int> forwards = {1, 5, 3, 2};
  for (const int stride : {2, -2}) {
    const Array<typename F::T> array(this->packed(a, kN));
    ASSERT_EQ(
        F::laswp(
            this->handle,
            kColumns,
            array.template get<Api>(),
            kN,
            2,
            4,
            pivots.get(),
            stride),
        CUSOLVER_STATUS_SUCCESS);
    const Matrix got(array.values(), kN, kColumns, kN);
    // Backwards undoes what forwards does.
    expect_near(
        stride > 0 ? got : exchanged(got, forwards),
        stride > 0 ? exchanged(a, forwards) : a,
        0);
  }
}

TYPED_TEST(LuTest, OfSymmetricMatrices) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kN = 7, kColumns = 2, kLda = 9;
  // Symmetric, and with zeros that need blocks of two rows.
  Matrix a = this->random_matrix(kN, kN, 8);
  for (int j = 0; j < kN; ++j) {
    for (int i = 0; i < j; ++i) {
      a(i, j) = a(j, i);
    }
    a(j, j) = 0;
  }
  const Matrix b = this->random_matrix(kN, kColumns, 9);
  for (const auto triangle : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    Matrix half = a;
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kN; ++i) {
        if (triangle == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) {
          half(i, j) = 99;
        }
      }
    }
    const Array<typename F::T> factors(this->packed(half, kLda));
    const Array<int> pivots{std::vector<int>(kN)};
    int size = 0;
    ASSERT_EQ(
        F::sytrf_size(
            this->handle, kN, factors.template get<Api>(), kLda, &size),
        CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(
        F::sytrf(
            this->handle,
            triangle,
            kN,
            factors.template get<Api>(),
            kLda,
            pivots.get(),
            this->work.template get<Api>(),
            size,
            this->info.get()),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(this->last_info(), 0);
    const auto found = pivots.values();
    EXPECT_LT(*std::min_element(found.begin(), found.end()), 0);
    const Array<std::int64_t> wide(
        std::vector<std::int64_t>(found.begin(), found.end()));
    const Array<typename F::T> solution(this->packed(b, kN));
    size_t device = 0, host = 0;
    ASSERT_EQ(
        cusolverDnXsytrs_bufferSize(
            this->handle,
            triangle,
            kN,
            kColumns,
            F::kType,
            factors.get(),
            kLda,
            wide.get(),
            F::kType,
            solution.get(),
            kN,
            &device,
            &host),
        CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(
        cusolverDnXsytrs(
            this->handle,
            triangle,
            kN,
            kColumns,
            F::kType,
            factors.get(),
            kLda,
            wide.get(),
            F::kType,
            solution.get(),
            kN,
            this->work.get(),
            device,
            nullptr,
            host,
            this->info.get()),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(this->last_info(), 0);
    expect_near(
        a * Matrix(solution.values(), kN, kColumns, kN), b, F::kTolerance);
  }
}

} // namespace
} // namespace accelerator::solver::testing
