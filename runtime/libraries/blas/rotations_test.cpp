// Plane rotations: made ones turn a vector onto an axis, applied ones keep its
// length and do what their matrix does.
#include <cmath>
#include <complex>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kN = 20;

#define ACCEL_FUNCTIONS(Name, Base, rotg_, rot_, cosine, sine, Sine) \
  struct Name : Base {                                               \
    using SineApi = sine;                                            \
    using S = Sine;                                                  \
    static constexpr auto rotg = rotg_;                              \
    static constexpr auto rot = rot_;                                \
  };
ACCEL_FUNCTIONS(
    Rotation32,
    Single,
    cublasSrotg,
    cublasSrot,
    float,
    float,
    float)
ACCEL_FUNCTIONS(
    Rotation64,
    Double,
    cublasDrotg,
    cublasDrot,
    double,
    double,
    double)
ACCEL_FUNCTIONS(
    Complex32,
    SingleComplex,
    cublasCrotg,
    cublasCrot,
    float,
    cuComplex,
    std::complex<float>)
ACCEL_FUNCTIONS(
    Complex64,
    DoubleComplex,
    cublasZrotg,
    cublasZrot,
    double,
    cuDoubleComplex,
    std::complex<double>)
ACCEL_FUNCTIONS(
    RealOfComplex32,
    SingleComplex,
    cublasCrotg,
    cublasCsrot,
    float,
    float,
    float)
ACCEL_FUNCTIONS(
    RealOfComplex64,
    DoubleComplex,
    cublasZrotg,
    cublasZdrot,
    double,
    double,
    double)
#undef ACCEL_FUNCTIONS

using Kinds = ::testing::Types<
    Rotation32,
    Rotation64,
    Complex32,
    Complex64,
    RealOfComplex32,
    RealOfComplex64>;

template <typename F>
class Rotations : public HandleTest<F> {
 protected:
  using T = typename F::T;

  static Wide at(const std::vector<T>& values, int i, int stride) {
    return Wide(values[static_cast<std::size_t>(
        stride > 0 ? i * stride : (kN - 1 - i) * -stride)]);
  }
  void use_device() {
    ASSERT_EQ(
        cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE),
        CUBLAS_STATUS_SUCCESS);
  }
};
TYPED_TEST_SUITE(Rotations, Kinds);

/// What rotg made of a and b.
template <typename T, typename Real>
void expect_turned(T a, T b, T r, Real c, T s, double tolerance) {
  const Wide wide_s(s);
  EXPECT_NEAR(
      std::abs(Wide(c) * Wide(a) + wide_s * Wide(b) - Wide(r)), 0, tolerance);
  EXPECT_NEAR(
      std::abs(Wide(c) * Wide(b) - std::conj(wide_s) * Wide(a)), 0, tolerance);
  EXPECT_NEAR(static_cast<double>(c) * c + std::norm(wide_s), 1, tolerance);
}

TYPED_TEST(Rotations, MadeOnesTurnOntoAnAxis) {
  using F = TypeParam;
  using T = typename F::T;
  using Real = typename F::Real;
  using Api = typename F::Api;
  const auto values = random<T>(4, 3);
  for (int i = 0; i < 4; i += 2) {
    T a = values[i];
    T b = values[i + 1];
    T s{};
    Real c{};
    const auto api = [](T* number) { return reinterpret_cast<Api*>(number); };
    ASSERT_EQ(
        F::rotg(this->handle, api(&a), api(&b), &c, api(&s)),
        CUBLAS_STATUS_SUCCESS);
    expect_turned(values[i], values[i + 1], a, c, s, F::kTolerance);

    // On the device, in a stream.
    const Array<T> numbers(std::vector<T>{values[i], values[i + 1], T{}});
    const Array<Real> cosine(std::vector<Real>(1));
    this->use_device();
    auto* const first = numbers.template get<Api>();
    ASSERT_EQ(
        F::rotg(this->handle, first, first + 1, cosine.get(), first + 2),
        CUBLAS_STATUS_SUCCESS);
    const auto found = numbers.values();
    EXPECT_EQ(found[0], a);
    EXPECT_EQ(found[2], s);
    EXPECT_EQ(cosine.values()[0], c);
    ASSERT_EQ(
        cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_HOST),
        CUBLAS_STATUS_SUCCESS);
  }
}

