// Systems that are solved in one call.
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

constexpr int kN = 6, kColumns = 2, kLead = 7;

template <typename F>
class GesvTest : public SolverTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;

  /// Solves a system with functions that are a precision's.
  template <typename Size, typename Solve>
  void expect_solved(Size size_of, Solve solve) {
    const Matrix a = this->random_matrix(kN, kN, 1);
    const Matrix b = this->random_matrix(kN, kColumns, 2);
    const auto a_values = this->packed(a, kLead);
    const auto b_values = this->packed(b, kLead);
    const Array<T> left(a_values), right(b_values);
    const Array<T> x(std::vector<T>(kLead * kColumns, T(33)));
    const Array<int> pivots(std::vector<int>(kN, -1));
    size_t bytes = 0;
    int iterations = -1;
    ASSERT_EQ(
        size_of(
            this->handle,
            kN,
            kColumns,
            left.template get<Api>(),
            kLead,
            pivots.get(),
            right.template get<Api>(),
            kLead,
            x.template get<Api>(),
            kLead,
            this->work.get(),
            &bytes),
        CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(
        solve(
            this->handle,
            kN,
            kColumns,
            left.template get<Api>(),
            kLead,
            pivots.get(),
            right.template get<Api>(),
            kLead,
            x.template get<Api>(),
            kLead,
            this->work.get(),
            bytes,
            &iterations,
            this->info.get()),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(this->last_info(), 0);
    EXPECT_GE(iterations, 0);
    expect_near(
        a * Matrix(x.values(), kN, kColumns, kLead), b, 10 * F::kTolerance);
    // What was given stays.
    EXPECT_EQ(left.values(), a_values);
    EXPECT_EQ(right.values(), b_values);
    // A singular matrix has no solution.
    auto singular = a_values;
    for (int j = 0; j < kN; ++j) {
      singular[j * kLead + 2] = T(0);
    }
    const Array<T> broken(singular);
    ASSERT_EQ(
        solve(
            this->handle,
            kN,
            kColumns,
            broken.template get<Api>(),
            kLead,
            pivots.get(),
            right.template get<Api>(),
            kLead,
            x.template get<Api>(),
            kLead,
            this->work.get(),
            bytes,
            &iterations,
            this->info.get()),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_GT(this->last_info(), 0);
    EXPECT_EQ(
        solve(
            this->handle,
            kN,
            kColumns,
            left.template get<Api>(),
            kN - 1,
            pivots.get(),
            right.template get<Api>(),
            kLead,
            x.template get<Api>(),
            kLead,
            this->work.get(),
            bytes,
            &iterations,
            this->info.get()),
        CUSOLVER_STATUS_INVALID_VALUE);
    EXPECT_EQ(
        solve(
            nullptr,
            kN,
            kColumns,
            left.template get<Api>(),
            kLead,
            pivots.get(),
            right.template get<Api>(),
            kLead,
            x.template get<Api>(),
            kLead,
            this->work.get(),
            bytes,
            &iterations,
            this->info.get()),
        CUSOLVER_STATUS_NOT_INITIALIZED);
  }
};
TYPED_TEST_SUITE(GesvTest, AllTypes);

#define EXPECT_SOLVED(Letters) \
  this->expect_solved(         \
      cusolverDn##Letters##gesv_bufferSize, cusolverDn##Letters##gesv)

TYPED_TEST(GesvTest, SolvesWithEachLowerPrecision) {
  if constexpr (std::is_same_v<TypeParam, Single>) {
    EXPECT_SOLVED(SS);
    EXPECT_SOLVED(SH);
    EXPECT_SOLVED(SB);
    EXPECT_SOLVED(SX);
  } else if constexpr (std::is_same_v<TypeParam, Double>) {
    EXPECT_SOLVED(DD);
    EXPECT_SOLVED(DS);
    EXPECT_SOLVED(DH);
    EXPECT_SOLVED(DB);
    EXPECT_SOLVED(DX);
  } else if constexpr (std::is_same_v<TypeParam, SingleComplex>) {
    EXPECT_SOLVED(CC);
    EXPECT_SOLVED(CE);
    EXPECT_SOLVED(CK);
    EXPECT_SOLVED(CY);
  } else {
    EXPECT_SOLVED(ZZ);
    EXPECT_SOLVED(ZC);
    EXPECT_SOLVED(ZE);
    EXPECT_SOLVED(ZK);
    EXPECT_SOLVED(ZY);
  }
}

} // namespace
} // namespace accelerator::solver::testing
