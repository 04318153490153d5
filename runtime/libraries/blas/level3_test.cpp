// Matrices and matrices: cuBLAS's answers against products in double precision.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/libraries/blas/testing/symmetric.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kK = 4;

template <typename F>
class Level3 : public SymmetricTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;

  static Matrix matrix(const std::vector<T>& values, int rows, int columns) {
    return Matrix(values, rows, columns, kLead);
  }
  /// The operations of an update by a matrix and its transpose.
  static std::vector<cublasOperation_t> update_operations() {
    return std::is_floating_point_v<T>
        ? std::vector{CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}
        : std::vector{CUBLAS_OP_N, Level3::kOther};
  }
  /// op(A) of kN rows, as it is stored.
  static Matrix factor(const std::vector<T>& values, cublasOperation_t by) {
    return by == CUBLAS_OP_N ? matrix(values, kN, kK)
                             : apply(by, matrix(values, kK, kN));
  }

  const std::vector<T> b = random<T>(kLead * kLead, 5);
  const std::vector<T> c = random<T>(kLead * kLead, 6);
  const Array<T> a_array{this->a};
  const Array<T> b_array{b};
};
TYPED_TEST_SUITE(Level3, Kinds);

TYPED_TEST(Level3, ProductsWithSymmetricMatrices) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const T zero{};
  for (const auto fill : kFills) {
    for (const auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
      for (const T& beta : {this->beta, zero}) {
        const int m = side == CUBLAS_SIDE_LEFT ? kN : kM;
        const int n = side == CUBLAS_SIDE_LEFT ? kM : kN;
        std::vector<T> before = this->c;
        if (beta == zero) { // then it is not read
          std::fill(
              before.begin(),
              before.end(),
              T(std::numeric_limits<typename F::Real>::quiet_NaN()));
        }
        const Array<T> result(before);
        ASSERT_EQ(
            F::symm(
                this->handle,
                side,
                fill,
                m,
                n,
                this->scalar(&this->alpha),
                this->a_array.template get<Api>(),
                kLead,
                this->b_array.template get<Api>(),
                kLead,
                this->scalar(&beta),
                result.template get<Api>(),
                kLead),
            CUBLAS_STATUS_SUCCESS);
        const Matrix whole = this->whole(this->a, fill);
        const Matrix other = this->matrix(this->b, m, n);
        expect_near(
            this->matrix(result.values(), m, n),
            this->sum(
                Wide(this->alpha),
                side == CUBLAS_SIDE_LEFT ? whole * other : other * whole,
                Wide(beta),
                this->matrix(this->c, m, n)),
            F::kTolerance);
      }
    }
  }
}

TYPED_TEST(Level3, UpdatesByAMatrixChangeOneTriangle) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  for (const auto fill : kFills) {
    for (const auto operation : this->update_operations()) {
      const Array<T> result(this->c);
      ASSERT_EQ(
          F::syrk(
              this->handle,
              fill,
              operation,
              kN,
              kK,
              this->scale(this->alpha),
              this->a_array.template get<Api>(),
              kLead,
              this->scale(this->beta),
              result.template get<Api>(),
              kLead),
          CUBLAS_STATUS_SUCCESS);
      const Matrix factor = this->factor(this->a, operation);
      this->expect_triangle(
          result.values(),
          this->c,
          fill,
          this->sum(
              this->scale_value(this->alpha),
              factor * apply(this->kOther, factor),
              this->scale_value(this->beta),
              this->whole(this->c, fill)));
    }
  }
}

TYPED_TEST(Level3, UpdatesByTwoMatricesChangeOneTriangle) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  for (const auto fill : kFills) {
    for (const auto operation : this->update_operations()) {
      const Array<T> result(this->c);
      ASSERT_EQ(
          F::syr2k(
              this->handle,
              fill,
              operation,
              kN,
              kK,
              this->scalar(&this->alpha),
              this->a_array.template get<Api>(),
              kLead,
              this->b_array.template get<Api>(),
              kLead,
              this->scale(this->beta),
              result.template get<Api>(),
              kLead),
          CUBLAS_STATUS_SUCCESS);
      const Matrix left = this->factor(this->a, operation);
      const Matrix right = this->factor(this->b, operation);
      const Wide by(this->alpha);
      this->expect_triangle(
          result.values(),
          this->c,
          fill,
          this->sum(
              1,
              this->sum(
                  by,
                  left * apply(this->kOther, right),
                  F::kHermitian ? std::conj(by) : by,
                  right * apply(this->kOther, left)),
              this->scale_value(this->beta),
              this->whole(this->c, fill)));
    }
  }
}

