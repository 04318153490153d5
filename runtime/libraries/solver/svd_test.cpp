// Singular values and vectors.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

template <typename F>
class SvdTest : public SolverTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;
  using Real = typename F::Real;

  void SetUp() override {
    SolverTest<F>::SetUp();
    ASSERT_EQ(cusolverDnCreateGesvdjInfo(&jacobi), CUSOLVER_STATUS_SUCCESS);
  }
  void TearDown() override {
    SolverTest<F>::TearDown();
    EXPECT_EQ(cusolverDnDestroyGesvdjInfo(jacobi), CUSOLVER_STATUS_SUCCESS);
  }

  /// That they are those of a matrix, the largest first.
  /// @param u, v as many columns as there are.
  static void expect_decomposition(
      const Matrix& a,
      const Matrix& u,
      const std::vector<Real>& values,
      const Matrix& v) {
    EXPECT_TRUE(
        std::is_sorted(values.begin(), values.end(), std::greater<Real>()));
    EXPECT_GE(values.back(), 0);
    SolverTest<F>::expect_orthonormal(u);
    SolverTest<F>::expect_orthonormal(v);
    expect_near(
        u * SolverTest<F>::diagonal(values, u.columns, v.columns) *
            apply(CUBLAS_OP_C, v),
        a,
        F::kTolerance);
  }

  static std::vector<T> room(int rows, int columns) {
    return std::vector<T>(static_cast<std::size_t>(rows) * columns);
  }

  gesvdjInfo_t jacobi = nullptr;
};
TYPED_TEST_SUITE(SvdTest, AllTypes);

TYPED_TEST(SvdTest, ByIterations) {
  using F = TypeParam;
  using Api = typename F::Api;
  using T = typename F::T;
  using Real = typename F::Real;
  for (const auto& [rows, columns] : {std::pair{7, 4}, {5, 5}, {1, 1}}) {
    const int lda = rows + 1, ldu = rows + 2, ldvt = columns + 3;
    const Matrix a = this->random_matrix(rows, columns, 1);
    for (const bool is_wide : {false, true}) {
      for (const auto& [left, right] :
           {std::pair{'A', 'A'},
            {'S', 'S'},
            {'N', 'N'},
            {'O', 'S'},
            {'A', 'O'},
            {'N', 'A'}}) {
        const Array<T> array(this->packed(a, lda));
        const Array<T> u(this->room(ldu, rows)), vt(this->room(ldvt, columns));
        const Array<Real> values{std::vector<Real>(columns)};
        const Array<Real> rest{std::vector<Real>(std::max(1, columns))};
        if (is_wide) {
          size_t device = 0, host = 0;
          ASSERT_EQ(
              cusolverDnXgesvd_bufferSize(
                  this->handle,
                  this->params,
                  static_cast<signed char>(left),
                  static_cast<signed char>(right),
                  rows,
                  columns,
                  F::kType,
                  array.get(),
                  lda,
                  F::kRealType,
                  values.get(),
                  F::kType,
                  u.get(),
                  ldu,
                  F::kType,
                  vt.get(),
                  ldvt,
                  F::kType,
                  &device,
                  &host),
              CUSOLVER_STATUS_SUCCESS);
          ASSERT_EQ(
              cusolverDnXgesvd(
                  this->handle,
                  this->params,
                  static_cast<signed char>(left),
                  static_cast<signed char>(right),
                  rows,
                  columns,
                  F::kType,
                  array.get(),
                  lda,
                  F::kRealType,
                  values.get(),
                  F::kType,
                  u.get(),
                  ldu,
                  F::kType,
                  vt.get(),
                  ldvt,
                  F::kType,
                  this->work.get(),
                  device,
                  nullptr,
                  host,
                  this->info.get()),
              CUSOLVER_STATUS_SUCCESS);
        } else {
          int size = 0;
          ASSERT_EQ(
              F::gesvd_size(this->handle, rows, columns, &size),
              CUSOLVER_STATUS_SUCCESS);
          ASSERT_EQ(
              F::gesvd(
                  this->handle,
                  static_cast<signed char>(left),
                  static_cast<signed char>(right),
                  rows,
                  columns,
                  array.template get<Api>(),
                  lda,
                  values.get(),
                  u.template get<Api>(),
                  ldu,
                  vt.template get<Api>(),
                  ldvt,
                  this->work.template get<Api>(),
                  size,
                  rest.get(),
                  this->info.get()),
              CUSOLVER_STATUS_SUCCESS);
        }
        ASSERT_EQ(this->last_info(), 0);
        const auto found = values.values();
        // The squares are the eigenvalues of A^H A: they have its trace.
        double trace = 0, squares = 0;
        for (const Wide& value : a.values) {
          trace += std::norm(value);
        }
        for (const Real value : found) {
          squares += static_cast<double>(value) * value;
        }
        EXPECT_NEAR(squares, trace, 10 * F::kTolerance);
        if (left == 'N') {
          continue;
        }
        const Matrix its_u = left == 'O'
            ? Matrix(array.values(), rows, columns, lda)
            : Matrix(u.values(), rows, left == 'A' ? rows : columns, ldu);
        const Matrix its_vt = right == 'O'
            ? Matrix(array.values(), columns, columns, lda)
            : Matrix(vt.values(), columns, columns, ldvt);
        this->expect_decomposition(a, its_u, found, apply(CUBLAS_OP_C, its_vt));
      }
    }
  }
}

