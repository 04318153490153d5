// Packed and banded matrices: cuBLAS's answers against products of the whole
// matrices in double precision. What the array has beside the matrix is NaN.
#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/libraries/blas/testing/packed.h"

namespace accelerator::blas::testing {
namespace {

using PackedKinds = ::testing::
    Types<PackedReal32, PackedReal64, PackedHermitian32, PackedHermitian64>;
TYPED_TEST_SUITE(Packed, PackedKinds);

TYPED_TEST(Packed, BandsTimesVectors) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  for (const auto operation : kOperations) {
    for (const int kl : {0, 1, kM + 1}) {
      for (const int ku : kDiagonals) {
        for (const int incx : {1, -2}) {
          for (const int incy : {3, -1}) {
            const Array<T> matrix(this->band(this->a, kM, kN, kl, ku));
            const Array<T> result(this->y);
            ASSERT_EQ(
                F::gbmv(
                    this->handle,
                    operation,
                    kM,
                    kN,
                    kl,
                    ku,
                    this->scalar(&this->alpha),
                    matrix.template get<Api>(),
                    kl + ku + 2,
                    this->x_array.template get<Api>(),
                    incx,
                    this->scalar(&this->beta),
                    result.template get<Api>(),
                    incy),
                CUBLAS_STATUS_SUCCESS);
            this->expect_product(
                result.values(),
                apply(
                    operation,
                    Matrix(this->within(this->a, kl, ku), kM, kN, kLead)),
                incx,
                incy);
          }
        }
      }
    }
  }
}

TYPED_TEST(Packed, WideBandsTimesVectors) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  // More columns than rows, so that the last ones have nothing of the band.
  const Array<T> matrix(this->band(this->a, 2, kM, 1, 1));
  const Array<T> result(this->y);
  ASSERT_EQ(
      F::gbmv(
          this->handle,
          CUBLAS_OP_N,
          2,
          kM,
          1,
          1,
          this->scalar(&this->alpha),
          matrix.template get<Api>(),
          4,
          this->x_array.template get<Api>(),
          1,
          this->scalar(&this->beta),
          result.template get<Api>(),
          1),
      CUBLAS_STATUS_SUCCESS);
  this->expect_product(
      result.values(), Matrix(this->within(this->a, 1, 1), 2, kM, kLead), 1, 1);
}

TYPED_TEST(Packed, SymmetricMatricesTimesVectors) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  for (const auto fill : kFills) {
    for (const int incx : {1, -2}) {
      for (const int incy : {3, -1}) {
        const Array<T> packed(this->pack(this->a, fill));
        const Array<T> result(this->y);
        ASSERT_EQ(
            F::spmv(
                this->handle,
                fill,
                kN,
                this->scalar(&this->alpha),
                packed.template get<Api>(),
                this->x_array.template get<Api>(),
                incx,
                this->scalar(&this->beta),
                result.template get<Api>(),
                incy),
            CUBLAS_STATUS_SUCCESS);
        this->expect_product(
            result.values(), this->whole(this->a, fill), incx, incy);
        for (const int k : kDiagonals) {
          const int below = this->below(fill, k);
          const int above = this->above(fill, k);
          const Array<T> banded(this->band(this->a, kN, kN, below, above));
          const Array<T> product(this->y);
          ASSERT_EQ(
              F::sbmv(
                  this->handle,
                  fill,
                  kN,
                  k,
                  this->scalar(&this->alpha),
                  banded.template get<Api>(),
                  k + 2,
                  this->x_array.template get<Api>(),
                  incx,
                  this->scalar(&this->beta),
                  product.template get<Api>(),
                  incy),
              CUBLAS_STATUS_SUCCESS);
          this->expect_product(
              product.values(),
              this->whole(this->within(this->a, below, above), fill),
              incx,
              incy);
        }
      }
    }
  }
}

TYPED_TEST(Packed, BetaOfZeroTakesNoNoticeOfWhatWasThere) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const T zero{};
  const auto fill = CUBLAS_FILL_MODE_UPPER;
  const Array<T> packed(this->pack(this->a, fill));
  const Array<T> banded(this->band(this->a, kN, kN, 0, 1));
  const Array<T> results[] = {
      Array<T>(this->nothing(kN)), Array<T>(this->nothing(kN))};
  ASSERT_EQ(
      F::spmv(
          this->handle,
          fill,
          kN,
          this->scalar(&this->alpha),
          packed.template get<Api>(),
          this->x_array.template get<Api>(),
          1,
          this->scalar(&zero),
          results[0].template get<Api>(),
          1),
      CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(
      F::gbmv(
          this->handle,
          CUBLAS_OP_N,
          kN,
          kN,
          0,
          1,
          this->scalar(&this->alpha),
          banded.template get<Api>(),
          3,
          this->x_array.template get<Api>(),
          1,
          this->scalar(&zero),
          results[1].template get<Api>(),
          1),
      CUBLAS_STATUS_SUCCESS);
  const Matrix matrices[] = {
      this->whole(this->a, fill),
      Matrix(this->within(this->a, 0, 1), kN, kN, kLead)};
  for (int i = 0; i < 2; ++i) {
    expect_near(
        this->column(results[i].values(), kN, 1),
        this->sum(
            Wide(this->alpha),
            matrices[i] * this->column(this->x, kN, 1),
            0,
            Matrix(kN, 1)),
        F::kTolerance);
  }
}

