// Vectors: cuBLAS's answers against sums in double precision.
#include <type_traits>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kN = 50;
constexpr int kStride = 3;

template <typename F>
class Level1 : public HandleTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;

  /// Element `i` of a vector with a stride, as cuBLAS counts: from the end when
  /// the stride is negative.
  static Wide at(const std::vector<T>& values, int i, int stride) {
    return Wide(values[static_cast<std::size_t>(
        stride > 0 ? i * stride : (kN - 1 - i) * -stride)]);
  }

  const std::vector<T> x = random<T>(kN * kStride, 1);
  const std::vector<T> y = random<T>(kN * kStride, 2);
  const Array<T> x_array{x};
  const Array<T> y_array{y};
};

TYPED_TEST_SUITE(Level1, AllTypes);

TYPED_TEST(Level1, DotProductsWithAnyStride) {
  using F = TypeParam;
  using Api = typename F::Api;
  for (const int incx : {1, 3, -2}) {
    for (const int incy : {1, -1}) {
      Wide plain, conjugated;
      for (int i = 0; i < kN; ++i) {
        const Wide a = this->at(this->x, i, incx);
        const Wide b = this->at(this->y, i, incy);
        plain += a * b;
        conjugated += std::conj(a) * b;
      }
      typename F::T result{};
      auto* place = reinterpret_cast<Api*>(&result);
      const auto* left = this->x_array.template get<Api>();
      const auto* right = this->y_array.template get<Api>();
      ASSERT_EQ(
          F::dot(this->handle, kN, left, incx, right, incy, place),
          CUBLAS_STATUS_SUCCESS);
      EXPECT_NEAR(std::abs(Wide(result) - plain), 0, F::kTolerance);
      ASSERT_EQ(
          F::dotc(this->handle, kN, left, incx, right, incy, place),
          CUBLAS_STATUS_SUCCESS);
      EXPECT_NEAR(std::abs(Wide(result) - conjugated), 0, F::kTolerance);
    }
  }
}

TYPED_TEST(Level1, LongDotProductsGrowToTheirEnd) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  // Beyond 2^24 a sum of ones in single precision stays as it is.
  constexpr int kLong = (1 << 24) + 1000;
  const Array<T> ones(std::vector<T>(kLong, T(1)));
  typename F::T result{};
  auto* place = reinterpret_cast<Api*>(&result);
  const auto* x = ones.template get<Api>();
  for (const auto function : {F::dot, F::dotc}) {
    ASSERT_EQ(
        function(this->handle, kLong, x, 1, x, 1, place),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(result, T(kLong));
  }
}

TYPED_TEST(Level1, ResultsMayGoToTheDevice) {
  using F = TypeParam;
  using Api = typename F::Api;
  using Real = typename F::Real;
  ASSERT_EQ(
      cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  const Array<Real> result(std::vector<Real>{-1});
  ASSERT_EQ(
      F::nrm2(
          this->handle,
          kN,
          this->x_array.template get<Api>(),
          1,
          result.template get<Real>()),
      CUBLAS_STATUS_SUCCESS);
  double squares = 0;
  for (int i = 0; i < kN; ++i) {
    squares += std::norm(Wide(this->x[i]));
  }
  EXPECT_NEAR(result.values()[0], std::sqrt(squares), F::kTolerance);
}

TYPED_TEST(Level1, FactorsMayLieOnTheDevice) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  ASSERT_EQ(
      cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  const Array<T> factor(std::vector<T>{T(4)});
  ASSERT_EQ(
      F::scal(
          this->handle,
          kN,
          factor.template get<Api>(),
          this->x_array.template get<Api>(),
          1),
      CUBLAS_STATUS_SUCCESS);
  const auto scaled = this->x_array.values();
  for (int i = 0; i < kN; ++i) {
    EXPECT_EQ(scaled[i], T(4) * this->x[i]);
  }
}

TYPED_TEST(Level1, AMultipleIsAdded) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const T alpha = random<T>(1, 3)[0];
  ASSERT_EQ(
      F::axpy(
          this->handle,
          kN,
          this->scalar(&alpha),
          this->x_array.template get<Api>(),
          -2,
          this->y_array.template get<Api>(),
          kStride),
      CUBLAS_STATUS_SUCCESS);
  const auto sums = this->y_array.values();
  for (int i = 0; i < kN; ++i) {
    const Wide wanted =
        Wide(alpha) * this->at(this->x, i, -2) + this->at(this->y, i, kStride);
    EXPECT_NEAR(
        std::abs(this->at(sums, i, kStride) - wanted), 0, F::kTolerance);
    // What lies between the elements stays.
    EXPECT_EQ(sums[i * kStride + 1], this->y[i * kStride + 1]);
  }
}

