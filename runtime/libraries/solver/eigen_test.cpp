// Eigenvalues and eigenvectors.
#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

constexpr cublasFillMode_t kTriangles[] = {
    CUBLAS_FILL_MODE_LOWER,
    CUBLAS_FILL_MODE_UPPER};

constexpr cusolverEigMode_t kModes[] = {
    CUSOLVER_EIG_MODE_VECTOR,
    CUSOLVER_EIG_MODE_NOVECTOR};

enum class Way { kDivide, kWide, kJacobi };

template <typename F>
class EigenTest : public SolverTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;
  using Real = typename F::Real;

  void SetUp() override {
    SolverTest<F>::SetUp();
    ASSERT_EQ(cusolverDnCreateSyevjInfo(&jacobi), CUSOLVER_STATUS_SUCCESS);
  }
  void TearDown() override {
    SolverTest<F>::TearDown();
    EXPECT_EQ(cusolverDnDestroySyevjInfo(jacobi), CUSOLVER_STATUS_SUCCESS);
  }

  /// The matrix with something else in the triangle that does not count.
  static Matrix half(Matrix a, cublasFillMode_t triangle) {
    for (int j = 0; j < a.columns; ++j) {
      for (int i = 0; i < a.rows; ++i) {
        if (triangle == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) {
          a(i, j) = 55;
        }
      }
    }
    return a;
  }

  void solve(
      Way way,
      cusolverEigMode_t mode,
      cublasFillMode_t triangle,
      int n,
      Api* a,
      int lda,
      Real* values) {
    int size = 0;
    size_t device = 0, host = 0;
    auto* const area = this->work.template get<Api>();
    switch (way) {
      case Way::kDivide:
        ASSERT_EQ(
            F::syevd_size(
                this->handle, mode, triangle, n, a, lda, values, &size),
            CUSOLVER_STATUS_SUCCESS);
        ASSERT_EQ(
            F::syevd(
                this->handle,
                mode,
                triangle,
                n,
                a,
                lda,
                values,
                area,
                size,
                this->info.get()),
            CUSOLVER_STATUS_SUCCESS);
        break;
      case Way::kJacobi:
        ASSERT_EQ(
            F::syevj_size(
                this->handle, mode, triangle, n, a, lda, values, &size, jacobi),
            CUSOLVER_STATUS_SUCCESS);
        ASSERT_EQ(
            F::syevj(
                this->handle,
                mode,
                triangle,
                n,
                a,
                lda,
                values,
                area,
                size,
                this->info.get(),
                jacobi),
            CUSOLVER_STATUS_SUCCESS);
        break;
      case Way::kWide:
        ASSERT_EQ(
            cusolverDnXsyevd_bufferSize(
                this->handle,
                this->params,
                mode,
                triangle,
                n,
                F::kType,
                a,
                lda,
                F::kRealType,
                values,
                F::kType,
                &device,
                &host),
            CUSOLVER_STATUS_SUCCESS);
        ASSERT_EQ(
            cusolverDnXsyevd(
                this->handle,
                this->params,
                mode,
                triangle,
                n,
                F::kType,
                a,
                lda,
                F::kRealType,
                values,
                F::kType,
                area,
                device,
                nullptr,
                host,
                this->info.get()),
            CUSOLVER_STATUS_SUCCESS);
        break;
    }
    EXPECT_EQ(this->last_info(), 0);
  }

  /// That they are those of a matrix, the smallest first.
  static void expect_eigen(
      const Matrix& a,
      const Matrix& vectors,
      const std::vector<Real>& values) {
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    SolverTest<F>::expect_orthonormal(vectors);
    expect_near(
        a * vectors,
        vectors * SolverTest<F>::diagonal(values, a.rows, a.rows),
        F::kTolerance);
  }

  syevjInfo_t jacobi = nullptr;
};
TYPED_TEST_SUITE(EigenTest, AllTypes);

