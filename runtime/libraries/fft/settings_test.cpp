// What runs of plans refuse, the settings of plans, and the version.
#include <cufft.h>
#include <cufftXt.h>
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"
#include "runtime/libraries/fft/testing/handle.h"

namespace accelerator::fft::testing {
namespace {

using blas::testing::Array;
using C = std::complex<float>;

TEST(Runs, WithWrongArgumentsAreRefused) {
  const Array<C> room{std::vector<C>(8)};
  auto* complex = room.get<cufftComplex>();
  auto* wide = room.get<cufftDoubleComplex>();
  const Handle c2c, r2c;
  size_t size = 0;
  ASSERT_EQ(cufftMakePlan1d(c2c, 8, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
  ASSERT_EQ(cufftMakePlan1d(r2c, 8, CUFFT_R2C, 1, &size), CUFFT_SUCCESS);
  EXPECT_EQ(
      cufftExecC2C(c2c, nullptr, complex, CUFFT_FORWARD), CUFFT_INVALID_VALUE);
  EXPECT_EQ(
      cufftExecC2C(c2c, complex, nullptr, CUFFT_FORWARD), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftExecC2C(c2c, complex, complex, 0), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftXtExec(c2c, complex, complex, 2), CUFFT_INVALID_VALUE);
  // Plans of another kind or precision.
  EXPECT_EQ(cufftExecC2R(c2c, complex, room.get<float>()), CUFFT_INVALID_VALUE);
  EXPECT_EQ(
      cufftExecC2C(r2c, complex, complex, CUFFT_FORWARD), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftExecZ2Z(c2c, wide, wide, CUFFT_FORWARD), CUFFT_INVALID_VALUE);
  // A transform of real numbers has but one direction.
  EXPECT_EQ(cufftXtExec(r2c, complex, complex, 0), CUFFT_SUCCESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(Runs, OutsideOfMemoryFail) {
  const Array<C> room{std::vector<C>(8)};
  const Array<C> shorter{std::vector<C>(7)};
  const Handle plan;
  size_t size = 0;
  ASSERT_EQ(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
  auto* good = room.get<cufftComplex>();
  std::vector<cufftComplex> host(8);
  for (auto* bad : {shorter.get<cufftComplex>(), host.data()}) {
    EXPECT_EQ(cufftExecC2C(plan, bad, good, CUFFT_FORWARD), CUFFT_EXEC_FAILED);
    EXPECT_EQ(cufftExecC2C(plan, good, bad, CUFFT_FORWARD), CUFFT_EXEC_FAILED);
  }
  EXPECT_EQ(cufftExecC2C(plan, good, good, CUFFT_FORWARD), CUFFT_SUCCESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(Settings, AreKeptOrRefused) {
  const Handle plan;
  size_t size = 1;
  long long value = -1;
  constexpr auto kJit = NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT;
  EXPECT_EQ(cufftGetPlanPropertyInt64(plan, kJit, &value), CUFFT_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cufftSetPlanPropertyInt64(plan, kJit, 1), CUFFT_SUCCESS);
  EXPECT_EQ(cufftGetPlanPropertyInt64(plan, kJit, &value), CUFFT_SUCCESS);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cufftResetPlanProperty(plan, kJit), CUFFT_SUCCESS);
  EXPECT_EQ(cufftGetPlanPropertyInt64(plan, kJit, &value), CUFFT_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cufftSetPlanPropertyInt64(plan, kJit, 2), CUFFT_INVALID_VALUE);
  EXPECT_EQ(
      cufftSetPlanPropertyInt64(plan, static_cast<cufftProperty>(9), 1),
      CUFFT_NOT_SUPPORTED);
  EXPECT_EQ(cufftSetAutoAllocation(plan, 0), CUFFT_SUCCESS);
  EXPECT_EQ(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
  size = 1;
  EXPECT_EQ(cufftGetSize(plan, &size), CUFFT_SUCCESS);
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(cufftSetWorkArea(plan, nullptr), CUFFT_SUCCESS);
  EXPECT_EQ(
      cufftXtSetWorkAreaPolicy(plan, CUFFT_WORKAREA_MINIMAL, nullptr),
      CUFFT_SUCCESS);
  EXPECT_EQ(
      cufftXtSetWorkAreaPolicy(plan, CUFFT_WORKAREA_USER, nullptr),
      CUFFT_INVALID_VALUE);
  EXPECT_EQ(
      cufftXtSetWorkAreaPolicy(
          plan, static_cast<cufftXtWorkAreaPolicy>(7), &size),
      CUFFT_INVALID_VALUE);
  EXPECT_EQ(
      cufftXtSetCallback(plan, nullptr, CUFFT_CB_LD_REAL, nullptr),
      CUFFT_NOT_IMPLEMENTED);
  EXPECT_EQ(
      cufftXtClearCallback(plan, CUFFT_CB_LD_REAL), CUFFT_NOT_IMPLEMENTED);
  EXPECT_EQ(
      cufftXtSetCallbackSharedSize(plan, CUFFT_CB_LD_REAL, 8),
      CUFFT_NOT_IMPLEMENTED);
}

TEST(Version, IsThatOfTheHeader) {
  int version = 0, major = 0, minor = 0, patch = 0;
  EXPECT_EQ(cufftGetVersion(&version), CUFFT_SUCCESS);
  EXPECT_EQ(version, CUFFT_VERSION);
  EXPECT_EQ(cufftGetProperty(MAJOR_VERSION, &major), CUFFT_SUCCESS);
  EXPECT_EQ(cufftGetProperty(MINOR_VERSION, &minor), CUFFT_SUCCESS);
  EXPECT_EQ(cufftGetProperty(PATCH_LEVEL, &patch), CUFFT_SUCCESS);
  EXPECT_EQ(major * 1000 + minor * 100 + patch, CUFFT_VERSION);
  EXPECT_EQ(
      cufftGetProperty(static_cast<libraryPropertyType>(9), &major),
      CUFFT_INVALID_VALUE);
}

} // namespace
} // namespace accelerator::fft::testing
