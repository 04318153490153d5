// Matrices and vectors: cuBLAS's answers against products in double precision.
#include <limits>
#include <vector>

#include "runtime/libraries/blas/testing/symmetric.h"

namespace accelerator::blas::testing {
namespace {

template <typename F>
using Level2 = SymmetricTest<F>;
TYPED_TEST_SUITE(Level2, Kinds);

TYPED_TEST(Level2, SymmetricMatricesTimesVectors) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const Array<T> matrix(this->a);
  for (const auto fill : kFills) {
    for (const int incx : {1, -2}) {
      for (const int incy : {3, -1}) {
        const Array<T> result(this->y);
        ASSERT_EQ(
            F::symv(
                this->handle,
                fill,
                kN,
                this->scalar(&this->alpha),
                matrix.template get<Api>(),
                kLead,
                this->x_array.template get<Api>(),
                incx,
                this->scalar(&this->beta),
                result.template get<Api>(),
                incy),
            CUBLAS_STATUS_SUCCESS);
        this->expect_product(
            result.values(), this->whole(this->a, fill), incx, incy);
      }
    }
  }
  // A beta of zero takes no notice of what was there.
  const T zero{};
  const Array<T> result(std::vector<T>(
      kN, T(std::numeric_limits<typename F::Real>::quiet_NaN())));
  ASSERT_EQ(
      F::symv(
          this->handle,
          CUBLAS_FILL_MODE_LOWER,
          kN,
          this->scalar(&this->alpha),
          matrix.template get<Api>(),
          kLead,
          this->x_array.template get<Api>(),
          1,
          this->scalar(&zero),
          result.template get<Api>(),
          1),
      CUBLAS_STATUS_SUCCESS);
  expect_near(
      this->column(result.values(), kN, 1),
      this->sum(
          Wide(this->alpha),
          this->whole(this->a, CUBLAS_FILL_MODE_LOWER) *
              this->column(this->x, kN, 1),
          0,
          Matrix(kN, 1)),
      F::kTolerance);
}

TYPED_TEST(Level2, UpdatesByTwoVectors) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const Array<T> y_array(this->y);
  for (const bool conjugate : {false, true}) {
    for (const int incx : {1, -2}) {
      for (const int incy : {2, -1}) {
        const Array<T> matrix(this->a);
        ASSERT_EQ(
            (conjugate ? F::gerc : F::ger)(
                this->handle,
                kM,
                kN,
                this->scalar(&this->alpha),
                this->x_array.template get<Api>(),
                incx,
                y_array.template get<Api>(),
                incy,
                matrix.template get<Api>(),
                kLead),
            CUBLAS_STATUS_SUCCESS);
        expect_near(
            Matrix(matrix.values(), kM, kN, kLead),
            this->sum(
                Wide(this->alpha),
                this->column(this->x, kM, incx) *
                    apply(
                        conjugate ? CUBLAS_OP_C : CUBLAS_OP_T,
                        this->column(this->y, kN, incy)),
                1,
                Matrix(this->a, kM, kN, kLead)),
            F::kTolerance);
      }
    }
  }
}

TYPED_TEST(Level2, SymmetricUpdatesChangeOneTriangle) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const Array<T> y_array(this->y);
  for (const auto fill : kFills) {
    for (const int incx : {1, -2}) {
      const Matrix u = this->column(this->x, kN, incx);
      const Matrix v = this->column(this->y, kN, -incx);
      const Array<T> once(this->a);
      ASSERT_EQ(
          F::syr(
              this->handle,
              fill,
              kN,
              this->scale(this->alpha),
              this->x_array.template get<Api>(),
              incx,
              once.template get<Api>(),
              kLead),
          CUBLAS_STATUS_SUCCESS);
      this->expect_triangle(
          once.values(),
          this->a,
          fill,
          this->sum(
              this->scale_value(this->alpha),
              u * apply(this->kOther, u),
              1,
              this->whole(this->a, fill)));
      const Array<T> twice(this->a);
      ASSERT_EQ(
          F::syr2(
              this->handle,
              fill,
              kN,
              this->scalar(&this->alpha),
              this->x_array.template get<Api>(),
              incx,
              y_array.template get<Api>(),
              -incx,
              twice.template get<Api>(),
              kLead),
          CUBLAS_STATUS_SUCCESS);
      const Wide factor(this->alpha);
      this->expect_triangle(
          twice.values(),
          this->a,
          fill,
          this->sum(
              1,
              this->sum(
                  factor,
                  u * apply(this->kOther, v),
                  F::kHermitian ? std::conj(factor) : factor,
                  v * apply(this->kOther, u)),
              1,
              this->whole(this->a, fill)));
    }
  }
}

