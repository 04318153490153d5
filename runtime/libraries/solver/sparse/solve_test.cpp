// Sparse systems that are solved in one call, and eigenvalues near a number.
#include <cuda_runtime_api.h>
#include <cusolverSp.h>
#include <gtest/gtest.h>

#include <complex>
#include <tuple>
#include <vector>

#include "runtime/libraries/solver/testing/sparse_systems.h"

namespace accelerator::solver::testing {
namespace {

constexpr int kSide = 9;

template <typename F>
class SparseSolveTest : public SparseSolverTest<F> {
 protected:
  using T = typename F::T;

  /// Calls a function for systems of the host.
  template <typename Function>
  cusolverStatus_t call_host(
      Function function,
      const System<T>& system,
      int reordering,
      std::vector<T>* x,
      int* singularity,
      double tolerance = 1e-6) const {
    x->assign(system.columns, T(7));
    return function(
        this->handle,
        system.rows,
        system.nnz(),
        this->description,
        this->api(system.values),
        system.offsets.data(),
        system.indices.data(),
        this->api(system.b),
        static_cast<typename F::Real>(tolerance),
        reordering,
        this->api(*x),
        singularity);
  }
  /// The same for one of the device.
  template <typename Function>
  cusolverStatus_t call_device(
      Function function,
      const System<T>& system,
      int reordering,
      std::vector<T>* x,
      int* singularity) const {
    const DeviceSystem<T> there(system);
    const auto status = function(
        this->handle,
        system.rows,
        system.nnz(),
        this->description,
        this->api(there.values),
        there.offsets.get(),
        there.indices.get(),
        this->api(there.b),
        typename F::Real(1e-6F),
        reordering,
        this->api(there.x),
        singularity);
    *x = there.x.values();
    return status;
  }
  /// Two equations that are one.
  System<T> singular() const {
    return this->make_system(
        3,
        3,
        {{{0, 0}, 1}, {{1, 1}, 4}, {{1, 2}, 2}, {{2, 1}, 2}, {{2, 2}, 1}});
  }
};

TYPED_TEST_SUITE(SparseSolveTest, SparseTypes);

TYPED_TEST(SparseSolveTest, AnyMatrix) {
  using F = TypeParam;
  const auto system = this->grid(kSide, false, 1);
  for (const int reordering : {0, 1, 2, 3}) {
    SCOPED_TRACE(reordering);
    for (const auto function : {F::lsv_qr_host, F::lsv_lu_host}) {
      std::vector<typename F::T> x;
      int singularity = 7;
      ASSERT_EQ(
          this->call_host(function, system, reordering, &x, &singularity),
          kSolved);
      EXPECT_EQ(singularity, -1);
      this->expect_values(x, system.x);
    }
    std::vector<typename F::T> x;
    int singularity = 7;
    ASSERT_EQ(
        this->call_device(F::lsv_qr, system, reordering, &x, &singularity),
        kSolved);
    EXPECT_EQ(singularity, -1);
    this->expect_values(x, system.x);
  }
}

// Of the matrix only the lower triangle counts.
TYPED_TEST(SparseSolveTest, DefiniteMatrix) {
  using F = TypeParam;
  auto system = this->grid(kSide, true, 2);
  for (const int reordering : {0, 1, 2, 3}) {
    SCOPED_TRACE(reordering);
    std::vector<typename F::T> x;
    int singularity = 7;
    ASSERT_EQ(
        this->call_host(F::lsv_chol_host, system, reordering, &x, &singularity),
        kSolved);
    EXPECT_EQ(singularity, -1);
    this->expect_values(x, system.x);
    for (int row = 0; row < system.rows; ++row) {
      for (int k = system.offsets[row] - 1; k < system.offsets[row + 1] - 1;
           ++k) {
        if (system.indices[k] - 1 > row) {
          system.values[k] = 99;
        }
      }
    }
    ASSERT_EQ(
        this->call_device(F::lsv_chol, system, reordering, &x, &singularity),
        kSolved);
    EXPECT_EQ(singularity, -1);
    this->expect_values(x, system.x);
  }
}

TYPED_TEST(SparseSolveTest, SingularMatrix) {
  using F = TypeParam;
  const auto system = this->singular();
  std::vector<typename F::T> x;
  for (const auto function :
       {F::lsv_qr_host, F::lsv_lu_host, F::lsv_chol_host}) {
    int singularity = 7;
    ASSERT_EQ(this->call_host(function, system, 0, &x, &singularity), kSolved);
    EXPECT_EQ(singularity, 2);
  }
  // Without a factorization, the solution is left alone.
  EXPECT_EQ(x, std::vector<typename F::T>(3, 7));
  for (const auto function : {F::lsv_qr, F::lsv_chol}) {
    int singularity = 7;
    ASSERT_EQ(
        this->call_device(function, system, 0, &x, &singularity), kSolved);
    EXPECT_EQ(singularity, 2);
  }
  // A large tolerance makes any matrix singular.
  int singularity = 7;
  ASSERT_EQ(
      this->call_host(
          F::lsv_qr_host, this->grid(3, true, 3), 0, &x, &singularity, 1e6),
      kSolved);
  EXPECT_EQ(singularity, 0);
}

TYPED_TEST(SparseSolveTest, WhatIsWrong) {
  using F = TypeParam;
  auto system = this->grid(3, true, 4);
  std::vector<typename F::T> x;
  int singularity = 7;
  EXPECT_EQ(
      this->call_host(F::lsv_qr_host, system, 4, &x, &singularity), kWrong);
  EXPECT_EQ(this->call_host(F::lsv_qr_host, system, 0, &x, nullptr), kWrong);
  ASSERT_EQ(
      cusparseSetMatType(this->description, CUSPARSE_MATRIX_TYPE_SYMMETRIC),
      CUSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(
      this->call_host(F::lsv_qr_host, system, 0, &x, &singularity),
      CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  ASSERT_EQ(
      cusparseSetMatType(this->description, CUSPARSE_MATRIX_TYPE_GENERAL),
      CUSPARSE_STATUS_SUCCESS);
  system.indices[3] = system.columns + 1;
  EXPECT_EQ(
      this->call_host(F::lsv_qr_host, system, 0, &x, &singularity), kWrong);
  EXPECT_EQ(singularity, 7);
}

// Its eigenvalues are about -4.8, -1.3, 2.4 and 9.7.
TYPED_TEST(SparseSolveTest, EigenvalueNearANumber) {
  using F = TypeParam;
  using T = typename F::T;
  auto system = this->make_system(
      4,
      4,
      {{{0, 0}, 1},
       {{0, 1}, 2},
       {{1, 0}, 2},
       {{1, 2}, 3},
       {{2, 1}, 3},
       {{2, 2}, 5},
       {{2, 3}, 6},
       {{3, 2}, 6}});
  const auto expect_pair = [&](T mu, const std::vector<T>& x, double near) {
    double length = 0;
    for (int row = 0; row < 4; ++row) {
      Wide image;
      for (int k = system.offsets[row] - 1; k < system.offsets[row + 1] - 1;
           ++k) {
        image += Wide(system.values[k]) * Wide(x[system.indices[k] - 1]);
      }
      EXPECT_NEAR(std::abs(image - Wide(mu) * Wide(x[row])), 0, F::kTolerance);
      length += std::norm(Wide(x[row]));
    }
    EXPECT_NEAR(length, 1, F::kTolerance);
    EXPECT_NEAR(std::abs(Wide(mu) - near), 0, 1);
  };
  const std::vector<T> first{T(1), T(2), T(3), T(4)};
  for (const double near : {2.0, 9.5, -4.0}) {
    SCOPED_TRACE(near);
    std::vector<T> mu(1), x(4);
    ASSERT_EQ(
        F::eigenvalue_host(
            this->handle,
            4,
            system.nnz(),
            this->description,
            this->api(system.values),
            system.offsets.data(),
            system.indices.data(),
            this->api(Wide(near)),
            this->api(first),
            100,
            typename F::Real(F::kTolerance / 100),
            this->api(mu),
            this->api(x)),
        kSolved);
    expect_pair(mu[0], x, near);
    const DeviceSystem<T> there(system);
    const Array<T> start(first), its_mu(std::vector<T>(1));
    ASSERT_EQ(
        F::eigenvalue(
            this->handle,
            4,
            system.nnz(),
            this->description,
            this->api(there.values),
            there.offsets.get(),
            there.indices.get(),
            this->api(Wide(near)),
            this->api(start),
            100,
            typename F::Real(F::kTolerance / 100),
            this->api(its_mu),
            this->api(there.x)),
        kSolved);
    expect_pair(its_mu.values()[0], there.x.values(), near);
  }
}

} // namespace
} // namespace accelerator::solver::testing
