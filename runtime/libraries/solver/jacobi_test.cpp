// What Jacobi's method tells of its work afterwards.
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

constexpr auto kGood = CUSOLVER_STATUS_SUCCESS;
constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
constexpr int kN = 4;

class JacobiTest : public SolverTest<Double> {
 protected:
  void SetUp() override {
    SolverTest<Double>::SetUp();
    ASSERT_EQ(cusolverDnCreateSyevjInfo(&of_eigenvalues), kGood);
    ASSERT_EQ(cusolverDnCreateGesvdjInfo(&of_singular_values), kGood);
    for (cudaStream_t* const stream : {&busy, &other}) {
      ASSERT_EQ(
          cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking),
          cudaSuccess);
    }
  }
  void TearDown() override {
    EXPECT_EQ(cusolverDnSetStream(handle, nullptr), kGood);
    SolverTest<Double>::TearDown();
    EXPECT_EQ(cusolverDnDestroySyevjInfo(of_eigenvalues), kGood);
    EXPECT_EQ(cusolverDnDestroyGesvdjInfo(of_singular_values), kGood);
    EXPECT_EQ(cudaStreamDestroy(busy), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  }
  /// Puts work into a stream where it has to wait, and leaves the stream.
  void start() {
    is_free = false;
    ASSERT_EQ(cusolverDnSetStream(handle, busy), kGood);
    ASSERT_EQ(
        cudaLaunchHostFunc(
            busy,
            [](void* flag) {
              std::this_thread::sleep_for(std::chrono::milliseconds(50));
              *static_cast<std::atomic<bool>*>(flag) = true;
            },
            &is_free),
        cudaSuccess);
    ASSERT_EQ(
        cusolverDnDsyevj(
            handle,
            kVectors,
            CUBLAS_FILL_MODE_LOWER,
            kN,
            a.get(),
            kN,
            values.get(),
            work.get(),
            1,
            info.get(),
            of_eigenvalues),
        kGood);
    ASSERT_EQ(
        cusolverDnDgesvdj(
            handle,
            kVectors,
            0,
            kN,
            kN,
            a.get(),
            kN,
            values.get(),
            u.get(),
            kN,
            v.get(),
            kN,
            work.get(),
            1,
            info.get(),
            of_singular_values),
        kGood);
    ASSERT_EQ(cusolverDnSetStream(handle, other), kGood);
  }

  const Array<double> a{std::vector<double>(kN * kN, 1)};
  const Array<double> values{std::vector<double>(kN)};
  const Array<double> u{std::vector<double>(kN * kN)};
  const Array<double> v{std::vector<double>(kN * kN)};
  syevjInfo_t of_eigenvalues = nullptr;
  gesvdjInfo_t of_singular_values = nullptr;
  cudaStream_t busy = nullptr;
  cudaStream_t other = nullptr;
  /// Whether work in the busy stream no longer has to wait.
  std::atomic<bool> is_free{false};
};

// It waits for that work, whatever stream the handle has by then.
TEST_F(JacobiTest, TellsOfWorkInAnotherStream) {
  for (const bool is_eigen : {true, false}) {
    SCOPED_TRACE(is_eigen);
    start();
    double residual = -1;
    EXPECT_EQ(
        is_eigen
            ? cusolverDnXsyevjGetResidual(handle, of_eigenvalues, &residual)
            : cusolverDnXgesvdjGetResidual(
                  handle, of_singular_values, &residual),
        kGood);
    // Until the work is done it is NaN.
    EXPECT_GE(residual, 0);
    EXPECT_LT(residual, Double::kTolerance);
    EXPECT_TRUE(is_free);
    start();
    int sweeps = 0;
    EXPECT_EQ(
        is_eigen
            ? cusolverDnXsyevjGetSweeps(handle, of_eigenvalues, &sweeps)
            : cusolverDnXgesvdjGetSweeps(handle, of_singular_values, &sweeps),
        kGood);
    EXPECT_GT(sweeps, 0);
    EXPECT_TRUE(is_free);
  }
}

} // namespace
} // namespace accelerator::solver::testing