TYPED_TEST(EigenTest, VectorsAndValuesBelongToTheMatrix) {
  using F = TypeParam;
  using Api = typename F::Api;
  using Real = typename F::Real;
  for (const int n : {1, 2, 9}) {
    const int lda = n + 1;
    const Matrix a = this->hermitian(n, 1, false);
    for (const auto triangle : kTriangles) {
      for (const Way way : {Way::kDivide, Way::kWide, Way::kJacobi}) {
        std::vector<Real> with_vectors;
        for (const auto mode : kModes) {
          const Array<typename F::T> array(
              this->packed(this->half(a, triangle), lda));
          const Array<Real> values{std::vector<Real>(n)};
          this->solve(
              way,
              mode,
              triangle,
              n,
              array.template get<Api>(),
              lda,
              values.get());
          if (mode == CUSOLVER_EIG_MODE_VECTOR) {
            with_vectors = values.values();
            this->expect_eigen(
                a, Matrix(array.values(), n, n, lda), with_vectors);
          } else {
            expect_near(
                this->diagonal(values.values(), n, n),
                this->diagonal(with_vectors, n, n),
                F::kTolerance);
          }
          if (way != Way::kJacobi) {
            continue;
          }
          double residual = -1;
          int sweeps = 0;
          EXPECT_EQ(
              cusolverDnXsyevjGetResidual(
                  this->handle, this->jacobi, &residual),
              CUSOLVER_STATUS_SUCCESS);
          EXPECT_GE(residual, 0);
          EXPECT_LT(residual, F::kTolerance);
          EXPECT_EQ(
              cusolverDnXsyevjGetSweeps(this->handle, this->jacobi, &sweeps),
              CUSOLVER_STATUS_SUCCESS);
          EXPECT_GT(sweeps, 0);
        }
      }
    }
  }
}

TYPED_TEST(EigenTest, Batches) {
  using F = TypeParam;
  using Api = typename F::Api;
  using T = typename F::T;
  using Real = typename F::Real;
  constexpr int kN = 5, kLda = 6, kCount = 4;
  std::vector<Matrix> all;
  std::vector<T> elements;
  for (unsigned i = 0; i < kCount; ++i) {
    all.push_back(this->hermitian(kN, 10 + i, false));
    const auto its =
        this->packed(this->half(all.back(), CUBLAS_FILL_MODE_UPPER), kLda);
    elements.insert(elements.end(), its.begin(), its.end());
  }
  std::vector<Real> with_vectors;
  for (const auto mode : kModes) {
    const Array<T> array(elements);
    const Array<Real> values{std::vector<Real>(kN * kCount)};
    const Array<int> infos{std::vector<int>(kCount, -1)};
    int size = 0;
    ASSERT_EQ(
        F::syevj_batched_size(
            this->handle,
            mode,
            CUBLAS_FILL_MODE_UPPER,
            kN,
            array.template get<Api>(),
            kLda,
            values.get(),
            &size,
            this->jacobi,
            kCount),
        CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(
        F::syevj_batched(
            this->handle,
            mode,
            CUBLAS_FILL_MODE_UPPER,
            kN,
            array.template get<Api>(),
            kLda,
            values.get(),
            this->work.template get<Api>(),
            size,
            infos.get(),
            this->jacobi,
            kCount),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(infos.values(), std::vector<int>(kCount));
    const auto vectors = array.values();
    const auto found = values.values();
    if (mode == CUSOLVER_EIG_MODE_NOVECTOR) {
      expect_near(
          this->diagonal(found, kN * kCount, kN * kCount),
          this->diagonal(with_vectors, kN * kCount, kN * kCount),
          F::kTolerance);
      continue;
    }
    with_vectors = found;
    for (int i = 0; i < kCount; ++i) {
      this->expect_eigen(
          all[i],
          this->piece(vectors, i * kLda * kN, kN, kN, kLda),
          {found.begin() + i * kN, found.begin() + (i + 1) * kN});
    }
    double residual = 0;
    EXPECT_EQ(
        cusolverDnXsyevjGetResidual(this->handle, this->jacobi, &residual),
        CUSOLVER_STATUS_NOT_SUPPORTED);
  }
}

} // namespace
} // namespace accelerator::solver::testing
