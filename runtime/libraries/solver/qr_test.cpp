// QR factorisations, and what is done with their reflectors.
#include <algorithm>
#include <utility>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

template <typename F>
class QrTest : public SolverTest<F> {
 protected:
  using Api = typename F::Api;

  void factor(bool is_wide, int m, int n, void* a, int lda, void* tau) {
    if (is_wide) {
      size_t device = 0, host = 0;
      ASSERT_EQ(
          cusolverDnXgeqrf_bufferSize(
              this->handle,
              this->params,
              m,
              n,
              F::kType,
              a,
              lda,
              F::kType,
              tau,
              F::kType,
              &device,
              &host),
          CUSOLVER_STATUS_SUCCESS);
      ASSERT_EQ(
          cusolverDnXgeqrf(
              this->handle,
              this->params,
              m,
              n,
              F::kType,
              a,
              lda,
              F::kType,
              tau,
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
          F::geqrf_size(this->handle, m, n, static_cast<Api*>(a), lda, &size),
          CUSOLVER_STATUS_SUCCESS);
      ASSERT_EQ(
          F::geqrf(
              this->handle,
              m,
              n,
              static_cast<Api*>(a),
              lda,
              static_cast<Api*>(tau),
              this->work.template get<Api>(),
              size,
              this->info.get()),
          CUSOLVER_STATUS_SUCCESS);
    }
    EXPECT_EQ(this->last_info(), 0);
  }
};
TYPED_TEST_SUITE(QrTest, AllTypes);

TYPED_TEST(QrTest, FactorsTimesEachOtherAreTheMatrix) {
  using F = TypeParam;
  using Api = typename F::Api;
  for (const auto& [rows, columns] :
       {std::pair{6, 6}, {9, 4}, {4, 7}, {1, 1}}) {
    const int count = std::min(rows, columns);
    const int lda = rows + 1;
    const Matrix a = this->random_matrix(rows, columns, 1);
    for (const bool is_wide : {false, true}) {
      const Array<typename F::T> array(this->packed(a, lda));
      const Array<typename F::T> tau{std::vector<typename F::T>(count)};
      this->factor(is_wide, rows, columns, array.get(), lda, tau.get());
      const Matrix r =
          this->upper(Matrix(array.values(), rows, columns, lda), count);
      int size = 0;
      ASSERT_EQ(
          F::orgqr_size(
              this->handle,
              rows,
              count,
              count,
              array.template get<Api>(),
              lda,
              tau.template get<Api>(),
              &size),
          CUSOLVER_STATUS_SUCCESS);
      ASSERT_EQ(
          F::orgqr(
              this->handle,
              rows,
              count,
              count,
              array.template get<Api>(),
              lda,
              tau.template get<Api>(),
              this->work.template get<Api>(),
              size,
              this->info.get()),
          CUSOLVER_STATUS_SUCCESS);
      EXPECT_EQ(this->last_info(), 0);
      const Matrix q(array.values(), rows, count, lda);
      this->expect_orthonormal(q);
      expect_near(q * r, a, F::kTolerance);
    }
  }
}

TYPED_TEST(QrTest, ReflectorsMultiplyFromBothSides) {
  using F = TypeParam;
  using Api = typename F::Api;
  constexpr int kN = 6, kOther = 4, kReflectors = 3, kLda = 7;
  const Array<typename F::T> array(
      this->packed(this->random_matrix(kN, kReflectors, 2), kLda));
  const Array<typename F::T> tau{std::vector<typename F::T>(kReflectors)};
  this->factor(false, kN, kReflectors, array.get(), kLda, tau.get());
  // The whole of Q, of as many reflectors.
  auto reflectors = array.values();
  reflectors.resize(static_cast<std::size_t>(kLda) * kN);
  const Array<typename F::T> whole(reflectors);
  ASSERT_EQ(
      F::orgqr(
          this->handle,
          kN,
          kN,
          kReflectors,
          whole.template get<Api>(),
          kLda,
          tau.template get<Api>(),
          this->work.template get<Api>(),
          1,
          this->info.get()),
      CUSOLVER_STATUS_SUCCESS);
  const Matrix q(whole.values(), kN, kN, kLda);
  this->expect_orthonormal(q);
  const auto transposed = F::kIsComplex ? CUBLAS_OP_C : CUBLAS_OP_T;
  for (const auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    const bool is_left = side == CUBLAS_SIDE_LEFT;
    const int rows = is_left ? kN : kOther;
    const int columns = is_left ? kOther : kN;
    for (const auto operation : {CUBLAS_OP_N, transposed}) {
      const Matrix c = this->random_matrix(rows, columns, 3);
      const Array<typename F::T> result(this->packed(c, kLda));
      int size = 0;
      ASSERT_EQ(
          F::ormqr_size(
              this->handle,
              side,
              operation,
              rows,
              columns,
              kReflectors,
              array.template get<Api>(),
              kLda,
              tau.template get<Api>(),
              result.template get<Api>(),
              kLda,
              &size),
          CUSOLVER_STATUS_SUCCESS);
      ASSERT_EQ(
          F::ormqr(
              this->handle,
              side,
              operation,
              rows,
              columns,
              kReflectors,
              array.template get<Api>(),
              kLda,
              tau.template get<Api>(),
              result.template get<Api>(),
              kLda,
              this->work.template get<Api>(),
              size,
              this->info.get()),
          CUSOLVER_STATUS_SUCCESS);
      EXPECT_EQ(this->last_info(), 0);
      const Matrix factor = apply(operation, q);
      expect_near(
          Matrix(result.values(), rows, columns, kLda),
          is_left ? factor * c : c * factor,
          F::kTolerance);
    }
  }
}

} // namespace
} // namespace accelerator::solver::testing
