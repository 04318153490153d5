// Some of a matrix's eigenvalues, beside all of them.
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/libraries/solver/testing/pencils.h"

namespace accelerator::solver::testing {
namespace {

template <typename F>
using RangeTest = PencilTest<F>;
TYPED_TEST_SUITE(RangeTest, AllTypes);

TYPED_TEST(RangeTest, SomeValues) {
  using F = TypeParam;
  using Api = typename F::Api;
  using Real = typename F::Real;
  using T = typename F::T;
  const Matrix a = this->hermitian(kN, 1, false);
  const Matrix b = this->hermitian(kN, 2, true);
  auto* const area = this->work.template get<Api>();
  for (const bool is_pair : {false, true}) {
    std::vector<Real> every;
    const auto find = [&](cusolverEigRange_t range,
                          Real vl,
                          Real vu,
                          int il,
                          int iu,
                          std::vector<Real>* found,
                          Matrix* vectors) {
      const Array<T> left(
          this->packed(this->half(a, CUBLAS_FILL_MODE_LOWER), kLda));
      const Array<T> right(
          this->packed(this->half(b, CUBLAS_FILL_MODE_LOWER), kLdb));
      const Array<Real> values{std::vector<Real>(kN, Real(99))};
      Api* const its_a = left.template get<Api>();
      Api* const its_b = right.template get<Api>();
      int size = 0, count = -1;
      constexpr auto kMode = CUSOLVER_EIG_MODE_VECTOR;
      constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;
      if (is_pair) {
        ASSERT_EQ(
            F::sygvdx_size(
                this->handle,
                CUSOLVER_EIG_TYPE_1,
                kMode,
                range,
                kLower,
                kN,
                its_a,
                kLda,
                its_b,
                kLdb,
                vl,
                vu,
                il,
                iu,
                &count,
                values.get(),
                &size),
            CUSOLVER_STATUS_SUCCESS);
        ASSERT_EQ(
            F::sygvdx(
                this->handle,
                CUSOLVER_EIG_TYPE_1,
                kMode,
                range,
                kLower,
                kN,
                its_a,
                kLda,
                its_b,
                kLdb,
                vl,
                vu,
                il,
                iu,
                &count,
                values.get(),
                area,
                size,
                this->info.get()),
            CUSOLVER_STATUS_SUCCESS);
      } else {
        ASSERT_EQ(
            F::syevdx_size(
                this->handle,
                kMode,
                range,
                kLower,
                kN,
                its_a,
                kLda,
                vl,
                vu,
                il,
                iu,
                &count,
                values.get(),
                &size),
            CUSOLVER_STATUS_SUCCESS);
        ASSERT_EQ(
            F::syevdx(
                this->handle,
                kMode,
                range,
                kLower,
                kN,
                its_a,
                kLda,
                vl,
                vu,
                il,
                iu,
                &count,
                values.get(),
                area,
                size,
                this->info.get()),
            CUSOLVER_STATUS_SUCCESS);
      }
      ASSERT_EQ(this->last_info(), 0);
      ASSERT_GE(count, 0);
      ASSERT_LE(count, kN);
      const auto all = values.values();
      found->assign(all.begin(), all.begin() + count);
      if (range == CUSOLVER_EIG_RANGE_ALL) {
        every = all;
      }
      // Those above the wanted ones follow them, and the rest is left alone.
      const int below = range == CUSOLVER_EIG_RANGE_I ? il - 1
          : range == CUSOLVER_EIG_RANGE_V
          ? static_cast<int>(
                std::upper_bound(every.begin(), every.end(), vl) -
                every.begin())
          : 0;
      for (int i = count; i < kN; ++i) {
        if (below + i < kN) {
          EXPECT_NEAR(all[i], every[below + i], F::kTolerance * 100);
        } else {
          EXPECT_EQ(all[i], Real(99));
        }
      }
      *vectors = Matrix(left.values(), kN, count, kLda);
    };
    std::vector<Real> all, some;
    Matrix vectors(0, 0);
    find(CUSOLVER_EIG_RANGE_ALL, 0, 0, 0, 0, &all, &vectors);
    ASSERT_EQ(all.size(), kN);
    const Matrix metric = is_pair ? b : this->identity(kN);
    this->expect_eigen(CUSOLVER_EIG_TYPE_1, a, metric, vectors, all);
    find(CUSOLVER_EIG_RANGE_I, 0, 0, 2, 4, &some, &vectors);
    EXPECT_EQ(some, std::vector<Real>(all.begin() + 1, all.begin() + 4));
    this->expect_eigen(CUSOLVER_EIG_TYPE_1, a, metric, vectors, some);
    // The interval is open at its lower end.
    find(CUSOLVER_EIG_RANGE_V, all[2], all[5], 0, 0, &some, &vectors);
    EXPECT_EQ(some, std::vector<Real>(all.begin() + 3, all.begin() + 6));
    this->expect_eigen(CUSOLVER_EIG_TYPE_1, a, metric, vectors, some);
    find(CUSOLVER_EIG_RANGE_V, all[6] + 1, all[6] + 2, 0, 0, &some, &vectors);
    EXPECT_TRUE(some.empty());
  }
}

TYPED_TEST(RangeTest, SomeValuesOfWideSizes) {
  using F = TypeParam;
  using Real = typename F::Real;
  using T = typename F::T;
  const Matrix a = this->hermitian(kN, 1, false);
  const auto find = [&](cusolverEigRange_t range,
                        Real vl,
                        Real vu,
                        int il,
                        int iu,
                        cusolverStatus_t expected) {
    const Array<T> array(this->packed(a, kLda));
    const Array<Real> values{std::vector<Real>(kN)};
    std::size_t device = 0, host = 0;
    std::int64_t count = -1;
    EXPECT_EQ(
        cusolverDnXsyevdx_bufferSize(
            this->handle,
            this->params,
            CUSOLVER_EIG_MODE_VECTOR,
            range,
            CUBLAS_FILL_MODE_UPPER,
            kN,
            F::kType,
            array.get(),
            kLda,
            &vl,
            &vu,
            il,
            iu,
            &count,
            F::kRealType,
            values.get(),
            F::kType,
            &device,
            &host),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(
        cusolverDnXsyevdx(
            this->handle,
            this->params,
            CUSOLVER_EIG_MODE_VECTOR,
            range,
            CUBLAS_FILL_MODE_UPPER,
            kN,
            F::kType,
            array.get(),
            kLda,
            &vl,
            &vu,
            il,
            iu,
            &count,
            F::kRealType,
            values.get(),
            F::kType,
            this->work.get(),
            device,
            nullptr,
            host,
            this->info.get()),
        expected);
    auto found = values.values();
    found.resize(count < 0 ? 0 : count);
    if (expected == CUSOLVER_STATUS_SUCCESS) {
      this->expect_eigen(
          CUSOLVER_EIG_TYPE_1,
          a,
          this->identity(kN),
          Matrix(array.values(), kN, static_cast<int>(count), kLda),
          found);
    }
    return found;
  };
  constexpr auto kFine = CUSOLVER_STATUS_SUCCESS;
  const auto all = find(CUSOLVER_EIG_RANGE_ALL, 0, 0, 0, 0, kFine);
  ASSERT_EQ(all.size(), kN);
  EXPECT_EQ(
      find(CUSOLVER_EIG_RANGE_I, 0, 0, 7, 7, kFine),
      std::vector<Real>(all.end() - 1, all.end()));
  EXPECT_EQ(
      find(CUSOLVER_EIG_RANGE_V, all[0], all[1], 0, 0, kFine),
      std::vector<Real>(all.begin() + 1, all.begin() + 2));
  for (const auto& [first, last] :
       std::vector<std::pair<int, int>>{{0, 3}, {4, 3}, {3, 8}}) {
    find(
        CUSOLVER_EIG_RANGE_I, 0, 0, first, last, CUSOLVER_STATUS_INVALID_VALUE);
  }
  find(CUSOLVER_EIG_RANGE_V, 2, 2, 0, 0, CUSOLVER_STATUS_INVALID_VALUE);
}

} // namespace
} // namespace accelerator::solver::testing
