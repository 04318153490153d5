// Eigenvalues of matrices of any kind, known beforehand, and vectors that
// belong to them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

// The headers are those of an earlier version.
extern "C" {
cusolverStatus_t cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t,
    cusolverEigMode_t,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    size_t*,
    size_t*);
cusolverStatus_t cusolverDnXgeev(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t,
    cusolverEigMode_t,
    int64_t,
    cudaDataType,
    void*,
    int64_t,
    cudaDataType,
    void*,
    cudaDataType,
    void*,
    int64_t,
    cudaDataType,
    void*,
    int64_t,
    cudaDataType,
    void*,
    size_t,
    void*,
    size_t,
    int*);
}

namespace accelerator::solver::testing {
namespace {

constexpr auto kGood = CUSOLVER_STATUS_SUCCESS;
constexpr auto kBad = CUSOLVER_STATUS_INVALID_VALUE;
constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
constexpr auto kNoVectors = CUSOLVER_EIG_MODE_NOVECTOR;

template <typename F>
class GeneralEigenTest : public SolverTest<F> {
 protected:
  using T = typename F::T;
  using Real = typename F::Real;
  using Value = std::complex<Real>;
  static constexpr cudaDataType kComplexType =
      F::kRealType == CUDA_R_32F ? CUDA_C_32F : CUDA_C_64F;

  /// What the functions are asked for, and told.
  struct Call {
    cusolverEigMode_t left = kNoVectors;
    cusolverEigMode_t right = kVectors;
    cudaDataType values = kComplexType;
    cudaDataType vectors = F::kType;
    int n = 0;
    int lda = 0;
    int ldvl = 1;
    int ldvr = 1;
  };

  /// Asks for the work area, and calls with it.
  cusolverStatus_t solve(const Call& call, T* a, void* values, T* vl, T* vr) {
    size_t device = 0;
    size_t host = 0;
    const auto status = cusolverDnXgeev_bufferSize(
        this->handle,
        this->params,
        call.left,
        call.right,
        call.n,
        F::kType,
        a,
        call.lda,
        call.values,
        values,
        call.vectors,
        vl,
        call.ldvl,
        call.vectors,
        vr,
        call.ldvr,
        F::kType,
        &device,
        &host);
    const auto its = cusolverDnXgeev(
        this->handle,
        this->params,
        call.left,
        call.right,
        call.n,
        F::kType,
        a,
        call.lda,
        call.values,
        values,
        call.vectors,
        vl,
        call.ldvl,
        call.vectors,
        vr,
        call.ldvr,
        F::kType,
        this->work.get(),
        std::max<size_t>(device, sizeof(T)),
        nullptr,
        host,
        this->info.get());
    EXPECT_EQ(its, status);
    return its;
  }

  /// A matrix with these values: blocks on the diagonal, of a pair where they
  /// are conjugate, something above them, and all in another order.
  static Matrix with_values(const std::vector<Wide>& values, unsigned seed) {
    const auto n = static_cast<int>(values.size());
    Matrix blocks = SolverTest<F>::random_matrix(n, n, seed);
    for (int j = 0; j < n; ++j) {
      for (int i = j + 1; i < n; ++i) {
        blocks(i, j) = 0;
      }
    }
    for (int i = 0; i < n; ++i) {
      if (F::kIsComplex || values[i].imag() == 0) {
        blocks(i, i) = values[i];
        continue;
      }
      blocks(i, i) = blocks(i + 1, i + 1) = values[i].real();
      blocks(i, i + 1) = values[i].imag();
      blocks(i + 1, i) = -values[i].imag();
      ++i;
    }
    Matrix a(n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        a((i * 3 + 1) % n, (j * 3 + 1) % n) = blocks(i, j);
      }
    }
    return a;
  }

  /// Values that are the wanted ones, in whatever order.
  static void expect_values(
      std::vector<Value> found,
      const std::vector<Wide>& wanted) {
    for (const Wide& value : wanted) {
      const auto nearest = std::min_element(
          found.begin(), found.end(), [&](const Value& a, const Value& b) {
            return std::abs(Wide(a) - value) < std::abs(Wide(b) - value);
          });
      ASSERT_NE(nearest, found.end());
      EXPECT_LT(std::abs(Wide(*nearest) - value), F::kTolerance) << value;
      found.erase(nearest);
    }
    EXPECT_TRUE(found.empty());
  }

  /// Columns as they are; of a real matrix, pairs of them are the parts of
  /// complex ones.
  static Matrix unpacked(
      const std::vector<T>& columns,
      int leading,
      const std::vector<Value>& values) {
    const auto n = static_cast<int>(values.size());
    const Matrix as_they_are(columns, n, n, leading);
    Matrix result = as_they_are;
    for (int j = 0; !F::kIsComplex && j < n; ++j) {
      if (values[j].imag() == 0) {
        continue;
      }
      for (int i = 0; i < n; ++i) {
        const Wide vector(
            as_they_are(i, j).real(), as_they_are(i, j + 1).real());
        result(i, j) = vector;
        result(i, j + 1) = std::conj(vector);
      }
      ++j;
    }
    return result;
  }

  static Matrix diagonal_of(const std::vector<Value>& values) {
    const auto n = static_cast<int>(values.size());
    Matrix result(n, n);
    for (int i = 0; i < n; ++i) {
      result(i, i) = Wide(values[i]);
    }
    return result;
  }