TYPED_TEST(Level3, SymmetricProductsOfTwoMatricesChangeOneTriangle) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  for (const auto fill : kFills) {
    for (const auto operation : this->update_operations()) {
      // B is A times a number, so that the product is symmetric.
      std::vector<T> twice = this->a;
      for (T& value : twice) {
        value *= T(2);
      }
      const Array<T> twice_array(twice);
      const Array<T> result(this->c);
      const T by = T(std::real(this->alpha));
      ASSERT_EQ(
          F::syrkx(
              this->handle,
              fill,
              operation,
              kN,
              kK,
              this->scalar(&by),
              this->a_array.template get<Api>(),
              kLead,
              twice_array.template get<Api>(),
              kLead,
              this->scale(this->beta),
              result.template get<Api>(),
              kLead),
          CUBLAS_STATUS_SUCCESS);
      this->expect_triangle(
          result.values(),
          this->c,
          fill,
          this->sum(
              Wide(by),
              this->factor(this->a, operation) *
                  apply(this->kOther, this->factor(twice, operation)),
              this->scale_value(this->beta),
              this->whole(this->c, fill)));
    }
  }
}

TYPED_TEST(Level3, ProductsWithTriangularMatrices) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  for (const auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    for (const auto fill : kFills) {
      for (const auto operation : kOperations) {
        for (const auto diagonal : {CUBLAS_DIAG_UNIT, CUBLAS_DIAG_NON_UNIT}) {
          for (const bool in_place : {false, true}) {
            const int m = side == CUBLAS_SIDE_LEFT ? kN : kM;
            const int n = side == CUBLAS_SIDE_LEFT ? kM : kN;
            const Array<T> from(this->b);
            const Array<T> to(this->c);
            const Array<T>& result = in_place ? from : to;
            ASSERT_EQ(
                F::trmm(
                    this->handle,
                    side,
                    fill,
                    operation,
                    diagonal,
                    m,
                    n,
                    this->scalar(&this->alpha),
                    this->a_array.template get<Api>(),
                    kLead,
                    from.template get<Api>(),
                    kLead,
                    result.template get<Api>(),
                    kLead),
                CUBLAS_STATUS_SUCCESS);
            const Matrix op = apply(
                operation,
                this->triangle(this->a, fill, diagonal == CUBLAS_DIAG_UNIT));
            const Matrix other = this->matrix(this->b, m, n);
            expect_near(
                this->matrix(result.values(), m, n),
                this->sum(
                    Wide(this->alpha),
                    side == CUBLAS_SIDE_LEFT ? op * other : other * op,
                    0,
                    other),
                F::kTolerance);
            if (!in_place) {
              EXPECT_EQ(from.values(), this->b);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(Level3, FactorsMayBeOnTheDevice) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  ASSERT_EQ(
      cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  const Array<T> factors(std::vector<T>{this->alpha, this->beta});
  const Array<T> result(this->c);
  ASSERT_EQ(
      F::symm(
          this->handle,
          CUBLAS_SIDE_LEFT,
          CUBLAS_FILL_MODE_LOWER,
          kN,
          kM,
          factors.template get<Api>(),
          this->a_array.template get<Api>(),
          kLead,
          this->b_array.template get<Api>(),
          kLead,
          factors.template get<Api>() + 1,
          result.template get<Api>(),
          kLead),
      CUBLAS_STATUS_SUCCESS);
  expect_near(
      this->matrix(result.values(), kN, kM),
      this->sum(
          Wide(this->alpha),
          this->whole(this->a, CUBLAS_FILL_MODE_LOWER) *
              this->matrix(this->b, kN, kM),
          Wide(this->beta),
          this->matrix(this->c, kN, kM)),
      F::kTolerance);
}

TYPED_TEST(Level3, RefusesWhatIsWrong) {
  using F = TypeParam;
  using Api = typename F::Api;
  using T = typename F::T;
  constexpr auto kWrong = CUBLAS_STATUS_INVALID_VALUE;
  constexpr auto kNone = CUBLAS_STATUS_NOT_INITIALIZED;
  constexpr auto kLeft = CUBLAS_SIDE_LEFT;
  constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;
  constexpr auto kFull = CUBLAS_FILL_MODE_FULL;
  constexpr auto kPlain = CUBLAS_OP_N;
  const auto no_side = static_cast<cublasSideMode_t>(9);
  const auto h = this->handle;
  const Array<T> result(this->c);
  auto* const a = this->a_array.template get<Api>();
  auto* const c = result.template get<Api>();
  const Api* const one = this->scalar(&this->alpha);
  const auto* const scale = this->scale(this->alpha);

  const auto symm = [&](cublasHandle_t handle,
                        cublasSideMode_t side,
                        cublasFillMode_t fill,
                        int m,
                        int lda,
                        const Api* by) {
    return F::symm(
        handle, side, fill, m, kM, by, a, lda, a, kLead, one, c, kLead);
  };
  EXPECT_EQ(symm(nullptr, kLeft, kLower, kN, kLead, one), kNone);
  EXPECT_EQ(symm(h, no_side, kLower, kN, kLead, one), kWrong);
  EXPECT_EQ(symm(h, kLeft, kFull, kN, kLead, one), kWrong);
  EXPECT_EQ(symm(h, kLeft, kLower, -1, kLead, one), kWrong);
  EXPECT_EQ(symm(h, kLeft, kLower, kN, kN - 1, one), kWrong);
  EXPECT_EQ(symm(h, kLeft, kLower, kN, kLead, nullptr), kWrong);

  // The transpose that an update of complex matrices does not have.
  const auto other =
      F::kHermitian ? CUBLAS_OP_T : static_cast<cublasOperation_t>(CUBLAS_OP_C);
  const auto update = [&](cublasHandle_t handle,
                          cublasFillMode_t fill,
                          cublasOperation_t by,
                          int n,
                          int lda,
                          int ldc) {
    const auto once =
        F::syrk(handle, fill, by, n, kK, scale, a, lda, scale, c, ldc);
    const auto twice =
        F::syr2k(handle, fill, by, n, kK, one, a, lda, a, lda, scale, c, ldc);
    EXPECT_EQ(once, twice);
    return once;
  };
  EXPECT_EQ(update(nullptr, kLower, kPlain, kN, kLead, kLead), kNone);
  EXPECT_EQ(update(h, kFull, kPlain, kN, kLead, kLead), kWrong);
  EXPECT_EQ(update(h, kLower, CUBLAS_OP_CONJG, kN, kLead, kLead), kWrong);
  if (!std::is_floating_point_v<T>) {
    EXPECT_EQ(update(h, kLower, other, kN, kLead, kLead), kWrong);
  }
  EXPECT_EQ(update(h, kLower, kPlain, -1, kLead, kLead), kWrong);
  EXPECT_EQ(update(h, kLower, kPlain, kN, kN - 1, kLead), kWrong);
  EXPECT_EQ(update(h, kLower, this->kOther, kN, kK - 1, kLead), kWrong);
  EXPECT_EQ(update(h, kLower, kPlain, kN, kLead, kN - 1), kWrong);
  EXPECT_EQ(
      F::syrk(h, kLower, kPlain, kN, kK, nullptr, a, kLead, scale, c, kLead),
      kWrong);
  EXPECT_EQ(
      F::syr2k(
          h,
          kLower,
          kPlain,
          kN,
          kK,
          one,
          a,
          kLead,
          a,
          kLead,
          nullptr,
          c,
          kLead),
      kWrong);

  const auto trmm = [&](cublasHandle_t handle,
                        cublasSideMode_t side,
                        cublasOperation_t by,
                        int lda,
                        const Api* b,
                        int ldb) {
    return F::trmm(
        handle,
        side,
        kLower,
        by,
        CUBLAS_DIAG_UNIT,
        kN,
        kM,
        one,
        a,
        lda,
        b,
        ldb,
        c,
        kLead);
  };
  EXPECT_EQ(trmm(nullptr, kLeft, kPlain, kLead, a, kLead), kNone);
  EXPECT_EQ(trmm(h, no_side, kPlain, kLead, a, kLead), kWrong);
  EXPECT_EQ(trmm(h, kLeft, CUBLAS_OP_CONJG, kLead, a, kLead), kWrong);
  EXPECT_EQ(trmm(h, kLeft, kPlain, kN - 1, a, kLead), kWrong);
  EXPECT_EQ(trmm(h, kLeft, kPlain, kLead, a, kN - 1), kWrong);
  EXPECT_EQ(trmm(h, kLeft, kPlain, kLead, c, kLead - 1), kWrong); // in place
  EXPECT_EQ(result.values(), this->c);
}

} // namespace
} // namespace accelerator::blas::testing
