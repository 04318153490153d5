// Cholesky factorisations, solving and inverting with them.
#include <algorithm>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

constexpr cublasFillMode_t kTriangles[] = {
    CUBLAS_FILL_MODE_LOWER,
    CUBLAS_FILL_MODE_UPPER};

template <typename F>
class CholeskyTest : public SolverTest<F> {
 protected:
  using Api = typename F::Api;

  /// What the factor in a triangle is a factor of.
  static Matrix product(cublasFillMode_t triangle, const Matrix& factor) {
    const int n = factor.rows;
    if (triangle == CUBLAS_FILL_MODE_LOWER) {
      const Matrix l = SolverTest<F>::lower(factor, n, false);
      return l * apply(CUBLAS_OP_C, l);
    }
    const Matrix u = SolverTest<F>::upper(factor, n);
    return apply(CUBLAS_OP_C, u) * u;
  }

  void factor(cublasFillMode_t triangle, int n, Api* a, int lda) {
    int size = 0;
    ASSERT_EQ(
        F::potrf_size(this->handle, triangle, n, a, lda, &size),
        CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(
        F::potrf(
            this->handle,
            triangle,
            n,
            a,
            lda,
            this->work.template get<Api>(),
            size,
            this->info.get()),
        CUSOLVER_STATUS_SUCCESS);
  }

  void factor_wide(cublasFillMode_t triangle, int n, void* a, int lda) {
    size_t device = 0, host = 0;
    ASSERT_EQ(
        cusolverDnXpotrf_bufferSize(
            this->handle,
            this->params,
            triangle,
            n,
            F::kType,
            a,
            lda,
            F::kType,
            &device,
            &host),
        CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(
        cusolverDnXpotrf(
            this->handle,
            this->params,
            triangle,
            n,
            F::kType,
            a,
            lda,
            F::kType,
            this->work.get(),
            device,
            nullptr,
            host,
            this->info.get()),
        CUSOLVER_STATUS_SUCCESS);
  }
};
TYPED_TEST_SUITE(CholeskyTest, AllTypes);

TYPED_TEST(CholeskyTest, FactorsSolveAndInvert) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kN = 6, kColumns = 3, kLda = 8, kLdb = 7;
  const Matrix a = this->hermitian(kN, 1, true);
  const Matrix b = this->random_matrix(kN, kColumns, 2);
  for (const auto triangle : kTriangles) {
    const bool is_lower = triangle == CUBLAS_FILL_MODE_LOWER;
    for (const bool is_wide : {false, true}) {
      const Array<typename F::T> array(this->packed(a, kLda));
      if (is_wide) {
        this->factor_wide(triangle, kN, array.get(), kLda);
      } else {
        this->factor(triangle, kN, array.template get<Api>(), kLda);
      }
      ASSERT_EQ(this->last_info(), 0);
      const Matrix factor(array.values(), kN, kN, kLda);
      expect_near(this->product(triangle, factor), a, F::kTolerance);
      // The other triangle stays.
      expect_near(
          is_lower ? this->upper(factor, kN - 1)
                   : this->lower(factor, kN - 1, true),
          [&] {
            Matrix kept = is_lower ? this->upper(a, kN - 1)
                                   : this->lower(a, kN - 1, true);
            for (int i = 0; is_lower && i < kN - 1; ++i) {
              kept(i, i) = factor(i, i);
            }
            return kept;
          }(),
          F::kTolerance);
      const Array<typename F::T> solution(this->packed(b, kLdb));
      ASSERT_EQ(
          is_wide ? cusolverDnXpotrs(
                        this->handle,
                        this->params,
                        triangle,
                        kN,
                        kColumns,
                        F::kType,
                        array.get(),
                        kLda,
                        F::kType,
                        solution.get(),
                        kLdb,
                        this->info.get())
                  : F::potrs(
                        this->handle,
                        triangle,
                        kN,
                        kColumns,
                        array.template get<Api>(),
                        kLda,
                        solution.template get<Api>(),
                        kLdb,
                        this->info.get()),
          CUSOLVER_STATUS_SUCCESS);
      EXPECT_EQ(this->last_info(), 0);
      expect_near(
          a * Matrix(solution.values(), kN, kColumns, kLdb), b, F::kTolerance);
      int size = 0;
      ASSERT_EQ(
          F::potri_size(
              this->handle,
              triangle,
              kN,
              array.template get<Api>(),
              kLda,
              &size),
          CUSOLVER_STATUS_SUCCESS);
      ASSERT_EQ(
          F::potri(
              this->handle,
              triangle,
              kN,
              array.template get<Api>(),
              kLda,
              this->work.template get<Api>(),
              size,
              this->info.get()),
          CUSOLVER_STATUS_SUCCESS);
      EXPECT_EQ(this->last_info(), 0);
      Matrix inverse(array.values(), kN, kN, kLda);
      for (int j = 0; j < kN; ++j) {
        for (int i = 0; i < j; ++i) {
          (is_lower ? inverse(i, j) : inverse(j, i)) =
              std::conj(is_lower ? inverse(j, i) : inverse(i, j));
        }
      }
      expect_near(a * inverse, this->identity(kN), F::kTolerance);
    }
  }
}

TYPED_TEST(CholeskyTest, WhereItIsNotPositiveIsTold) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kN = 4;
  Matrix a = this->hermitian(kN, 3, true);
  a(2, 2) = -1;
  for (const auto triangle : kTriangles) {
    const Array<typename F::T> array(this->packed(a, kN));
    this->factor(triangle, kN, array.template get<Api>(), kN);
    EXPECT_EQ(this->last_info(), 3);
    const Array<typename F::T> again(this->packed(a, kN));
    this->factor_wide(triangle, kN, again.get(), kN);
    EXPECT_EQ(this->last_info(), 3);
  }
}

