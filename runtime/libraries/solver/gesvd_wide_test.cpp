// Singular values by gesvdp and gesvdr, beside the matrix that they make up.
#include <algorithm>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

template <typename F>
class GesvdWideTest : public SolverTest<F> {
 protected:
  using T = typename F::T;
  using Real = typename F::Real;

  /// gesvdp of a matrix.
  struct Found {
    std::vector<Real> values;
    Matrix u, v;
  };
  Found polar(const Matrix& a, cusolverEigMode_t mode, bool is_economic) {
    const int m = a.rows, n = a.columns, least = std::min(m, n);
    const int u_count = is_economic ? least : m;
    const int v_count = is_economic ? least : n;
    const int lda = m + 1, ldu = m + 2, ldv = n + 3;
    const Array<T> array(this->packed(a, lda));
    const Array<Real> values{std::vector<Real>(least)};
    const Array<T> u(std::vector<T>(ldu * u_count)),
        v(std::vector<T>(ldv * v_count));
    size_t device = 0, host = 0;
    double perturbation = -1;
    EXPECT_EQ(
        cusolverDnXgesvdp_bufferSize(
            this->handle,
            this->params,
            mode,
            is_economic,
            m,
            n,
            F::kType,
            array.get(),
            lda,
            F::kRealType,
            values.get(),
            F::kType,
            u.get(),
            ldu,
            F::kType,
            v.get(),
            ldv,
            F::kType,
            &device,
            &host),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(
        cusolverDnXgesvdp(
            this->handle,
            this->params,
            mode,
            is_economic,
            m,
            n,
            F::kType,
            array.get(),
            lda,
            F::kRealType,
            values.get(),
            F::kType,
            u.get(),
            ldu,
            F::kType,
            v.get(),
            ldv,
            F::kType,
            this->work.get(),
            device,
            nullptr,
            host,
            this->info.get(),
            &perturbation),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(this->last_info(), 0);
    EXPECT_EQ(perturbation, 0);
    return {
        values.values(),
        Matrix(u.values(), m, u_count, ldu),
        Matrix(v.values(), n, v_count, ldv)};
  }
};
TYPED_TEST_SUITE(GesvdWideTest, AllTypes);

TYPED_TEST(GesvdWideTest, PartsMakeUpTheMatrix) {
  using F = TypeParam;
  for (const auto& [m, n] :
       std::vector<std::pair<int, int>>{{6, 4}, {4, 4}, {3, 5}}) {
    const Matrix a = this->random_matrix(m, n, 1);
    for (const bool is_economic : {false, true}) {
      const auto found = this->polar(a, CUSOLVER_EIG_MODE_VECTOR, is_economic);
      EXPECT_TRUE(std::is_sorted(found.values.rbegin(), found.values.rend()));
      this->expect_orthonormal(found.u);
      this->expect_orthonormal(found.v);
      expect_near(
          found.u *
              this->diagonal(found.values, found.u.columns, found.v.columns) *
              apply(CUBLAS_OP_C, found.v),
          a,
          F::kTolerance);
      const auto alone =
          this->polar(a, CUSOLVER_EIG_MODE_NOVECTOR, is_economic);
      const int least = std::min(m, n);
      expect_near(
          this->diagonal(alone.values, least, least),
          this->diagonal(found.values, least, least),
          F::kTolerance);
    }
  }
}

TYPED_TEST(GesvdWideTest, TheLargestOnes) {
  using F = TypeParam;
  using T = typename F::T;
  using Real = typename F::Real;
  constexpr int kM = 7, kN = 5, kRank = 2, kLda = 8, kLdu = 9, kLdv = 6;
  const Matrix a = this->random_matrix(kM, kN, 1);
  const auto all = this->polar(a, CUSOLVER_EIG_MODE_VECTOR, true);
  const auto find = [&](char left, char right, int rank, int oversampling) {
    const Array<T> array(this->packed(a, kLda));
    const Array<Real> values{std::vector<Real>(kRank)};
    const Array<T> u(std::vector<T>(kLdu * kRank)),
        v(std::vector<T>(kLdv * kRank));
    size_t device = 0, host = 0;
    const auto status = cusolverDnXgesvdr_bufferSize(
        this->handle,
        this->params,
        left,
        right,
        kM,
        kN,
        rank,
        oversampling,
        2,
        F::kType,
        array.get(),
        kLda,
        F::kRealType,
        values.get(),
        F::kType,
        u.get(),
        kLdu,
        F::kType,
        v.get(),
        kLdv,
        F::kType,
        &device,
        &host);
    EXPECT_EQ(
        cusolverDnXgesvdr(
            this->handle,
            this->params,
            left,
            right,
            kM,
            kN,
            rank,
            oversampling,
            2,
            F::kType,
            array.get(),
            kLda,
            F::kRealType,
            values.get(),
            F::kType,
            u.get(),
            kLdu,
            F::kType,
            v.get(),
            kLdv,
            F::kType,
            this->work.get(),
            std::max<size_t>(device, 16),
            nullptr,
            host,
            this->info.get()),
        status);
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
    EXPECT_EQ(this->last_info(), 0);
    const auto found = values.values();
    for (int i = 0; i < kRank; ++i) {
      EXPECT_NEAR(found[i], all.values[i], F::kTolerance);
    }
    if (left == 'S' && right == 'S') {
      // A V = U S of these.
      expect_near(
          a * Matrix(v.values(), kN, kRank, kLdv),
          Matrix(u.values(), kM, kRank, kLdu) *
              this->diagonal(found, kRank, kRank),
          F::kTolerance);
    }
    return status;
  };
  EXPECT_EQ(find('S', 'S', kRank, 2), CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(find('N', 'N', kRank, 0), CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(find('S', 'S', kRank, 4), CUSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(find('S', 'S', 0, 2), CUSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(find('X', 'S', kRank, 2), CUSOLVER_STATUS_INVALID_VALUE);
}

} // namespace
} // namespace accelerator::solver::testing
