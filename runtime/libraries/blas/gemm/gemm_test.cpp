// Products of one element type, against loops in double precision.
#include <limits>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kM = 7;
constexpr int kN = 5;
constexpr int kK = 6;
constexpr int kLeading = 9; // of all matrices

template <typename F>
class Gemm : public HandleTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;

  cublasStatus_t run(
      cublasOperation_t op_a,
      cublasOperation_t op_b,
      int k,
      T alpha,
      T beta,
      int leading_c = kLeading) {
    return F::gemm(
        this->handle,
        op_a,
        op_b,
        kM,
        kN,
        k,
        this->scalar(&alpha),
        a_array.template get<Api>(),
        kLeading,
        b_array.template get<Api>(),
        kLeading,
        this->scalar(&beta),
        c_array.template get<Api>(),
        leading_c);
  }
  /// op(A) op(B) of the arrays from an element on.
  Matrix product(cublasOperation_t op_a, cublasOperation_t op_b, int from = 0)
      const {
    const bool plain_a = op_a == CUBLAS_OP_N;
    const bool plain_b = op_b == CUBLAS_OP_N;
    const auto rest = [from](const std::vector<T>& all) {
      return std::vector<T>(all.begin() + from, all.end());
    };
    return apply(
               op_a,
               Matrix(
                   rest(a), plain_a ? kM : kK, plain_a ? kK : kM, kLeading)) *
        apply(op_b,
              Matrix(rest(b), plain_b ? kK : kN, plain_b ? kN : kK, kLeading));
  }
  Matrix result() const {
    return Matrix(c_array.values(), kM, kN, kLeading);
  }

  static constexpr std::size_t kElements = kLeading * 7;
  static constexpr int kCount = 3;
  const std::vector<T> a = random<T>(kElements * kCount, 1);
  const std::vector<T> b = random<T>(kElements * kCount, 2);
  const std::vector<T> c = random<T>(kElements * kCount, 3);
  const Array<T> a_array{a};
  const Array<T> b_array{b};
  const Array<T> c_array{c};
};

TYPED_TEST_SUITE(Gemm, AllTypes);

TYPED_TEST(Gemm, OperandsAreTransposedAndConjugated) {
  using F = TypeParam;
  for (const auto op_a : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    for (const auto op_b : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      ASSERT_EQ(this->run(op_a, op_b, kK, 1, 0), CUBLAS_STATUS_SUCCESS);
      expect_near(this->result(), this->product(op_a, op_b), F::kTolerance);
    }
  }
}

TYPED_TEST(Gemm, FactorsApplyToTheProductAndToWhatWasThere) {
  using F = TypeParam;
  ASSERT_EQ(
      this->run(CUBLAS_OP_N, CUBLAS_OP_N, kK, 2, -3), CUBLAS_STATUS_SUCCESS);
  Matrix wanted = this->product(CUBLAS_OP_N, CUBLAS_OP_N);
  const Matrix old(this->c, kM, kN, kLeading);
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    wanted.values[i] = 2.0 * wanted.values[i] - 3.0 * old.values[i];
  }
  expect_near(this->result(), wanted, F::kTolerance);
  // What lies between the columns stays.
  EXPECT_EQ(this->c_array.values()[kM], this->c[kM]);
}

// "If beta == 0, C does not have to be a valid input."
TYPED_TEST(Gemm, WithBetaZeroTheOldValuesAreNotRead) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const Array<T> broken(std::vector<T>(
      kLeading * kN, T(std::numeric_limits<double>::quiet_NaN())));
  const T one(1), zero(0);
  ASSERT_EQ(
      F::gemm(
          this->handle,
          CUBLAS_OP_N,
          CUBLAS_OP_N,
          kM,
          kN,
          kK,
          this->scalar(&one),
          this->a_array.template get<Api>(),
          kLeading,
          this->b_array.template get<Api>(),
          kLeading,
          this->scalar(&zero),
          broken.template get<Api>(),
          kLeading),
      CUBLAS_STATUS_SUCCESS);
  expect_near(
      Matrix(broken.values(), kM, kN, kLeading),
      this->product(CUBLAS_OP_N, CUBLAS_OP_N),
      F::kTolerance);
}

TYPED_TEST(Gemm, AnEmptySumLeavesTheScaledOldValues) {
  using F = TypeParam;
  ASSERT_EQ(
      this->run(CUBLAS_OP_N, CUBLAS_OP_N, 0, 1, 2), CUBLAS_STATUS_SUCCESS);
  Matrix wanted(this->c, kM, kN, kLeading);
  for (Wide& value : wanted.values) {
    value *= 2;
  }
  expect_near(this->result(), wanted, F::kTolerance);
}

