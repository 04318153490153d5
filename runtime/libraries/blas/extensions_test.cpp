// Sums and transposes of matrices, and products with diagonal ones.
#include <limits>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr cublasOperation_t kOperations[] = {
    CUBLAS_OP_N,
    CUBLAS_OP_T,
    CUBLAS_OP_C};

constexpr int kM = 5, kN = 3, kLead = 7;

template <typename F>
class ExtensionsTest : public HandleTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;

  static const Api* api(const T* value) {
    return reinterpret_cast<const Api*>(value);
  }
  static T number(double real, double imaginary) {
    if constexpr (std::is_same_v<T, typename F::Real>) {
      return static_cast<T>(real);
    } else {
      return T(real, imaginary);
    }
  }
  static std::vector<T> nans() {
    return std::vector<T>(
        kLead * kLead, T(std::numeric_limits<typename F::Real>::quiet_NaN()));
  }
  static Matrix times(T factor, Matrix matrix) {
    for (Wide& value : matrix.values) {
      value *= Wide(factor);
    }
    return matrix;
  }
  static Matrix sum(Matrix a, const Matrix& b) {
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      a.values[i] += b.values[i];
    }
    return a;
  }
  /// A random matrix whose op() has kM rows and kN columns.
  static Matrix operand(const std::vector<T>& values, cublasOperation_t op) {
    const bool is_plain = op == CUBLAS_OP_N;
    return apply(
        op, Matrix(values, is_plain ? kM : kN, is_plain ? kN : kM, kLead));
  }
};
TYPED_TEST_SUITE(ExtensionsTest, AllTypes);

TYPED_TEST(ExtensionsTest, SumsOfMatrices) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const auto a_values = random<T>(kLead * kLead, 1);
  const auto b_values = random<T>(kLead * kLead, 2);
  const Array<T> a(a_values), b(b_values);
  const T alpha = this->number(2, -1), beta = this->number(0.5, 3);
  const Array<T> alpha_there({alpha}), beta_there({beta});
  for (const auto op_a : kOperations) {
    for (const auto op_b : kOperations) {
      for (const bool on_device : {false, true}) {
        const auto c_values = random<T>(kLead * kLead, 3);
        const Array<T> c(c_values);
        ASSERT_EQ(
            cublasSetPointerMode(
                this->handle,
                on_device ? CUBLAS_POINTER_MODE_DEVICE
                          : CUBLAS_POINTER_MODE_HOST),
            CUBLAS_STATUS_SUCCESS);
        ASSERT_EQ(
            F::geam(
                this->handle,
                op_a,
                op_b,
                kM,
                kN,
                on_device ? alpha_there.template get<Api>() : this->api(&alpha),
                a.template get<Api>(),
                kLead,
                on_device ? beta_there.template get<Api>() : this->api(&beta),
                b.template get<Api>(),
                kLead,
                c.template get<Api>(),
                kLead),
            CUBLAS_STATUS_SUCCESS);
        const auto result = c.values();
        expect_near(
            Matrix(result, kM, kN, kLead),
            this->sum(
                this->times(alpha, this->operand(a_values, op_a)),
                this->times(beta, this->operand(b_values, op_b))),
            F::kTolerance);
        // What is between the columns stays.
        EXPECT_EQ(result[kM], c_values[kM]);
      }
    }
  }
}

// What is multiplied by zero is not read, nor need it be there.
TYPED_TEST(ExtensionsTest, WhatIsNotWanted) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const auto a_values = random<T>(kLead * kLead, 1);
  const Array<T> a(a_values);
  const T one(1), zero(0);
  const Array<T> one_there({one}), zero_there({zero});
  for (const bool on_device : {false, true}) {
    ASSERT_EQ(
        cublasSetPointerMode(
            this->handle,
            on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST),
        CUBLAS_STATUS_SUCCESS);
    const Api* const its_one =
        on_device ? one_there.template get<Api>() : this->api(&one);
    const Api* const its_zero =
        on_device ? zero_there.template get<Api>() : this->api(&zero);
    for (const bool is_left : {true, false}) {
      const Array<T> c(this->nans());
      ASSERT_EQ(
          F::geam(
              this->handle,
              is_left ? CUBLAS_OP_T : CUBLAS_OP_N,
              is_left ? CUBLAS_OP_N : CUBLAS_OP_T,
              kM,
              kN,
              is_left ? its_one : its_zero,
              is_left ? a.template get<Api>() : nullptr,
              kLead,
              is_left ? its_zero : its_one,
              is_left ? nullptr : a.template get<Api>(),
              kLead,
              c.template get<Api>(),
              kLead),
          CUBLAS_STATUS_SUCCESS);
      expect_near(
          Matrix(c.values(), kM, kN, kLead),
          this->operand(a_values, CUBLAS_OP_T),
          0);
    }
  }
}