TYPED_TEST(Rotations, AppliedOnesAreTheirMatrix) {
  using F = TypeParam;
  using T = typename F::T;
  using S = typename F::S;
  using Real = typename F::Real;
  using Api = typename F::Api;
  using SineApi = typename F::SineApi;
  const auto x = random<T>(3 * kN, 1);
  const auto y = random<T>(3 * kN, 2);
  const Real c = static_cast<Real>(0.6);
  S s{};
  if constexpr (std::is_floating_point_v<S>) {
    s = static_cast<S>(0.8);
  } else {
    s = {static_cast<Real>(0.48), static_cast<Real>(-0.64)};
  }
  const Array<Real> c_array(std::vector<Real>{c});
  const Array<S> s_array(std::vector<S>{s});
  for (const bool on_device : {false, true}) {
    if (on_device) {
      this->use_device();
    }
    for (const int incx : {1, -3}) {
      for (const int incy : {2, -1}) {
        const Array<T> x_array(x);
        const Array<T> y_array(y);
        ASSERT_EQ(
            F::rot(
                this->handle,
                kN,
                x_array.template get<Api>(),
                incx,
                y_array.template get<Api>(),
                incy,
                on_device ? c_array.get() : &c,
                on_device ? s_array.template get<SineApi>()
                          : reinterpret_cast<const SineApi*>(&s)),
            CUBLAS_STATUS_SUCCESS);
        const auto x_found = x_array.values();
        const auto y_found = y_array.values();
        for (int i = 0; i < kN; ++i) {
          const Wide a = this->at(x, i, incx);
          const Wide b = this->at(y, i, incy);
          EXPECT_NEAR(
              std::abs(
                  this->at(x_found, i, incx) - (Wide(c) * a + Wide(s) * b)),
              0,
              F::kTolerance);
          EXPECT_NEAR(
              std::abs(
                  this->at(y_found, i, incy) -
                  (Wide(c) * b - std::conj(Wide(s)) * a)),
              0,
              F::kTolerance);
        }
      }
    }
  }
}