TYPED_TEST(CholeskyTest, Batches) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kN = 5, kLda = 6, kCount = 3;
  for (const auto triangle : kTriangles) {
    std::vector<Matrix> all;
    std::vector<typename F::T> values, right;
    for (unsigned i = 0; i < kCount; ++i) {
      all.push_back(this->hermitian(kN, 10 + i, true));
      if (i == 1) {
        all.back()(0, 0) = -1;
      }
      const auto its = this->packed(all.back(), kLda);
      values.insert(values.end(), its.begin(), its.end());
      const auto b = this->packed(this->random_matrix(kN, 1, 20 + i), kN);
      right.insert(right.end(), b.begin(), b.end());
    }
    const Array<typename F::T> array(values), solution(right);
    std::vector<Api*> pieces, right_pieces;
    for (int i = 0; i < kCount; ++i) {
      pieces.push_back(array.template get<Api>() + i * kLda * kN);
      right_pieces.push_back(solution.template get<Api>() + i * kN);
    }
    const Array<Api*> pointers(pieces), right_pointers(right_pieces);
    const Array<int> infos{std::vector<int>(kCount, -1)};
    ASSERT_EQ(
        F::potrf_batched(
            this->handle,
            triangle,
            kN,
            pointers.get(),
            kLda,
            infos.get(),
            kCount),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(infos.values(), (std::vector<int>{0, 1, 0}));
    ASSERT_EQ(
        F::potrs_batched(
            this->handle,
            triangle,
            kN,
            1,
            pointers.get(),
            kLda,
            right_pointers.get(),
            kN,
            this->info.get(),
            kCount),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(this->last_info(), 0);
    const auto factors = array.values();
    const auto solved = solution.values();
    for (const int i : {0, 2}) {
      const Matrix factor = this->piece(factors, i * kLda * kN, kN, kN, kLda);
      expect_near(this->product(triangle, factor), all[i], F::kTolerance);
      const Matrix x = this->piece(solved, i * kN, kN, 1, kN);
      const Matrix b = this->piece(right, i * kN, kN, 1, kN);
      expect_near(all[i] * x, b, F::kTolerance);
    }
    // It solves for one column only.
    EXPECT_EQ(
        F::potrs_batched(
            this->handle,
            triangle,
            kN,
            2,
            pointers.get(),
            kLda,
            right_pointers.get(),
            kN,
            this->info.get(),
            kCount),
        CUSOLVER_STATUS_INVALID_VALUE);
  }
}

TYPED_TEST(CholeskyTest, TrianglesAreInverted) {
  using F = TypeParam;
  constexpr int kN = 5, kLda = 6;
  Matrix a = this->random_matrix(kN, kN, 30);
  for (int i = 0; i < kN; ++i) {
    a(i, i) += 3;
  }
  for (const auto triangle : kTriangles) {
    for (const auto diagonal : {CUBLAS_DIAG_UNIT, CUBLAS_DIAG_NON_UNIT}) {
      const auto half = [&](const Matrix& of) {
        Matrix result = triangle == CUBLAS_FILL_MODE_LOWER
            ? this->lower(of, kN, false)
            : this->upper(of, kN);
        for (int i = 0; diagonal == CUBLAS_DIAG_UNIT && i < kN; ++i) {
          result(i, i) = 1;
        }
        return result;
      };
      const Array<typename F::T> array(this->packed(a, kLda));
      size_t device = 0, host = 0;
      ASSERT_EQ(
          cusolverDnXtrtri_bufferSize(
              this->handle,
              triangle,
              diagonal,
              kN,
              F::kType,
              array.get(),
              kLda,
              &device,
              &host),
          CUSOLVER_STATUS_SUCCESS);
      ASSERT_EQ(
          cusolverDnXtrtri(
              this->handle,
              triangle,
              diagonal,
              kN,
              F::kType,
              array.get(),
              kLda,
              this->work.get(),
              device,
              nullptr,
              host,
              this->info.get()),
          CUSOLVER_STATUS_SUCCESS);
      EXPECT_EQ(this->last_info(), 0);
      expect_near(
          half(a) * half(Matrix(array.values(), kN, kN, kLda)),
          this->identity(kN),
          F::kTolerance);
    }
  }
}

} // namespace
} // namespace accelerator::solver::testing
