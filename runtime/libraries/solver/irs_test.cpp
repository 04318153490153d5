// The iterative refinement solver with settings of its own.
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

constexpr int kN = 7, kColumns = 2, kLead = 9;
constexpr auto kGood = CUSOLVER_STATUS_SUCCESS;

template <typename F>
class RefinementTest : public SolverTest<F> {
 protected:
  using T = typename F::T;

  void SetUp() override {
    SolverTest<F>::SetUp();
    ASSERT_EQ(cusolverDnIRSParamsCreate(&settings), kGood);
    ASSERT_EQ(cusolverDnIRSInfosCreate(&infos), kGood);
  }
  void TearDown() override {
    EXPECT_EQ(cusolverDnIRSInfosDestroy(infos), kGood);
    EXPECT_EQ(cusolverDnIRSParamsDestroy(settings), kGood);
    SolverTest<F>::TearDown();
  }
  static constexpr bool kIsWide = std::is_same_v<typename F::Real, double>;
  static constexpr cusolverPrecType_t kMain = F::kIsComplex
      ? (kIsWide ? CUSOLVER_C_64F : CUSOLVER_C_32F)
      : (kIsWide ? CUSOLVER_R_64F : CUSOLVER_R_32F);
  static constexpr cusolverPrecType_t kLowest =
      F::kIsComplex ? CUSOLVER_C_16F : CUSOLVER_R_16F;

  cusolverStatus_t size(size_t* bytes) const {
    return cusolverDnIRSXgesv_bufferSize(
        this->handle, settings, kN, kColumns, bytes);
  }
  cusolverStatus_t solve(
      const Array<T>& a,
      const Array<T>& b,
      const Array<T>& x,
      size_t bytes,
      int* iterations) const {
    return cusolverDnIRSXgesv(
        this->handle,
        settings,
        infos,
        kN,
        kColumns,
        a.get(),
        kLead,
        b.get(),
        kLead,
        x.get(),
        kLead,
        this->work.get(),
        bytes,
        iterations,
        this->info.get());
  }

  cusolverDnIRSParams_t settings = nullptr;
  cusolverDnIRSInfos_t infos = nullptr;
};

TYPED_TEST_SUITE(RefinementTest, AllTypes);

TYPED_TEST(RefinementTest, Solution) {
  using F = TypeParam;
  using T = typename F::T;
  const Matrix a = this->random_matrix(kN, kN, 1);
  const Matrix b = this->random_matrix(kN, kColumns, 2);
  const Array<T> left(this->packed(a, kLead)), right(this->packed(b, kLead));
  ASSERT_EQ(
      cusolverDnIRSParamsSetSolverPrecisions(
          this->settings, this->kMain, this->kLowest),
      kGood);
  ASSERT_EQ(cusolverDnIRSParamsSetMaxIters(this->settings, 30), kGood);
  ASSERT_EQ(cusolverDnIRSParamsSetTol(this->settings, 1e-9), kGood);
  ASSERT_EQ(cusolverDnIRSParamsSetTolInner(this->settings, 1e-3), kGood);
  ASSERT_EQ(cusolverDnIRSParamsDisableFallback(this->settings), kGood);
  ASSERT_EQ(cusolverDnIRSParamsEnableFallback(this->settings), kGood);
  for (const auto refinement :
       {CUSOLVER_IRS_REFINE_NONE,
        CUSOLVER_IRS_REFINE_CLASSICAL,
        CUSOLVER_IRS_REFINE_GMRES,
        CUSOLVER_IRS_REFINE_CLASSICAL_GMRES,
        CUSOLVER_IRS_REFINE_GMRES_GMRES}) {
    SCOPED_TRACE(refinement);
    ASSERT_EQ(
        cusolverDnIRSParamsSetRefinementSolver(this->settings, refinement),
        kGood);
    const Array<T> x(std::vector<T>(kLead * kColumns, T(33)));
    size_t bytes = 0;
    ASSERT_EQ(this->size(&bytes), kGood);
    int iterations = -99;
    ASSERT_EQ(this->solve(left, right, x, bytes, &iterations), kGood);
    EXPECT_EQ(this->last_info(), 0);
    expect_near(
        a * Matrix(x.values(), kN, kColumns, kLead), b, 10 * F::kTolerance);
    // What is told of the call.
    EXPECT_EQ(iterations, 0);
    int told = 7, outer = 7, most = 7;
    ASSERT_EQ(cusolverDnIRSInfosGetNiters(this->infos, &told), kGood);
    ASSERT_EQ(cusolverDnIRSInfosGetOuterNiters(this->infos, &outer), kGood);
    ASSERT_EQ(cusolverDnIRSInfosGetMaxIters(this->infos, &most), kGood);
    EXPECT_EQ(told, 0);
    EXPECT_EQ(outer, 0);
    EXPECT_EQ(most, 30);
  }
}

TYPED_TEST(RefinementTest, SettingsHaveToGoTogether) {
  using T = typename TypeParam::T;
  const Array<T> a(std::vector<T>(kLead * kN));
  size_t bytes = 0;
  // There are no defaults for precisions, nor for the refinement.
  ASSERT_EQ(
      cusolverDnIRSParamsSetRefinementSolver(
          this->settings, CUSOLVER_IRS_REFINE_GMRES),
      kGood);
  EXPECT_EQ(this->size(&bytes), CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC);
  ASSERT_EQ(
      cusolverDnIRSParamsSetSolverMainPrecision(this->settings, this->kMain),
      kGood);
  // A real matrix is not factored as a complex one, nor the other way round.
  ASSERT_EQ(
      cusolverDnIRSParamsSetSolverLowestPrecision(
          this->settings,
          TypeParam::kIsComplex ? CUSOLVER_R_32F : CUSOLVER_C_32F),
      kGood);
  int iterations = 7;
  EXPECT_EQ(
      this->solve(a, a, a, 1024, &iterations),
      CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC);
  ASSERT_EQ(
      cusolverDnIRSParamsSetSolverLowestPrecision(
          this->settings, this->kLowest),
      kGood);
  EXPECT_EQ(this->size(&bytes), kGood);
  ASSERT_EQ(
      cusolverDnIRSParamsSetRefinementSolver(
          this->settings, CUSOLVER_IRS_REFINE_NOT_SET),
      kGood);
  EXPECT_EQ(this->size(&bytes), CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE);
  EXPECT_EQ(
      this->solve(a, a, a, 1024, &iterations),
      CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE);
  EXPECT_EQ(
      cusolverDnIRSParamsSetTol(nullptr, 1),
      CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED);
  EXPECT_EQ(
      cusolverDnIRSInfosGetNiters(nullptr, &iterations),
      CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED);
  EXPECT_EQ(iterations, 7);
}

TYPED_TEST(RefinementTest, MostIterations) {
  int most = 7;
  ASSERT_EQ(cusolverDnIRSParamsGetMaxIters(this->settings, &most), kGood);
  EXPECT_EQ(most, 50);
  ASSERT_EQ(cusolverDnIRSParamsSetMaxIters(this->settings, 20), kGood);
  ASSERT_EQ(cusolverDnIRSParamsGetMaxIters(this->settings, &most), kGood);
  EXPECT_EQ(most, 20);
  EXPECT_EQ(
      cusolverDnIRSParamsSetMaxItersInner(this->settings, 21),
      CUSOLVER_STATUS_IRS_PARAMS_INVALID);
  EXPECT_EQ(cusolverDnIRSParamsSetMaxItersInner(this->settings, 20), kGood);
}

} // namespace
} // namespace accelerator::solver::testing
