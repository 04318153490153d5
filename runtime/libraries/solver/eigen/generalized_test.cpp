// Eigenvalues of pairs of matrices, beside the equations that they are to
// solve.
#include <vector>

#include "runtime/libraries/solver/testing/pencils.h"

namespace accelerator::solver::testing {
namespace {

template <typename F>
using GeneralizedTest = PencilTest<F>;
TYPED_TEST_SUITE(GeneralizedTest, AllTypes);

TYPED_TEST(GeneralizedTest, AllValuesOfAPair) {
  using F = TypeParam;
  using Api = typename F::Api;
  using Real = typename F::Real;
  using T = typename F::T;
  const Matrix a = this->hermitian(kN, 1, false);
  const Matrix b = this->hermitian(kN, 2, true);
  auto* const area = this->work.template get<Api>();
  for (const auto type : kTypes) {
    for (const auto triangle : kTriangles) {
      for (const bool by_jacobi : {false, true}) {
        std::vector<Real> with_vectors;
        for (const auto mode : kModes) {
          const Array<T> left(this->packed(this->half(a, triangle), kLda));
          const Array<T> right(this->packed(this->half(b, triangle), kLdb));
          const Array<Real> values{std::vector<Real>(kN)};
          int size = 0;
          Api* const its_a = left.template get<Api>();
          Api* const its_b = right.template get<Api>();
          if (by_jacobi) {
            ASSERT_EQ(
                F::sygvj_size(
                    this->handle,
                    type,
                    mode,
                    triangle,
                    kN,
                    its_a,
                    kLda,
                    its_b,
                    kLdb,
                    values.get(),
                    &size,
                    this->jacobi),
                CUSOLVER_STATUS_SUCCESS);
            ASSERT_EQ(
                F::sygvj(
                    this->handle,
                    type,
                    mode,
                    triangle,
                    kN,
                    its_a,
                    kLda,
                    its_b,
                    kLdb,
                    values.get(),
                    area,
                    size,
                    this->info.get(),
                    this->jacobi),
                CUSOLVER_STATUS_SUCCESS);
            double residual = -1;
            ASSERT_EQ(
                cusolverDnXsyevjGetResidual(
                    this->handle, this->jacobi, &residual),
                CUSOLVER_STATUS_SUCCESS);
            EXPECT_GE(residual, 0);
            EXPECT_LT(residual, 100 * F::kTolerance);
            int sweeps = 0;
            ASSERT_EQ(
                cusolverDnXsyevjGetSweeps(this->handle, this->jacobi, &sweeps),
                CUSOLVER_STATUS_SUCCESS);
            EXPECT_GT(sweeps, 0);
          } else {
            ASSERT_EQ(
                F::sygvd_size(
                    this->handle,
                    type,
                    mode,
                    triangle,
                    kN,
                    its_a,
                    kLda,
                    its_b,
                    kLdb,
                    values.get(),
                    &size),
                CUSOLVER_STATUS_SUCCESS);
            ASSERT_EQ(
                F::sygvd(
                    this->handle,
                    type,
                    mode,
                    triangle,
                    kN,
                    its_a,
                    kLda,
                    its_b,
                    kLdb,
                    values.get(),
                    area,
                    size,
                    this->info.get()),
                CUSOLVER_STATUS_SUCCESS);
          }
          EXPECT_EQ(this->last_info(), 0);
          if (mode == CUSOLVER_EIG_MODE_VECTOR) {
            with_vectors = values.values();
            this->expect_eigen(
                type, a, b, Matrix(left.values(), kN, kN, kLda), with_vectors);
          } else {
            expect_near(
                this->diagonal(values.values(), kN, kN),
                this->diagonal(with_vectors, kN, kN),
                100 * F::kTolerance);
          }
        }
      }
    }
  }
}

TYPED_TEST(GeneralizedTest, AMatrixThatIsNotPositive) {
  using F = TypeParam;
  using Api = typename F::Api;
  using Real = typename F::Real;
  using T = typename F::T;
  Matrix b = this->identity(kN);
  b(4, 4) = -1;
  const Array<T> left(this->packed(this->identity(kN), kLda));
  const Array<T> right(this->packed(b, kLdb));
  const Array<Real> values{std::vector<Real>(kN)};
  ASSERT_EQ(
      F::sygvd(
          this->handle,
          CUSOLVER_EIG_TYPE_1,
          CUSOLVER_EIG_MODE_VECTOR,
          CUBLAS_FILL_MODE_LOWER,
          kN,
          left.template get<Api>(),
          kLda,
          right.template get<Api>(),
          kLdb,
          values.get(),
          this->work.template get<Api>(),
          1,
          this->info.get()),
      CUSOLVER_STATUS_SUCCESS);
  // The fifth leading minor.
  EXPECT_EQ(this->last_info(), kN + 5);
  // Jacobi's method has another number for it.
  const Array<T> again(this->packed(b, kLdb));
  ASSERT_EQ(
      F::sygvj(
          this->handle,
          CUSOLVER_EIG_TYPE_1,
          CUSOLVER_EIG_MODE_VECTOR,
          CUBLAS_FILL_MODE_LOWER,
          kN,
          left.template get<Api>(),
          kLda,
          again.template get<Api>(),
          kLdb,
          values.get(),
          this->work.template get<Api>(),
          1,
          this->info.get(),
          this->jacobi),
      CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(this->last_info(), 5);
}

TYPED_TEST(GeneralizedTest, Refuse) {
  using F = TypeParam;
  using Api = typename F::Api;
  using Real = typename F::Real;
  const Array<typename F::T> array(this->packed(this->identity(kN), kN));
  Api* const a = array.template get<Api>();
  const Array<Real> values{std::vector<Real>(kN)};
  const auto solve = [&](cusolverEigType_t type,
                         cusolverEigMode_t mode,
                         cublasFillMode_t triangle,
                         int n,
                         int lda,
                         int ldb,
                         int size) {
    return F::sygvd(
        this->handle,
        type,
        mode,
        triangle,
        n,
        a,
        lda,
        a,
        ldb,
        values.get(),
        a,
        size,
        this->info.get());
  };
  constexpr auto kType = CUSOLVER_EIG_TYPE_1;
  constexpr auto kMode = CUSOLVER_EIG_MODE_VECTOR;
  constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;
  constexpr auto kInvalid = CUSOLVER_STATUS_INVALID_VALUE;
  EXPECT_EQ(
      solve(static_cast<cusolverEigType_t>(4), kMode, kLower, 2, 2, 2, 1),
      kInvalid);
  EXPECT_EQ(
      solve(kType, static_cast<cusolverEigMode_t>(4), kLower, 2, 2, 2, 1),
      kInvalid);
  EXPECT_EQ(solve(kType, kMode, CUBLAS_FILL_MODE_FULL, 2, 2, 2, 1), kInvalid);
  EXPECT_EQ(solve(kType, kMode, kLower, -1, 2, 2, 1), kInvalid);
  EXPECT_EQ(solve(kType, kMode, kLower, 2, 1, 2, 1), kInvalid);
  EXPECT_EQ(solve(kType, kMode, kLower, 2, 2, 1, 1), kInvalid);
  EXPECT_EQ(solve(kType, kMode, kLower, 2, 2, 2, 0), kInvalid);
  EXPECT_EQ(
      F::sygvj(
          this->handle,
          kType,
          kMode,
          kLower,
          2,
          a,
          2,
          a,
          2,
          values.get(),
          a,
          1,
          this->info.get(),
          nullptr),
      kInvalid);
  EXPECT_EQ(
      F::sygvd(
          nullptr,
          kType,
          kMode,
          kLower,
          2,
          a,
          2,
          a,
          2,
          values.get(),
          a,
          1,
          this->info.get()),
      CUSOLVER_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(
      F::syevdx(
          this->handle,
          kMode,
          CUSOLVER_EIG_RANGE_ALL,
          kLower,
          2,
          a,
          2,
          0,
          0,
          0,
          0,
          nullptr,
          values.get(),
          a,
          1,
          this->info.get()),
      kInvalid);
}

} // namespace
} // namespace accelerator::solver::testing
