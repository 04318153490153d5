// Tridiagonal matrices, and the orthogonal ones around them.
#include <memory>
#include <tuple>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

constexpr int kN = 6, kLda = 8;

template <typename F>
class TridiagonalTest : public SolverTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;
  using Real = typename F::Real;

  /// Reduces a matrix of which one triangle is there, and makes Q of it.
  /// @return T, whose two diagonals are what was answered.
  Matrix reduce(cublasFillMode_t triangle, const Matrix& a) {
    const bool is_lower = triangle == CUBLAS_FILL_MODE_LOWER;
    std::vector<T> half = this->packed(a, kLda);
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kN; ++i) {
        if (is_lower ? i < j : i > j) {
          half[j * kLda + i] = T(99);
        }
      }
    }
    factors = std::make_unique<Array<T>>(half);
    int size = 0;
    EXPECT_EQ(
        F::sytrd_size(
            this->handle,
            triangle,
            kN,
            factors->template get<Api>(),
            kLda,
            diagonal.get(),
            off_diagonal.get(),
            tau.template get<Api>(),
            &size),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(
        F::sytrd(
            this->handle,
            triangle,
            kN,
            factors->template get<Api>(),
            kLda,
            diagonal.get(),
            off_diagonal.get(),
            tau.template get<Api>(),
            this->work.template get<Api>(),
            size,
            this->info.get()),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(this->last_info(), 0);
    Matrix result(kN, kN);
    for (int i = 0; i < kN; ++i) {
      result(i, i) = static_cast<double>(diagonal.values()[i]);
      if (i + 1 < kN) {
        result(i, i + 1) = result(i + 1, i) =
            static_cast<double>(off_diagonal.values()[i]);
      }
    }
    return result;
  }

  Matrix orthogonal(cublasFillMode_t triangle) {
    const Array<T> whole(factors->values());
    int size = 0;
    EXPECT_EQ(
        F::orgtr_size(
            this->handle,
            triangle,
            kN,
            whole.template get<Api>(),
            kLda,
            tau.template get<Api>(),
            &size),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(
        F::orgtr(
            this->handle,
            triangle,
            kN,
            whole.template get<Api>(),
            kLda,
            tau.template get<Api>(),
            this->work.template get<Api>(),
            size,
            this->info.get()),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(this->last_info(), 0);
    return Matrix(whole.values(), kN, kN, kLda);
  }

  std::unique_ptr<Array<T>> factors;
  const Array<Real> diagonal{std::vector<Real>(kN)};
  const Array<Real> off_diagonal{std::vector<Real>(kN - 1)};
  const Array<T> tau{std::vector<T>(kN - 1)};
};
TYPED_TEST_SUITE(TridiagonalTest, AllTypes);

TYPED_TEST(TridiagonalTest, IsTheMatrixBetweenOrthogonalOnes) {
  using F = TypeParam;
  const Matrix a = this->hermitian(kN, 1, false);
  for (const auto triangle : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    const Matrix t = this->reduce(triangle, a);
    const Matrix q = this->orthogonal(triangle);
    this->expect_orthonormal(q);
    expect_near(q * t * apply(CUBLAS_OP_C, q), a, F::kTolerance);
  }
}

TYPED_TEST(TridiagonalTest, OrthogonalOnesMultiplyFromBothSides) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kOther = 4, kLdc = 7;
  const auto transposed = F::kIsComplex ? CUBLAS_OP_C : CUBLAS_OP_T;
  for (const auto triangle : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    this->reduce(triangle, this->hermitian(kN, 2, false));
    const Matrix q = this->orthogonal(triangle);
    for (const auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
      const bool is_left = side == CUBLAS_SIDE_LEFT;
      const int rows = is_left ? kN : kOther;
      const int columns = is_left ? kOther : kN;
      for (const auto operation : {CUBLAS_OP_N, transposed}) {
        const Matrix c = this->random_matrix(rows, columns, 3);
        const Array<typename F::T> result(this->packed(c, kLdc));
        int size = 0;
        ASSERT_EQ(
            F::ormtr_size(
                this->handle,
                side,
                triangle,
                operation,
                rows,
                columns,
                this->factors->template get<Api>(),
                kLda,
                this->tau.template get<Api>(),
                result.template get<Api>(),
                kLdc,
                &size),
            CUSOLVER_STATUS_SUCCESS);
        ASSERT_EQ(
            F::ormtr(
                this->handle,
                side,
                triangle,
                operation,
                rows,
                columns,
                this->factors->template get<Api>(),
                kLda,
                this->tau.template get<Api>(),
                result.template get<Api>(),
                kLdc,
                this->work.template get<Api>(),
                size,
                this->info.get()),
            CUSOLVER_STATUS_SUCCESS);
        EXPECT_EQ(this->last_info(), 0);
        const Matrix factor = apply(operation, q);
        expect_near(
            Matrix(result.values(), rows, columns, kLdc),
            is_left ? factor * c : c * factor,
            F::kTolerance);
      }
    }
  }
}

TYPED_TEST(TridiagonalTest, IsRefusedWhereItIsWrong) {
  using F = TypeParam;
  int size = 0;
  for (const auto& [triangle, n, lda] :
       {std::tuple{CUBLAS_FILL_MODE_FULL, 2, 2},
        {CUBLAS_FILL_MODE_LOWER, -1, 2},
        {CUBLAS_FILL_MODE_LOWER, 3, 2}}) {
    EXPECT_EQ(
        F::sytrd_size(
            this->handle,
            triangle,
            n,
            nullptr,
            lda,
            nullptr,
            nullptr,
            nullptr,
            &size),
        CUSOLVER_STATUS_INVALID_VALUE);
    EXPECT_EQ(
        F::orgtr_size(this->handle, triangle, n, nullptr, lda, nullptr, &size),
        CUSOLVER_STATUS_INVALID_VALUE);
  }
  EXPECT_EQ(
      F::ormtr_size(
          this->handle,
          CUBLAS_SIDE_LEFT,
          CUBLAS_FILL_MODE_LOWER,
          F::kIsComplex ? CUBLAS_OP_T : static_cast<cublasOperation_t>(7),
          2,
          2,
          nullptr,
          2,
          nullptr,
          nullptr,
          2,
          &size),
      CUSOLVER_STATUS_INVALID_VALUE);
}

} // namespace
} // namespace accelerator::solver::testing
