// Pairs of matrices, and the equations of their eigenvalues.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {

constexpr int kN = 7, kLda = 8, kLdb = 9;

constexpr cublasFillMode_t kTriangles[] = {
    CUBLAS_FILL_MODE_LOWER,
    CUBLAS_FILL_MODE_UPPER};

constexpr cusolverEigMode_t kModes[] = {
    CUSOLVER_EIG_MODE_VECTOR,
    CUSOLVER_EIG_MODE_NOVECTOR};

constexpr cusolverEigType_t kTypes[] = {
    CUSOLVER_EIG_TYPE_1,
    CUSOLVER_EIG_TYPE_2,
    CUSOLVER_EIG_TYPE_3};

template <typename F>
class PencilTest : public SolverTest<F> {
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
  /// That A x = l B x, A B x = l x, or B A x = l x.
  static void expect_eigen(
      cusolverEigType_t type,
      const Matrix& a,
      const Matrix& b,
      const Matrix& vectors,
      const std::vector<Real>& values) {
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    const int count = static_cast<int>(values.size());
    const Matrix times_values =
        vectors * SolverTest<F>::diagonal(values, count, count);
    const double tolerance = 100 * F::kTolerance;
    if (type == CUSOLVER_EIG_TYPE_1) {
      expect_near(a * vectors, b * times_values, tolerance);
    } else if (type == CUSOLVER_EIG_TYPE_2) {
      expect_near(a * (b * vectors), times_values, tolerance);
    } else {
      expect_near(b * (a * vectors), times_values, tolerance);
    }
    // Their scale is that of B, or its inverse, as LAPACK has it.
    if (type != CUSOLVER_EIG_TYPE_3) {
      expect_near(
          apply(CUBLAS_OP_C, vectors) * (b * vectors),
          SolverTest<F>::identity(count),
          tolerance);
    }
  }
  syevjInfo_t jacobi = nullptr;
};

} // namespace accelerator::solver::testing