TYPED_TEST(SvdTest, ByJacobi) {
  using F = TypeParam;
  using Api = typename F::Api;
  using T = typename F::T;
  using Real = typename F::Real;
  for (const auto& [rows, columns] :
       {std::pair{7, 4}, {4, 7}, {5, 5}, {1, 3}}) {
    const int least = std::min(rows, columns);
    const int lda = rows + 1, ldu = rows + 2, ldv = columns + 3;
    const Matrix a = this->random_matrix(rows, columns, 2);
    std::vector<Real> with_vectors;
    for (const auto mode :
         {CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_MODE_NOVECTOR}) {
      for (const int economic : {0, 1}) {
        const Array<T> array(this->packed(a, lda));
        const int u_columns = economic != 0 ? least : rows;
        const int v_columns = economic != 0 ? least : columns;
        const Array<T> u(this->room(ldu, u_columns));
        const Array<T> v(this->room(ldv, v_columns));
        const Array<Real> values{std::vector<Real>(least)};
        int size = 0;
        ASSERT_EQ(
            F::gesvdj_size(
                this->handle,
                mode,
                economic,
                rows,
                columns,
                array.template get<Api>(),
                lda,
                values.get(),
                u.template get<Api>(),
                ldu,
                v.template get<Api>(),
                ldv,
                &size,
                this->jacobi),
            CUSOLVER_STATUS_SUCCESS);
        ASSERT_EQ(
            F::gesvdj(
                this->handle,
                mode,
                economic,
                rows,
                columns,
                array.template get<Api>(),
                lda,
                values.get(),
                u.template get<Api>(),
                ldu,
                v.template get<Api>(),
                ldv,
                this->work.template get<Api>(),
                size,
                this->info.get(),
                this->jacobi),
            CUSOLVER_STATUS_SUCCESS);
        ASSERT_EQ(this->last_info(), 0);
        if (mode == CUSOLVER_EIG_MODE_VECTOR) {
          with_vectors = values.values();
          this->expect_decomposition(
              a,
              Matrix(u.values(), rows, u_columns, ldu),
              with_vectors,
              Matrix(v.values(), columns, v_columns, ldv));
        } else {
          expect_near(
              this->diagonal(values.values(), least, least),
              this->diagonal(with_vectors, least, least),
              F::kTolerance);
        }
        double residual = -1;
        int sweeps = 0;
        EXPECT_EQ(
            cusolverDnXgesvdjGetResidual(this->handle, this->jacobi, &residual),
            CUSOLVER_STATUS_SUCCESS);
        EXPECT_GE(residual, 0);
        EXPECT_LT(residual, F::kTolerance);
        EXPECT_EQ(
            cusolverDnXgesvdjGetSweeps(this->handle, this->jacobi, &sweeps),
            CUSOLVER_STATUS_SUCCESS);
        EXPECT_GT(sweeps, 0);
      }
    }
  }
}