  static void expect_unit_columns(const Matrix& vectors) {
    for (int j = 0; j < vectors.columns; ++j) {
      double sum = 0;
      for (int i = 0; i < vectors.rows; ++i) {
        sum += std::norm(vectors(i, j));
      }
      EXPECT_NEAR(sum, 1, F::kTolerance);
    }
  }
};
TYPED_TEST_SUITE(GeneralEigenTest, AllTypes);

// 7 and 1 are coprime to 3, which the order of with_values() needs.
const std::vector<Wide> kSpectrum =
    {{3, 0}, {-1, 2}, {-1, -2}, {0.5, 0}, {6, 1}, {6, -1}, {-4, 0}};

TYPED_TEST(GeneralEigenTest, ValuesAreThoseOfTheMatrixAndVectorsBelongToThem) {
  using F = TypeParam;
  using T = typename F::T;
  using Value = typename TestFixture::Value;
  for (const std::vector<Wide>& wanted :
       {std::vector<Wide>{{2, 0}}, kSpectrum}) {
    const auto n = static_cast<int>(wanted.size());
    const Matrix a = this->with_values(wanted, 3);
    for (const auto left : {kVectors, kNoVectors}) {
      for (const auto right : {kVectors, kNoVectors}) {
        typename TestFixture::Call call;
        call.left = left;
        call.right = right;
        call.n = n;
        call.lda = n + 2;
        call.ldvl = left == kVectors ? n + 1 : 1;
        call.ldvr = right == kVectors ? n + 3 : 1;
        const auto size = static_cast<std::size_t>(n);
        const Array<T> array(this->packed(a, call.lda));
        const Array<Value> values{std::vector<Value>(size)};
        const Array<T> vl{std::vector<T>(size * (size + 1))};
        const Array<T> vr{std::vector<T>(size * (size + 3))};
        ASSERT_EQ(
            this->solve(
                call,
                array.get(),
                values.get(),
                left == kVectors ? vl.get() : nullptr,
                right == kVectors ? vr.get() : nullptr),
            kGood);
        ASSERT_EQ(this->last_info(), 0);
        const auto found = values.values();
        this->expect_values(found, wanted);
        if (right == kVectors) {
          const Matrix vectors = this->unpacked(vr.values(), call.ldvr, found);
          this->expect_unit_columns(vectors);
          expect_near(
              a * vectors,
              vectors * this->diagonal_of(found),
              F::kTolerance * 10);
        }
        if (left == kVectors) {
          const Matrix vectors = this->unpacked(vl.values(), call.ldvl, found);
          this->expect_unit_columns(vectors);
          expect_near(
              apply(CUBLAS_OP_C, vectors) * a,
              this->diagonal_of(found) * apply(CUBLAS_OP_C, vectors),
              F::kTolerance * 10);
        }
      }
    }
  }
}

TYPED_TEST(GeneralEigenTest, ValuesOfRealMatricesMayBeInTwoParts) {
  using F = TypeParam;
  using T = typename F::T;
  using Real = typename F::Real;
  using Value = typename TestFixture::Value;
  const auto n = static_cast<int>(kSpectrum.size());
  typename TestFixture::Call call;
  call.right = kNoVectors;
  call.n = n;
  call.lda = n;
  call.values = F::kType; // which is complex's only one
  const Array<T> array(this->packed(this->with_values(kSpectrum, 4), n));
  const Array<Real> values{std::vector<Real>(2 * kSpectrum.size())};
  ASSERT_EQ(
      this->solve(call, array.get(), values.get(), nullptr, nullptr), kGood);
  const auto parts = values.values();
  std::vector<Value> found;
  for (int i = 0; i < n; ++i) {
    found.push_back(
        F::kIsComplex ? Value(parts[2 * i], parts[2 * i + 1])
                      : Value(parts[i], parts[n + i]));
  }
  this->expect_values(found, kSpectrum);
}

TYPED_TEST(GeneralEigenTest, NoNumbersHaveNoValues) {
  using F = TypeParam;
  using T = typename F::T;
  using Real = typename F::Real;
  using Value = typename TestFixture::Value;
  for (const Real bad :
       {std::numeric_limits<Real>::quiet_NaN(),
        std::numeric_limits<Real>::infinity()}) {
    typename TestFixture::Call call;
    call.n = call.lda = call.ldvr = 3;
    std::vector<T> elements(9, T(1));
    elements[5] = T(bad);
    const Array<T> array(elements);
    const Array<Value> values{std::vector<Value>(3)};
    const Array<T> vr{std::vector<T>(9)};
    ASSERT_EQ(
        this->solve(call, array.get(), values.get(), nullptr, vr.get()), kGood);
    EXPECT_EQ(this->last_info(), 3);
    for (const Value& value : values.values()) {
      EXPECT_TRUE(std::isnan(value.real()));
    }
    for (const T& value : vr.values()) {
      EXPECT_TRUE(std::isnan(std::real(value)));
    }
  }
}

TYPED_TEST(GeneralEigenTest, RefusesWhatIsWrong) {
  using F = TypeParam;
  using T = typename F::T;
  using Call = typename TestFixture::Call;
  const Array<T> array{std::vector<T>(9)};
  const auto expect_refused = [&](void (*spoil)(Call*)) {
    Call call;
    call.n = call.lda = call.ldvl = call.ldvr = 3;
    spoil(&call);
    EXPECT_EQ(
        this->solve(call, array.get(), array.get(), array.get(), array.get()),
        kBad);
  };
  expect_refused([](Call* call) { call->n = -1; });
  expect_refused([](Call* call) { call->lda = 2; });
  expect_refused([](Call* call) { call->ldvr = 2; });
  expect_refused([](Call* call) { call->ldvl = 0; });
  expect_refused([](Call* call) {
    call->left = kVectors;
    call->ldvl = 2;
  });
  expect_refused(
      [](Call* call) { call->left = static_cast<cusolverEigMode_t>(7); });
  expect_refused([](Call* call) { call->values = CUDA_R_16F; });
  expect_refused([](Call* call) { call->vectors = CUDA_R_16F; });
}

} // namespace
} // namespace accelerator::solver::testing
