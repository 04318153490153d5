// What only the work can see is a fault of the device: pointers of batches, and
// pivots.
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

constexpr int kN = 3;
constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;

class FaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cusolverDnCreate(&handle), CUSOLVER_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cusolverDnDestroy(handle), CUSOLVER_STATUS_SUCCESS);
  }
  /// The call was right; its work was not.
  static void expect_fault(cusolverStatus_t status) {
    EXPECT_EQ(status, CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  }

  cusolverDnHandle_t handle = nullptr;
};

TEST_F(FaultTest, PivotsOutsideOfTheMatrix) {
  for (const int pivot : {0, kN + 1, -1}) {
    const Array<double> a{std::vector<double>(kN * kN, 1)};
    const Array<int> pivots{std::vector<int>{1, pivot, 3}};
    const Array<int> info{std::vector<int>(1)};
    expect_fault(cusolverDnDgetrs(
        handle,
        CUBLAS_OP_N,
        kN,
        1,
        a.get(),
        kN,
        pivots.get(),
        a.get(),
        kN,
        info.get()));
  }
  // Negative ones come in pairs; 2^32 + 1 is not 1.
  for (const std::vector<std::int64_t>& rows :
       std::vector<std::vector<std::int64_t>>{
           {1, 0, 3},
           {1, kN + 1, 3},
           {1, -kN - 1, 3},
           {1, 2, -3},
           {-1, 2, 3},
           {-1, -1, -3},
           {1, -kN - 1, -2},
           {1, 2, (std::int64_t{1} << 32) + 1},
           {1, 2, std::numeric_limits<std::int64_t>::min()}}) {
    const Array<double> a{std::vector<double>(kN * kN, 1)};
    const Array<std::int64_t> pivots{rows};
    const Array<int> info{std::vector<int>(1)};
    expect_fault(cusolverDnXsytrs(
        handle,
        kLower,
        kN,
        1,
        CUDA_R_64F,
        a.get(),
        kN,
        pivots.get(),
        CUDA_R_64F,
        a.get(),
        kN,
        a.get(),
        sizeof(double),
        nullptr,
        0,
        info.get()));
  }
  for (const int pivot : {0, kN + 1, 1 << 20, -1}) {
    const Array<double> a{std::vector<double>(kN * kN, 1)};
    const Array<int> pivots{std::vector<int>{pivot}};
    expect_fault(
        cusolverDnDlaswp(handle, kN, a.get(), kN, 1, 1, pivots.get(), 1));
  }
}

TEST_F(FaultTest, PointersOfABatch) {
  std::vector<double> host(kN * kN, 1);
  for (double* const pointer : {host.data(), static_cast<double*>(nullptr)}) {
    const Array<double*> pointers{std::vector<double*>{pointer}};
    const Array<int> info{std::vector<int>(1)};
    expect_fault(cusolverDnDpotrfBatched(
        handle, kLower, kN, pointers.get(), kN, info.get(), 1));
  }
  for (double* const pointer : {host.data(), static_cast<double*>(nullptr)}) {
    const Array<double*> pointers{std::vector<double*>{pointer}};
    const Array<int> info{std::vector<int>(1)};
    expect_fault(cusolverDnDpotrsBatched(
        handle,
        kLower,
        kN,
        1,
        pointers.get(),
        kN,
        pointers.get(),
        kN,
        info.get(),
        1));
  }
}

} // namespace
} // namespace accelerator::solver::testing