TYPED_TEST(SvdTest, BatchesByJacobi) {
  using F = TypeParam;
  using Api = typename F::Api;
  using T = typename F::T;
  using Real = typename F::Real;
  constexpr int kRows = 6, kColumns = 4, kLda = 7, kLdu = 8, kLdv = 5;
  constexpr int kCount = 3;
  std::vector<Matrix> all;
  std::vector<T> elements;
  for (unsigned i = 0; i < kCount; ++i) {
    all.push_back(this->random_matrix(kRows, kColumns, 20 + i));
    const auto its = this->packed(all.back(), kLda);
    elements.insert(elements.end(), its.begin(), its.end());
  }
  std::vector<Real> with_vectors;
  for (const auto mode :
       {CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_MODE_NOVECTOR}) {
    const Array<T> array(elements);
    const Array<T> u(this->room(kLdu, kRows * kCount));
    const Array<T> v(this->room(kLdv, kColumns * kCount));
    const Array<Real> values{std::vector<Real>(kColumns * kCount)};
    const Array<int> infos{std::vector<int>(kCount, -1)};
    int size = 0;
    ASSERT_EQ(
        F::gesvdj_batched_size(
            this->handle,
            mode,
            kRows,
            kColumns,
            array.template get<Api>(),
            kLda,
            values.get(),
            u.template get<Api>(),
            kLdu,
            v.template get<Api>(),
            kLdv,
            &size,
            this->jacobi,
            kCount),
        CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(
        F::gesvdj_batched(
            this->handle,
            mode,
            kRows,
            kColumns,
            array.template get<Api>(),
            kLda,
            values.get(),
            u.template get<Api>(),
            kLdu,
            v.template get<Api>(),
            kLdv,
            this->work.template get<Api>(),
            size,
            infos.get(),
            this->jacobi,
            kCount),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(infos.values(), std::vector<int>(kCount));
    const auto found = values.values();
    if (mode == CUSOLVER_EIG_MODE_NOVECTOR) {
      expect_near(
          this->diagonal(found, kColumns * kCount, kColumns * kCount),
          this->diagonal(with_vectors, kColumns * kCount, kColumns * kCount),
          F::kTolerance);
      continue;
    }
    with_vectors = found;
    const auto its_u = u.values();
    const auto its_v = v.values();
    for (int i = 0; i < kCount; ++i) {
      this->expect_decomposition(
          all[i],
          this->piece(its_u, i * kLdu * kRows, kRows, kRows, kLdu),
          {found.begin() + i * kColumns, found.begin() + (i + 1) * kColumns},
          this->piece(its_v, i * kLdv * kColumns, kColumns, kColumns, kLdv));
    }
    double residual = 0;
    EXPECT_EQ(
        cusolverDnXgesvdjGetResidual(this->handle, this->jacobi, &residual),
        CUSOLVER_STATUS_NOT_SUPPORTED);
  }
}

TYPED_TEST(SvdTest, BatchesOfTallMatrices) {
  using F = TypeParam;
  using Api = typename F::Api;
  using T = typename F::T;
  using Real = typename F::Real;
  constexpr int kRows = 7, kColumns = 4, kLda = 8, kLdu = 9, kLdv = 6;
  constexpr int kCount = 3;
  constexpr long long kStepA = 40, kStepValues = 5, kStepU = 50, kStepV = 30;
  std::vector<Matrix> all;
  std::vector<T> elements(kStepA * kCount);
  for (unsigned i = 0; i < kCount; ++i) {
    all.push_back(this->random_matrix(kRows, kColumns, 30 + i));
    const auto its = this->packed(all.back(), kLda);
    std::copy(its.begin(), its.end(), elements.begin() + i * kStepA);
  }
  for (const int rank : {kColumns, 2}) {
    for (const auto mode :
         {CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_MODE_NOVECTOR}) {
      const Array<T> array(elements);
      const Array<T> u{std::vector<T>(kStepU * kCount)};
      const Array<T> v{std::vector<T>(kStepV * kCount)};
      const Array<Real> values{std::vector<Real>(kStepValues * kCount)};
      const Array<int> infos{std::vector<int>(kCount, -1)};
      std::vector<double> residuals(kCount, -1);
      int size = 0;
      ASSERT_EQ(
          F::gesvda_size(
              this->handle,
              mode,
              rank,
              kRows,
              kColumns,
              array.template get<Api>(),
              kLda,
              kStepA,
              values.get(),
              kStepValues,
              u.template get<Api>(),
              kLdu,
              kStepU,
              v.template get<Api>(),
              kLdv,
              kStepV,
              &size,
              kCount),
          CUSOLVER_STATUS_SUCCESS);
      ASSERT_EQ(
          F::gesvda(
              this->handle,
              mode,
              rank,
              kRows,
              kColumns,
              array.template get<Api>(),
              kLda,
              kStepA,
              values.get(),
              kStepValues,
              u.template get<Api>(),
              kLdu,
              kStepU,
              v.template get<Api>(),
              kLdv,
              kStepV,
              this->work.template get<Api>(),
              size,
              infos.get(),
              residuals.data(),
              kCount),
          CUSOLVER_STATUS_SUCCESS);
      // The host has them when the call is done.
      for (const double residual : residuals) {
        EXPECT_GE(residual, 0);
        EXPECT_LT(residual, F::kTolerance);
      }
      EXPECT_EQ(infos.values(), std::vector<int>(kCount));
      EXPECT_EQ(array.values(), elements);
      const auto found = values.values();
      const auto its_u = u.values();
      const auto its_v = v.values();
      for (int i = 0; i < kCount; ++i) {
        const std::vector<Real> its(
            found.begin() + i * kStepValues,
            found.begin() + i * kStepValues + rank);
        EXPECT_GT(its.back(), 0);
        if (mode == CUSOLVER_EIG_MODE_NOVECTOR) {
          EXPECT_EQ(its_u, std::vector<T>(its_u.size()));
          continue;
        }
        const Matrix left = this->piece(its_u, i * kStepU, kRows, rank, kLdu);
        const Matrix right =
            this->piece(its_v, i * kStepV, kColumns, rank, kLdv);
        if (rank == kColumns) {
          this->expect_decomposition(all[i], left, its, right);
        } else {
          this->expect_orthonormal(left);
          expect_near(
              all[i] * right,
              left * this->diagonal(its, rank, rank),
              F::kTolerance);
        }
      }
    }
  }
}

} // namespace
} // namespace accelerator::solver::testing
