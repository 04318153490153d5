// Factorizations step by step, of one matrix and of batches.
#include <cuda_runtime_api.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/libraries/solver/testing/sparse_systems.h"

namespace accelerator::solver::testing {
namespace {

constexpr int kSide = 6;

template <typename F>
class SparseStepsTest : public SparseSolverTest<F> {
 protected:
  using T = typename F::T;
  using Real = typename F::Real;

  void SetUp() override {
    SparseSolverTest<F>::SetUp();
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cusolverSpSetStream(this->handle, stream), kSolved);
    cudaStream_t its = nullptr;
    ASSERT_EQ(cusolverSpGetStream(this->handle, &its), kSolved);
    EXPECT_EQ(its, stream);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    SparseSolverTest<F>::TearDown();
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  /// More equations than unknowns, that agree.
  System<T> tall() const {
    return this->make_system(
        5,
        3,
        {{{0, 0}, 1},
         {{0, 2}, 2},
         {{1, 1}, 3},
         {{2, 0}, -1},
         {{2, 1}, 1},
         {{3, 2}, 1},
         {{4, 0}, 2},
         {{4, 2}, -1}});
  }

  cudaStream_t stream = nullptr;
};

TYPED_TEST_SUITE(SparseStepsTest, SparseTypes);

TYPED_TEST(SparseStepsTest, QrOfTheHost) {
  using F = TypeParam;
  for (const auto& system : {this->grid(kSide, false, 1), this->tall()}) {
    const int m = system.rows, n = system.columns, nnz = system.nnz();
    csrqrInfoHost_t info = nullptr;
    ASSERT_EQ(cusolverSpCreateCsrqrInfoHost(&info), kSolved);
    const auto call = [&](auto function, auto... rest) {
      return function(
          this->handle,
          m,
          n,
          nnz,
          this->description,
          this->api(system.values),
          system.offsets.data(),
          system.indices.data(),
          rest...);
    };
    std::vector<typename F::T> x(n), b(system.b);
    const auto factor = [&](auto* its_b, auto* its_x) {
      return F::qr_factor_host(this->handle, m, n, nnz, its_b, its_x, info, {});
    };
    const auto solve = [&] {
      return F::qr_solve_host(
          this->handle, m, n, this->api(b), this->api(x), info, {});
    };
    typename F::Api* const nothing = nullptr;
    // What comes later has to wait.
    EXPECT_EQ(factor(nothing, nothing), kWrong);
    ASSERT_EQ(
        cusolverSpXcsrqrAnalysisHost(
            this->handle,
            m,
            n,
            nnz,
            this->description,
            system.offsets.data(),
            system.indices.data(),
            info),
        kSolved);
    size_t internal = 7, bytes = 0;
    ASSERT_EQ(call(F::qr_size_host, info, &internal, &bytes), kSolved);
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(internal, 0);
    EXPECT_EQ(factor(nothing, nothing), kWrong);
    ASSERT_EQ(call(F::qr_setup_host, this->api(Wide(0)), info), kSolved);
    EXPECT_EQ(solve(), kWrong);
    ASSERT_EQ(factor(nothing, nothing), kSolved);
    int position = 7;
    ASSERT_EQ(
        F::qr_zero_host(this->handle, info, typename F::Real(1e-6F), &position),
        kSolved);
    EXPECT_EQ(position, -1);
    ASSERT_EQ(solve(), kSolved);
    this->expect_values(x, system.x);
    std::fill(x.begin(), x.end(), 0);
    ASSERT_EQ(factor(this->api(b), this->api(x)), kSolved);
    this->expect_values(x, system.x);
    EXPECT_EQ(cusolverSpDestroyCsrqrInfoHost(info), kSolved);
  }
}

// A - mu * I with the last entry of its diagonal missing, and singular.
TYPED_TEST(SparseStepsTest, QrWithAShift) {
  using F = TypeParam;
  const auto system = this->make_system(
      3, 3, {{{0, 0}, 5}, {{0, 2}, 1}, {{1, 1}, 2}, {{2, 0}, 1}});
  const DeviceSystem<typename F::T> there(system);
  csrqrInfo_t info = nullptr;
  ASSERT_EQ(cusolverSpCreateCsrqrInfo(&info), kSolved);
  ASSERT_EQ(
      cusolverSpXcsrqrAnalysis(
          this->handle,
          3,
          3,
          4,
          this->description,
          there.offsets.get(),
          there.indices.get(),
          info),
      kSolved);
  const auto call = [&](auto function, auto... rest) {
    return function(
        this->handle,
        3,
        3,
        4,
        this->description,
        this->api(there.values),
        there.offsets.get(),
        there.indices.get(),
        rest...);
  };
  size_t internal = 7, bytes = 0;
  ASSERT_EQ(call(F::qr_size, info, &internal, &bytes), kSolved);
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(internal, 0);
  for (const double mu : {1.0, 2.0}) {
    ASSERT_EQ(call(F::qr_setup, this->api(Wide(mu)), info), kSolved);
    ASSERT_EQ(
        F::qr_factor(this->handle, 3, 3, 4, nullptr, nullptr, info, {}),
        kSolved);
    int position = 7;
    ASSERT_EQ(
        F::qr_zero(this->handle, info, typename F::Real(1e-6F), &position),
        kSolved);
    EXPECT_EQ(position, mu == 1 ? -1 : 1);
    if (mu == 1) {
      // (4 0 1; 0 1 0; 1 0 -1) * (1, 2, 3).
      using T = typename F::T;
      const Array<T> b(std::vector<T>{T(7), T(2), T(-2)});
      ASSERT_EQ(
          F::qr_solve(
              this->handle,
              3,
              3,
              this->api(b),
              this->api(there.x),
              info,
              this->work.get()),
          kSolved);
      this->expect_values(there.x.values(), {T(1), T(2), T(3)});
    }
  }
  EXPECT_EQ(cusolverSpDestroyCsrqrInfo(info), kSolved);
}

// The shift is an argument by itself, imaginary part and all.
TYPED_TEST(SparseStepsTest, QrWithAComplexShift) {
  using F = TypeParam;
  using T = typename F::T;
  const auto system = this->make_system(1, 1, {{{0, 0}, 3}});
  const int* const offsets = system.offsets.data();
  const int* const indices = system.indices.data();
  const Wide mu(1, 2);
  std::vector<T> b{T(4)}, x(1);
  csrqrInfoHost_t info = nullptr;
  ASSERT_EQ(cusolverSpCreateCsrqrInfoHost(&info), kSolved);
  ASSERT_EQ(
      cusolverSpXcsrqrAnalysisHost(
          this->handle, 1, 1, 1, this->description, offsets, indices, info),
      kSolved);
  ASSERT_EQ(
      F::qr_setup_host(
          this->handle,
          1,
          1,
          1,
          this->description,
          this->api(system.values),
          offsets,
          indices,
          this->api(mu),
          info),
      kSolved);
  ASSERT_EQ(
      F::qr_factor_host(
          this->handle, 1, 1, 1, this->api(b), this->api(x), info, {}),
      kSolved);
  this->expect_values(x, {T(4) / (T(3) - this->narrow(mu))});
  EXPECT_EQ(cusolverSpDestroyCsrqrInfoHost(info), kSolved);
}

TYPED_TEST(SparseStepsTest, QrOfABatch) {
  using F = TypeParam;
  using T = typename F::T;
  constexpr int kBatches = 3;
  for (const bool is_tall : {false, true}) {
    std::vector<T> values, b, x;
    System<T> system;
    for (int i = 0; i < kBatches; ++i) {
      system = is_tall ? this->tall() : this->grid(kSide, false, 5 + i);
      // Each solution is another.
      for (T& value : system.values) {
        value *= T(1 + i);
      }
      for (T& value : system.x) {
        value /= T(1 + i);
      }
      values.insert(values.end(), system.values.begin(), system.values.end());
      b.insert(b.end(), system.b.begin(), system.b.end());
      x.insert(x.end(), system.x.begin(), system.x.end());
    }
    const int m = system.rows, n = system.columns, nnz = system.nnz();
    const DeviceSystem<T> there(system);
    const Array<T> all_values(values), all_b(b),
        all_x(std::vector<T>(x.size()));
    csrqrInfo_t info = nullptr;
    ASSERT_EQ(cusolverSpCreateCsrqrInfo(&info), kSolved);
    const auto call = [&](auto function, auto... rest) {
      return function(
          this->handle,
          m,
          n,
          nnz,
          this->description,
          this->api(all_values),
          there.offsets.get(),
          there.indices.get(),
          rest...);
    };
    const auto solve = [&] {
      return call(
          F::batch,
          this->api(all_b),
          this->api(all_x),
          kBatches,
          info,
          this->work.get());
    };
    EXPECT_EQ(solve(), kWrong);
    ASSERT_EQ(
        cusolverSpXcsrqrAnalysisBatched(
            this->handle,
            m,
            n,
            nnz,
            this->description,
            there.offsets.get(),
            there.indices.get(),
            info),
        kSolved);
    size_t internal = 7, bytes = 0;
    ASSERT_EQ(call(F::batch_size, kBatches, info, &internal, &bytes), kSolved);
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(internal, 0);
    ASSERT_EQ(solve(), kSolved);
    this->expect_values(all_x.values(), x);
    EXPECT_EQ(cusolverSpDestroyCsrqrInfo(info), kSolved);
  }
}

TYPED_TEST(SparseStepsTest, CholeskyOfTheHost) {
  using F = TypeParam;
  const auto system = this->grid(kSide, true, 2);
  const int n = system.rows, nnz = system.nnz();
  csrcholInfoHost_t info = nullptr;
  ASSERT_EQ(cusolverSpCreateCsrcholInfoHost(&info), kSolved);
  const auto call = [&](auto function, auto... rest) {
    return function(
        this->handle,
        n,
        nnz,
        this->description,
        this->api(system.values),
        system.offsets.data(),
        system.indices.data(),
        info,
        rest...);
  };
  EXPECT_EQ(call(F::chol_factor_host, nullptr), kWrong);
  ASSERT_EQ(
      cusolverSpXcsrcholAnalysisHost(
          this->handle,
          n,
          nnz,
          this->description,
          system.offsets.data(),
          system.indices.data(),
          info),
      kSolved);
  size_t internal = 7, bytes = 0;
  ASSERT_EQ(call(F::chol_size_host, &internal, &bytes), kSolved);
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(internal, 0);
  ASSERT_EQ(call(F::chol_factor_host, nullptr), kSolved);
  int position = 7;
  ASSERT_EQ(
      F::chol_zero_host(this->handle, info, typename F::Real(1e-6F), &position),
      kSolved);
  EXPECT_EQ(position, -1);
  std::vector<typename F::T> x(n);
  ASSERT_EQ(
      F::chol_solve_host(
          this->handle, n, this->api(system.b), this->api(x), info, {}),
      kSolved);
  this->expect_values(x, system.x);
  EXPECT_EQ(cusolverSpDestroyCsrcholInfoHost(info), kSolved);
}

TYPED_TEST(SparseStepsTest, CholeskyOfTheDevice) {
  using F = TypeParam;
  using T = typename F::T;
  // L is (2; 1 3; . 1 4), or ends with the square root of -1.
  for (const double corner : {17.0, 0.0}) {
    SCOPED_TRACE(corner);
    const auto system = this->make_system(
        3,
        3,
        {{{0, 0}, 4},
         {{0, 1}, 2},
         {{1, 0}, 2},
         {{1, 1}, 10},
         {{1, 2}, 3},
         {{2, 1}, 3},
         {{2, 2}, corner}});
    const DeviceSystem<T> there(system);
    csrcholInfo_t info = nullptr;
    ASSERT_EQ(cusolverSpCreateCsrcholInfo(&info), kSolved);
    const auto call = [&](auto function, auto... rest) {
      return function(
          this->handle,
          3,
          7,
          this->description,
          this->api(there.values),
          there.offsets.get(),
          there.indices.get(),
          info,
          rest...);
    };
    ASSERT_EQ(
        cusolverSpXcsrcholAnalysis(
            this->handle,
            3,
            7,
            this->description,
            there.offsets.get(),
            there.indices.get(),
            info),
        kSolved);
    size_t internal = 7, bytes = 0;
    ASSERT_EQ(call(F::chol_size, &internal, &bytes), kSolved);
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(internal, 0);
    ASSERT_EQ(call(F::chol_factor, this->work.get()), kSolved);
    int position = 7;
    ASSERT_EQ(
        F::chol_zero(this->handle, info, typename F::Real(1e-6F), &position),
        kSolved);
    EXPECT_EQ(position, corner == 17 ? -1 : 2);
    ASSERT_EQ(
        F::chol_solve(
            this->handle,
            3,
            this->api(there.b),
            this->api(there.x),
            info,
            this->work.get()),
        kSolved);
    const Array<typename F::Real> diagonal(std::vector<typename F::Real>(3));
    ASSERT_EQ(F::chol_diagonal(this->handle, info, diagonal.get()), kSolved);
    if (corner == 17) {
      this->expect_values(there.x.values(), system.x);
      EXPECT_EQ(diagonal.values(), (std::vector<typename F::Real>{2, 3, 4}));
    } else {
      EXPECT_TRUE(std::isnan(std::real(there.x.values()[0])));
      EXPECT_TRUE(std::isnan(diagonal.values()[0]));
    }
    EXPECT_EQ(cusolverSpDestroyCsrcholInfo(info), kSolved);
  }
}

} // namespace
} // namespace accelerator::solver::testing