TYPED_TEST(Level1, VectorsAreCopiedAndSwapped) {
  using F = TypeParam;
  using Api = typename F::Api;
  auto* x = this->x_array.template get<Api>();
  auto* y = this->y_array.template get<Api>();
  ASSERT_EQ(F::swap(this->handle, kN, x, 1, y, -1), CUBLAS_STATUS_SUCCESS);
  auto swapped_x = this->x_array.values();
  auto swapped_y = this->y_array.values();
  for (int i = 0; i < kN; ++i) {
    EXPECT_EQ(Wide(swapped_x[i]), this->at(this->y, i, -1));
    EXPECT_EQ(this->at(swapped_y, i, -1), Wide(this->x[i]));
  }
  ASSERT_EQ(F::copy(this->handle, kN, x, 2, y, 1), CUBLAS_STATUS_SUCCESS);
  const auto copied = this->y_array.values();
  swapped_x = this->x_array.values();
  for (int i = 0; i < kN; ++i) {
    EXPECT_EQ(copied[i], swapped_x[i * 2]);
  }
}

TYPED_TEST(Level1, SumsOfMagnitudes) {
  using F = TypeParam;
  using Api = typename F::Api;
  double wanted = 0;
  for (int i = 0; i < kN; ++i) {
    const Wide value = this->at(this->x, i, kStride);
    wanted += std::abs(value.real()) + std::abs(value.imag());
  }
  typename F::Real result = -1;
  const auto* x = this->x_array.template get<Api>();
  ASSERT_EQ(
      F::asum(this->handle, kN, x, kStride, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_NEAR(result, wanted, F::kTolerance);
  ASSERT_EQ(F::asum(this->handle, 0, x, 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 0);
}

TYPED_TEST(Level1, TheFirstExtremeElementIsFound) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  std::vector<T> values(kN, T(2));
  values[20] = values[30] = T(-9);
  values[11] = values[12] = T(1);
  const Array<T> array(values);
  int place = 0;
  ASSERT_EQ(
      F::amax(this->handle, kN, array.template get<Api>(), 1, &place),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(place, 21);
  ASSERT_EQ(
      F::amin(this->handle, kN, array.template get<Api>(), 1, &place),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(place, 12);
  ASSERT_EQ(
      F::amax(this->handle, 0, array.template get<Api>(), 1, &place),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(place, 0);
}

template <typename F>
class RealFactor : public Level1<F> {};
TYPED_TEST_SUITE(RealFactor, ComplexTypes);

TYPED_TEST(RealFactor, ScalesBothParts) {
  using F = TypeParam;
  using Api = typename F::Api;
  const typename F::Real factor = -2;
  auto* x = this->x_array.template get<Api>();
  if constexpr (std::is_same_v<Api, cuComplex>) {
    ASSERT_EQ(
        cublasCsscal(this->handle, kN, &factor, x, kStride),
        CUBLAS_STATUS_SUCCESS);
  } else {
    ASSERT_EQ(
        cublasZdscal(this->handle, kN, &factor, x, kStride),
        CUBLAS_STATUS_SUCCESS);
  }
  const auto scaled = this->x_array.values();
  for (int i = 0; i < kN; ++i) {
    EXPECT_EQ(scaled[i * kStride], factor * this->x[i * kStride]);
    EXPECT_EQ(scaled[i * kStride + 1], this->x[i * kStride + 1]);
  }
}

TYPED_TEST(Level1, MemoryThatIsNotThereIsAnError) {
  using F = TypeParam;
  using Api = typename F::Api;
  typename F::Real result = -1;
  EXPECT_EQ(
      F::asum(
          this->handle,
          kN * kStride + 1,
          this->x_array.template get<Api>(),
          1,
          &result),
      CUBLAS_STATUS_EXECUTION_FAILED);
}

} // namespace
} // namespace accelerator::blas::testing