TYPED_TEST(Rotations, RefuseWhatIsWrong) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  using SineApi = typename F::SineApi;
  const Array<T> array{std::vector<T>(kN)};
  auto* const x = array.template get<Api>();
  typename F::Real c{};
  T s{};
  auto* const number = reinterpret_cast<Api*>(&s);
  const auto* const sine = reinterpret_cast<const SineApi*>(&s);
  EXPECT_EQ(
      F::rotg(nullptr, number, number, &c, number),
      CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(
      F::rotg(this->handle, number, number, nullptr, number),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      F::rot(nullptr, kN, x, 1, x, 1, &c, sine), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(
      F::rot(this->handle, kN, x, 1, x, 1, nullptr, sine),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      F::rot(this->handle, kN, x, 1, x, 1, &c, nullptr),
      CUBLAS_STATUS_INVALID_VALUE);
}

struct Modified32 : Single {
  static constexpr auto rotm = cublasSrotm;
  static constexpr auto rotmg = cublasSrotmg;
};
struct Modified64 : Double {
  static constexpr auto rotm = cublasDrotm;
  static constexpr auto rotmg = cublasDrotmg;
};

template <typename F>
class ModifiedRotations : public Rotations<F> {
 protected:
  using T = typename F::T;

  /// The matrix of its parameters, row by row.
  static std::vector<double> matrix(const std::vector<T>& parameters) {
    const auto flag = static_cast<int>(parameters[0]);
    const std::vector<double> h(parameters.begin() + 1, parameters.end());
    switch (flag) {
      case -1:
        return {h[0], h[2], h[1], h[3]};
      case 0:
        return {1, h[2], h[1], 1};
      case 1:
        return {h[0], 1, -1, h[3]};
      default:
        return {1, 0, 0, 1};
    }
  }
};
using ModifiedKinds = ::testing::Types<Modified32, Modified64>;
TYPED_TEST_SUITE(ModifiedRotations, ModifiedKinds);

TYPED_TEST(ModifiedRotations, MadeOnesTurnOntoAnAxis) {
  using F = TypeParam;
  using T = typename F::T;
  // The last turns by the other form.
  for (const std::vector<T>& before : std::vector<std::vector<T>>{
           {2, 3, T(0.5), T(0.25)}, {1, 1, 4, 1}, {1, 2, T(0.5), 3}}) {
    T d1 = before[0], d2 = before[1], x = before[2];
    const T y = before[3];
    std::vector<T> parameters(5, T(7));
    ASSERT_EQ(
        F::rotmg(this->handle, &d1, &d2, &x, &y, parameters.data()),
        CUBLAS_STATUS_SUCCESS);
    const auto h = this->matrix(parameters);
    EXPECT_NEAR(h[0] * before[2] + h[1] * y, x, F::kTolerance);
    EXPECT_NEAR(h[2] * before[2] + h[3] * y, 0, F::kTolerance);
    // The weighted length stays.
    EXPECT_NEAR(
        d1 * x * x,
        before[0] * before[2] * before[2] + before[1] * y * y,
        F::kTolerance * 10);

    const Array<T> numbers(before);
    const Array<T> made(std::vector<T>(5, T(7)));
    this->use_device();
    T* const n = numbers.get();
    ASSERT_EQ(
        F::rotmg(this->handle, n, n + 1, n + 2, n + 3, made.get()),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(made.values(), parameters);
    EXPECT_EQ(numbers.values(), (std::vector<T>{d1, d2, x, y}));
    ASSERT_EQ(
        cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_HOST),
        CUBLAS_STATUS_SUCCESS);
  }
}

TYPED_TEST(ModifiedRotations, AppliedOnesAreTheirMatrix) {
  using F = TypeParam;
  using T = typename F::T;
  const auto x = random<T>(3 * kN, 1);
  const auto y = random<T>(3 * kN, 2);
  for (const int flag : {-2, -1, 0, 1}) {
    const std::vector<T> parameters = {
        static_cast<T>(flag), T(0.5), T(-2), T(1.5), T(0.75)};
    const Array<T> on_device(parameters);
    const auto h = this->matrix(parameters);
    for (const bool device : {false, true}) {
      ASSERT_EQ(
          cublasSetPointerMode(
              this->handle,
              device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST),
          CUBLAS_STATUS_SUCCESS);
      const Array<T> x_array(x);
      const Array<T> y_array(y);
      ASSERT_EQ(
          F::rotm(
              this->handle,
              kN,
              x_array.get(),
              3,
              y_array.get(),
              -2,
              device ? on_device.get() : parameters.data()),
          CUBLAS_STATUS_SUCCESS);
      for (int i = 0; i < kN; ++i) {
        const double a = this->at(x, i, 3).real();
        const double b = this->at(y, i, -2).real();
        EXPECT_NEAR(
            this->at(x_array.values(), i, 3).real(),
            h[0] * a + h[1] * b,
            F::kTolerance);
        EXPECT_NEAR(
            this->at(y_array.values(), i, -2).real(),
            h[2] * a + h[3] * b,
            F::kTolerance);
      }
    }
  }
}

TYPED_TEST(ModifiedRotations, RefuseWhatIsWrong) {
  using F = TypeParam;
  using T = typename F::T;
  const Array<T> array{std::vector<T>(kN)};
  T number{};
  EXPECT_EQ(
      F::rotm(nullptr, kN, array.get(), 1, array.get(), 1, &number),
      CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(
      F::rotm(this->handle, kN, array.get(), 1, array.get(), 1, nullptr),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      F::rotmg(nullptr, &number, &number, &number, &number, array.get()),
      CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(
      F::rotmg(this->handle, &number, &number, nullptr, &number, array.get()),
      CUBLAS_STATUS_INVALID_VALUE);
}

} // namespace
} // namespace accelerator::blas::testing