TYPED_TEST(Level2, TriangularMatricesTimesVectorsAndBack) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  std::vector<T> strong = this->a;
  for (int i = 0; i < kN; ++i) {
    strong[i * kLead + i] += T(4); // so that it can be divided by
  }
  const Array<T> matrix(strong);
  for (const auto fill : kFills) {
    for (const auto operation : kOperations) {
      for (const auto diagonal : {CUBLAS_DIAG_UNIT, CUBLAS_DIAG_NON_UNIT}) {
        for (const int stride : {1, -3}) {
          const Array<T> result(this->x);
          const auto call = [&](auto function) {
            ASSERT_EQ(
                function(
                    this->handle,
                    fill,
                    operation,
                    diagonal,
                    kN,
                    matrix.template get<Api>(),
                    kLead,
                    result.template get<Api>(),
                    stride),
                CUBLAS_STATUS_SUCCESS);
          };
          const Matrix op = apply(
              operation,
              this->triangle(strong, fill, diagonal == CUBLAS_DIAG_UNIT));
          const Matrix before = this->column(this->x, kN, stride);
          call(F::trmv);
          expect_near(
              this->column(result.values(), kN, stride),
              op * before,
              F::kTolerance);
          call(F::trsv);
          call(F::trsv);
          // Of what is solved the product is what was there.
          expect_near(
              op * this->column(result.values(), kN, stride),
              before,
              F::kTolerance * 10);
        }
      }
    }
  }
}

TYPED_TEST(Level2, FactorsMayBeOnTheDevice) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  using Scale = typename F::Scale;
  ASSERT_EQ(
      cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  const Array<T> factors(std::vector<T>{this->alpha, this->beta});
  const Array<T> matrix(this->a);
  const Array<T> result(this->y);
  auto* const x = this->x_array.template get<Api>();
  ASSERT_EQ(
      F::symv(
          this->handle,
          CUBLAS_FILL_MODE_UPPER,
          kN,
          factors.template get<Api>(),
          matrix.template get<Api>(),
          kLead,
          x,
          1,
          factors.template get<Api>() + 1,
          result.template get<Api>(),
          1),
      CUBLAS_STATUS_SUCCESS);
  const Matrix v = this->column(this->x, kN, 1);
  this->expect_product(
      result.values(), this->whole(this->a, CUBLAS_FILL_MODE_UPPER), 1, 1);
  ASSERT_EQ(
      F::syr(
          this->handle,
          CUBLAS_FILL_MODE_UPPER,
          kN,
          factors.template get<Scale>(),
          x,
          1,
          matrix.template get<Api>(),
          kLead),
      CUBLAS_STATUS_SUCCESS);
  this->expect_triangle(
      matrix.values(),
      this->a,
      CUBLAS_FILL_MODE_UPPER,
      this->sum(
          this->scale_value(this->alpha),
          v * apply(this->kOther, v),
          1,
          this->whole(this->a, CUBLAS_FILL_MODE_UPPER)));
}