TYPED_TEST(Packed, SymmetricUpdates) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const Array<T> y_array(this->y);
  for (const auto fill : kFills) {
    for (const int incx : {1, -2}) {
      const Matrix u = this->column(this->x, kN, incx);
      const Matrix v = this->column(this->y, kN, -incx);
      const Array<T> once(this->pack(this->a, fill));
      ASSERT_EQ(
          F::spr(
              this->handle,
              fill,
              kN,
              this->scale(this->alpha),
              this->x_array.template get<Api>(),
              incx,
              once.template get<Api>()),
          CUBLAS_STATUS_SUCCESS);
      this->expect_triangle(
          this->unpack(once.values(), this->a, fill),
          this->a,
          fill,
          this->sum(
              this->scale_value(this->alpha),
              u * apply(this->kOther, u),
              1,
              this->whole(this->a, fill)));
      const Array<T> twice(this->pack(this->a, fill));
      ASSERT_EQ(
          F::spr2(
              this->handle,
              fill,
              kN,
              this->scalar(&this->alpha),
              this->x_array.template get<Api>(),
              incx,
              y_array.template get<Api>(),
              -incx,
              twice.template get<Api>()),
          CUBLAS_STATUS_SUCCESS);
      const Wide factor(this->alpha);
      this->expect_triangle(
          this->unpack(twice.values(), this->a, fill),
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

TYPED_TEST(Packed, TriangularMatricesTimesVectorsAndBack) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  std::vector<T> strong = this->a;
  for (int i = 0; i < kN; ++i) {
    strong[i * kLead + i] += T(4); // so that it can be divided by
  }
  for (const auto fill : kFills) {
    for (const auto operation : kOperations) {
      for (const auto diagonal : {CUBLAS_DIAG_UNIT, CUBLAS_DIAG_NON_UNIT}) {
        for (const int stride : {1, -3}) {
          const Matrix before = this->column(this->x, kN, stride);
          const auto check =
              [&](const std::vector<T>& matrix, auto multiply, auto solve) {
                const Matrix op = apply(
                    operation,
                    this->triangle(matrix, fill, diagonal == CUBLAS_DIAG_UNIT));
                const Array<T> result(this->x);
                auto* const values = result.template get<Api>();
                ASSERT_EQ(multiply(values), CUBLAS_STATUS_SUCCESS);
                expect_near(
                    this->column(result.values(), kN, stride),
                    op * before,
                    F::kTolerance);
                ASSERT_EQ(solve(values), CUBLAS_STATUS_SUCCESS);
                ASSERT_EQ(solve(values), CUBLAS_STATUS_SUCCESS);
                // Of what is solved the product is what was there.
                expect_near(
                    op * this->column(result.values(), kN, stride),
                    before,
                    F::kTolerance * 10);
              };
          const Array<T> packed(this->pack(strong, fill));
          const auto with_packed = [&](auto function) {
            return [&, function](Api* values) {
              return function(
                  this->handle,
                  fill,
                  operation,
                  diagonal,
                  kN,
                  packed.template get<Api>(),
                  values,
                  stride);
            };
          };
          check(strong, with_packed(F::tpmv), with_packed(F::tpsv));
          for (const int k : kDiagonals) {
            const int below = this->below(fill, k);
            const int above = this->above(fill, k);
            const Array<T> banded(this->band(strong, kN, kN, below, above));
            const auto with_band = [&](auto function) {
              return [&, function](Api* values) {
                return function(
                    this->handle,
                    fill,
                    operation,
                    diagonal,
                    kN,
                    k,
                    banded.template get<Api>(),
                    k + 2,
                    values,
                    stride);
              };
            };
            check(
                this->within(strong, below, above),
                with_band(F::tbmv),
                with_band(F::tbsv));
          }
        }
      }
    }
  }
}

TYPED_TEST(Packed, TrianglesArePackedAndUnpacked) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const Array<T> whole(this->a);
  const std::vector<T> old = random<T>(kLead * kLead, 4);
  for (const auto fill : kFills) {
    const std::vector<T> packed = this->pack(this->a, fill);
    const Array<T> result(this->nothing(packed.size()));
    ASSERT_EQ(
        F::trttp(
            this->handle,
            fill,
            kN,
            whole.template get<Api>(),
            kLead,
            result.template get<Api>()),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(result.values(), packed);
    const Array<T> unpacked(old);
    ASSERT_EQ(
        F::tpttr(
            this->handle,
            fill,
            kN,
            result.template get<Api>(),
            unpacked.template get<Api>(),
            kLead),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(unpacked.values(), this->unpack(packed, old, fill));
  }
}

TYPED_TEST(Packed, RefusesWhatIsWrong) {
  using F = TypeParam;
  using Api = typename F::Api;
  using T = typename F::T;
  const Array<T> matrix(this->a);
  auto* const a = matrix.template get<Api>();
  auto* const x = this->x_array.template get<Api>();
  const Api* const one = this->scalar(&this->alpha);
  const auto* const real = this->scale(this->alpha);
  const auto low = CUBLAS_FILL_MODE_LOWER;
  const auto full = CUBLAS_FILL_MODE_FULL;
  const auto h = this->handle;
  const cublasHandle_t none = nullptr;
  const auto wrong = CUBLAS_STATUS_INVALID_VALUE;
  const auto uninitialized = CUBLAS_STATUS_NOT_INITIALIZED;
  const auto plain = CUBLAS_OP_N;
  const auto unit = CUBLAS_DIAG_UNIT;
  const auto gbmv = [&](cublasHandle_t handle,
                        cublasOperation_t operation,
                        int m,
                        int kl,
                        int ku,
                        int lda,
                        int incx) {
    return F::gbmv(
        handle, operation, m, 3, kl, ku, one, a, lda, x, incx, one, x, 1);
  };
  EXPECT_EQ(gbmv(none, plain, 3, 1, 1, 3, 1), uninitialized);
  EXPECT_EQ(gbmv(h, CUBLAS_OP_CONJG, 3, 1, 1, 3, 1), wrong);
  EXPECT_EQ(gbmv(h, plain, -1, 1, 1, 3, 1), wrong);
  EXPECT_EQ(gbmv(h, plain, 3, -1, 1, 3, 1), wrong);
  EXPECT_EQ(gbmv(h, plain, 3, 1, -1, 3, 1), wrong);
  EXPECT_EQ(gbmv(h, plain, 3, 1, 1, 2, 1), wrong);
  EXPECT_EQ(gbmv(h, plain, 3, 1, 1, 3, 0), wrong);
  // Whose sum no int holds.
  const int most = std::numeric_limits<int>::max();
  EXPECT_EQ(gbmv(h, plain, 3, most, most, 3, 1), wrong);

  EXPECT_EQ(
      F::sbmv(none, low, 3, 1, one, a, 2, x, 1, one, x, 1), uninitialized);
  EXPECT_EQ(F::sbmv(h, full, 3, 1, one, a, 2, x, 1, one, x, 1), wrong);
  EXPECT_EQ(F::sbmv(h, low, 3, -1, one, a, 2, x, 1, one, x, 1), wrong);
  EXPECT_EQ(F::sbmv(h, low, 3, 1, one, a, 1, x, 1, one, x, 1), wrong);
  EXPECT_EQ(F::sbmv(h, low, 3, 1, one, a, 2, x, 1, one, x, 0), wrong);
  EXPECT_EQ(F::spmv(h, full, 3, one, a, x, 1, one, x, 1), wrong);
  EXPECT_EQ(F::spmv(h, low, -1, one, a, x, 1, one, x, 1), wrong);
  EXPECT_EQ(F::spmv(h, low, 3, one, a, x, 1, nullptr, x, 1), wrong);
  EXPECT_EQ(F::spr(h, full, 3, real, x, 1, a), wrong);
  EXPECT_EQ(F::spr(h, low, 3, real, x, 0, a), wrong);
  EXPECT_EQ(F::spr2(h, full, 3, one, x, 1, x, 1, a), wrong);
  EXPECT_EQ(F::spr2(h, low, 3, nullptr, x, 1, x, 1, a), wrong);
  for (const auto function : {F::tpmv, F::tpsv}) {
    EXPECT_EQ(function(none, low, plain, unit, 3, a, x, 1), uninitialized);
    EXPECT_EQ(function(h, full, plain, unit, 3, a, x, 1), wrong);
    EXPECT_EQ(function(h, low, CUBLAS_OP_CONJG, unit, 3, a, x, 1), wrong);
    EXPECT_EQ(function(h, low, plain, unit, 3, a, x, 0), wrong);
  }
  for (const auto function : {F::tbmv, F::tbsv}) {
    EXPECT_EQ(
        function(none, low, plain, unit, 3, 1, a, 2, x, 1), uninitialized);
    EXPECT_EQ(function(h, low, plain, unit, 3, 1, a, 1, x, 1), wrong);
    EXPECT_EQ(function(h, low, plain, unit, 3, -1, a, 2, x, 1), wrong);
  }
  EXPECT_EQ(F::tpttr(none, low, 3, x, a, 3), uninitialized);
  EXPECT_EQ(F::tpttr(h, full, 3, x, a, 3), wrong);
  EXPECT_EQ(F::tpttr(h, low, 3, x, a, 2), wrong);
  EXPECT_EQ(F::trttp(h, low, 3, x, 2, a), wrong);
  EXPECT_EQ(F::trttp(h, low, -1, x, 3, a), wrong);
  EXPECT_EQ(matrix.values(), this->a);
  EXPECT_EQ(this->x_array.values(), this->x);
}

} // namespace
} // namespace accelerator::blas::testing