TYPED_TEST(ExtensionsTest, ProductsWithDiagonalMatrices) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const auto a_values = random<T>(kLead * kN, 1);
  const auto x_values = random<T>(2 * kM, 2);
  const Array<T> x(x_values);
  for (const auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    const int length = side == CUBLAS_SIDE_LEFT ? kM : kN;
    for (const int stride : {1, 2, -1, -2, 0}) {
      // In place as well.
      for (const bool in_place : {false, true}) {
        const Array<T> a(a_values), other(a_values);
        const Array<T>& c = in_place ? a : other;
        ASSERT_EQ(
            F::dgmm(
                this->handle,
                side,
                kM,
                kN,
                a.template get<Api>(),
                kLead,
                x.template get<Api>(),
                stride,
                c.template get<Api>(),
                kLead),
            CUBLAS_STATUS_SUCCESS);
        Matrix diagonal(length, length);
        for (int i = 0; i < length; ++i) {
          diagonal(i, i) = Wide(
              x_values[stride >= 0 ? i * stride : (length - 1 - i) * -stride]);
        }
        const Matrix whole(a_values, kM, kN, kLead);
        expect_near(
            Matrix(c.values(), kM, kN, kLead),
            side == CUBLAS_SIDE_LEFT ? diagonal * whole : whole * diagonal,
            F::kTolerance);
      }
    }
  }
}

TYPED_TEST(ExtensionsTest, Refuse) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const Array<T> array(random<T>(kLead * kLead, 1));
  Api* const a = array.template get<Api>();
  const Array<T> result(random<T>(kLead * kLead, 2));
  Api* const c = result.template get<Api>();
  const T one(1);
  const Api* const factor = this->api(&one);
  constexpr auto kN_ = CUBLAS_OP_N, kT_ = CUBLAS_OP_T;
  constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
  const auto geam = [&](cublasOperation_t op,
                        int m,
                        int n,
                        int lda,
                        int ldb,
                        int ldc,
                        const Api* from,
                        const Api* alpha) {
    return F::geam(
        this->handle, op, kN_, m, n, alpha, from, lda, factor, a, ldb, c, ldc);
  };
  EXPECT_EQ(geam(kN_, -1, 2, 7, 7, 7, a, factor), kInvalid);
  EXPECT_EQ(geam(kN_, 2, -1, 7, 7, 7, a, factor), kInvalid);
  EXPECT_EQ(geam(kN_, 5, 3, 4, 7, 7, a, factor), kInvalid);
  EXPECT_EQ(geam(kT_, 5, 3, 2, 7, 7, a, factor), kInvalid);
  EXPECT_EQ(geam(kN_, 5, 3, 7, 4, 7, a, factor), kInvalid);
  EXPECT_EQ(geam(kN_, 5, 3, 7, 7, 4, a, factor), kInvalid);
  EXPECT_EQ(geam(kN_, 5, 3, 7, 7, 7, a, nullptr), kInvalid);
  EXPECT_EQ(
      geam(static_cast<cublasOperation_t>(9), 5, 3, 7, 7, 7, a, factor),
      kInvalid);
  // In place only where each element stays where it is.
  EXPECT_EQ(geam(kN_, 5, 3, 7, 7, 7, c, factor), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(geam(kN_, 5, 3, 6, 7, 7, c, factor), kInvalid);
  EXPECT_EQ(geam(kT_, 3, 3, 7, 7, 7, c, factor), kInvalid);
  EXPECT_EQ(geam(kN_, 0, 3, 7, 7, 7, nullptr, factor), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(
      F::geam(nullptr, kN_, kN_, 2, 2, factor, a, 2, factor, a, 2, c, 2),
      CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(
      geam(kN_, 5, 3, 7, 7, 7, nullptr, factor),
      CUBLAS_STATUS_EXECUTION_FAILED);
  const auto dgmm = [&](cublasSideMode_t side,
                        int m,
                        int n,
                        int lda,
                        int ldc,
                        const Api* from) {
    return F::dgmm(this->handle, side, m, n, from, lda, a, 1, c, ldc);
  };
  constexpr auto kLeft = CUBLAS_SIDE_LEFT;
  EXPECT_EQ(dgmm(kLeft, -1, 3, 7, 7, a), kInvalid);
  EXPECT_EQ(dgmm(kLeft, 5, -1, 7, 7, a), kInvalid);
  EXPECT_EQ(dgmm(kLeft, 5, 3, 4, 7, a), kInvalid);
  EXPECT_EQ(dgmm(kLeft, 5, 3, 7, 4, a), kInvalid);
  EXPECT_EQ(dgmm(static_cast<cublasSideMode_t>(7), 5, 3, 7, 7, a), kInvalid);
  EXPECT_EQ(dgmm(kLeft, 5, 0, 7, 7, nullptr), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(dgmm(kLeft, 5, 3, 7, 7, nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(
      F::dgmm(nullptr, kLeft, 2, 2, a, 2, a, 1, c, 2),
      CUBLAS_STATUS_NOT_INITIALIZED);
}

} // namespace
} // namespace accelerator::blas::testing