TYPED_TEST(Gemm, FactorsMayLieOnTheDevice) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  ASSERT_EQ(
      cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  const Array<T> factors(std::vector<T>{T(1), T(0)});
  ASSERT_EQ(
      F::gemm(
          this->handle,
          CUBLAS_OP_N,
          CUBLAS_OP_T,
          kM,
          kN,
          kK,
          factors.template get<Api>(),
          this->a_array.template get<Api>(),
          kLeading,
          this->b_array.template get<Api>(),
          kLeading,
          factors.template get<Api>() + 1,
          this->c_array.template get<Api>(),
          kLeading),
      CUBLAS_STATUS_SUCCESS);
  expect_near(
      this->result(), this->product(CUBLAS_OP_N, CUBLAS_OP_T), F::kTolerance);
}

TYPED_TEST(Gemm, SizesAndOperationsThatMakeNoSenseAreRefused) {
  using F = TypeParam;
  const auto none = static_cast<cublasOperation_t>(9);
  EXPECT_EQ(
      this->run(CUBLAS_OP_N, CUBLAS_OP_N, -1, 1, 0),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      this->run(none, CUBLAS_OP_N, kK, 1, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      this->run(CUBLAS_OP_N, CUBLAS_OP_N, kLeading + 1, 1, 0, kM - 1),
      CUBLAS_STATUS_INVALID_VALUE);
  using Api = typename F::Api;
  EXPECT_EQ(
      F::gemm(
          this->handle,
          CUBLAS_OP_N,
          CUBLAS_OP_N,
          kM,
          kN,
          kK,
          nullptr,
          this->a_array.template get<Api>(),
          kLeading,
          this->b_array.template get<Api>(),
          kLeading,
          nullptr,
          this->c_array.template get<Api>(),
          kLeading),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(this->c_array.values(), this->c);
}

TYPED_TEST(Gemm, MatricesOfABatchLieAStrideApart) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  constexpr auto kStride = static_cast<int>(Gemm<F>::kElements);
  const T one(1), zero(0);
  const auto run = [&](int count) {
    return F::gemm_strided(
        this->handle,
        CUBLAS_OP_T,
        CUBLAS_OP_N,
        kM,
        kN,
        kK,
        this->scalar(&one),
        this->a_array.template get<Api>(),
        kLeading,
        kStride,
        this->b_array.template get<Api>(),
        kLeading,
        kStride,
        this->scalar(&zero),
        this->c_array.template get<Api>(),
        kLeading,
        kStride,
        count);
  };
  EXPECT_EQ(run(-1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(run(0), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(this->c_array.values(), this->c);
  ASSERT_EQ(run(Gemm<F>::kCount), CUBLAS_STATUS_SUCCESS);
  const auto all = this->c_array.values();
  for (int i = 0; i < Gemm<F>::kCount; ++i) {
    expect_near(
        Matrix(
            std::vector<T>(all.begin() + i * kStride, all.end()),
            kM,
            kN,
            kLeading),
        this->product(CUBLAS_OP_T, CUBLAS_OP_N, i * kStride),
        F::kTolerance);
  }
}

TYPED_TEST(Gemm, AMatrixTimesAVector) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const T alpha(2), beta(-1);
  const Matrix matrix(this->a, kM, kK, kLeading);
  for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    const bool plain = op == CUBLAS_OP_N;
    const int in = plain ? kK : kM;
    const int out = plain ? kM : kK;
    const auto x = random<T>(in * 2, 4);
    const auto y = random<T>(out, 5);
    const Array<T> x_array(x), y_array(y);
    ASSERT_EQ(
        F::gemv(
            this->handle,
            op,
            kM,
            kK,
            this->scalar(&alpha),
            this->a_array.template get<Api>(),
            kLeading,
            x_array.template get<Api>(),
            2,
            this->scalar(&beta),
            y_array.template get<Api>(),
            -1),
        CUBLAS_STATUS_SUCCESS);
    Matrix vector(in, 1);
    for (int i = 0; i < in; ++i) {
      vector(i, 0) = Wide(x[2 * i]);
    }
    const Matrix product = apply(op, matrix) * vector;
    const auto actual = y_array.values();
    for (int i = 0; i < out; ++i) {
      const int place = out - 1 - i; // y runs backwards
      EXPECT_NEAR(
          std::abs(
              Wide(actual[place]) - (2.0 * product(i, 0) - Wide(y[place]))),
          0,
          F::kTolerance);
    }
    EXPECT_EQ(
        F::gemv(
            this->handle,
            op,
            kM,
            kK,
            this->scalar(&alpha),
            this->a_array.template get<Api>(),
            kLeading,
            x_array.template get<Api>(),
            0,
            this->scalar(&beta),
            y_array.template get<Api>(),
            1),
        CUBLAS_STATUS_INVALID_VALUE);
  }
}

} // namespace
} // namespace accelerator::blas::testing