TYPED_TEST(Level2, RefusesWhatIsWrong) {
  using F = TypeParam;
  using Api = typename F::Api;
  using T = typename F::T;
  const Array<T> matrix(this->a);
  auto* const a = matrix.template get<Api>();
  auto* const x = this->x_array.template get<Api>();
  const Api* const one = this->scalar(&this->alpha);
  const auto lower = CUBLAS_FILL_MODE_LOWER;
  const auto full = CUBLAS_FILL_MODE_FULL;
  const auto h = this->handle;
  const cublasHandle_t none = nullptr;
  const auto wrong = CUBLAS_STATUS_INVALID_VALUE;
  const auto uninitialized = CUBLAS_STATUS_NOT_INITIALIZED;
  const auto plain = CUBLAS_OP_N;
  const auto unit = CUBLAS_DIAG_UNIT;
  const auto symv = [&](cublasHandle_t handle,
                        cublasFillMode_t fill,
                        int n,
                        int lda,
                        int incx,
                        const Api* factor) {
    return F::symv(handle, fill, n, factor, a, lda, x, incx, one, x, 1);
  };
  EXPECT_EQ(symv(none, lower, kN, kLead, 1, one), uninitialized);
  EXPECT_EQ(symv(h, full, kN, kLead, 1, one), wrong);
  EXPECT_EQ(symv(h, lower, -1, kLead, 1, one), wrong);
  EXPECT_EQ(symv(h, lower, kN, kN - 1, 1, one), wrong);
  EXPECT_EQ(symv(h, lower, kN, kLead, 0, one), wrong);
  EXPECT_EQ(symv(h, lower, kN, kLead, 1, nullptr), wrong);
  EXPECT_EQ(F::ger(none, kM, kN, one, x, 1, x, 1, a, kLead), uninitialized);
  EXPECT_EQ(F::ger(h, kM, -1, one, x, 1, x, 1, a, kLead), wrong);
  EXPECT_EQ(F::ger(h, kM, kN, one, x, 1, x, 0, a, kLead), wrong);
  EXPECT_EQ(F::ger(h, kM, kN, one, x, 1, x, 1, a, kM - 1), wrong);
  EXPECT_EQ(F::ger(h, kM, kN, nullptr, x, 1, x, 1, a, kLead), wrong);
  EXPECT_EQ(
      F::syr(none, lower, kN, this->scale(this->alpha), x, 1, a, kLead),
      uninitialized);
  EXPECT_EQ(
      F::syr(h, full, kN, this->scale(this->alpha), x, 1, a, kLead), wrong);
  EXPECT_EQ(
      F::syr(h, lower, kN, this->scale(this->alpha), x, 0, a, kLead), wrong);
  EXPECT_EQ(F::syr(h, lower, kN, nullptr, x, 1, a, kLead), wrong);
  EXPECT_EQ(F::syr2(none, lower, kN, one, x, 1, x, 1, a, kLead), uninitialized);
  EXPECT_EQ(F::syr2(h, full, kN, one, x, 1, x, 1, a, kLead), wrong);
  EXPECT_EQ(F::syr2(h, lower, kN, one, x, 1, x, 1, a, kN - 1), wrong);
  EXPECT_EQ(F::syr2(h, lower, kN, nullptr, x, 1, x, 1, a, kLead), wrong);
  for (const auto function : {F::trmv, F::trsv}) {
    EXPECT_EQ(
        function(none, lower, plain, unit, kN, a, kLead, x, 1), uninitialized);
    EXPECT_EQ(function(h, full, plain, unit, kN, a, kLead, x, 1), wrong);
    EXPECT_EQ(
        function(h, lower, CUBLAS_OP_CONJG, unit, kN, a, kLead, x, 1), wrong);
    EXPECT_EQ(
        function(
            h,
            lower,
            plain,
            static_cast<cublasDiagType_t>(9),
            kN,
            a,
            kLead,
            x,
            1),
        wrong);
    EXPECT_EQ(function(h, lower, plain, unit, kN, a, kLead, x, 0), wrong);
  }
  EXPECT_EQ(matrix.values(), this->a);
  EXPECT_EQ(this->x_array.values(), this->x);
}

} // namespace
} // namespace accelerator::blas::testing
