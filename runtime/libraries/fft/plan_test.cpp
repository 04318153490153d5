// What plans and their functions refuse.
#include <cufft.h>
#include <cufftXt.h>
#include <gtest/gtest.h>

#include <climits>
#include <complex>
#include <functional>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"
#include "runtime/libraries/fft/testing/handle.h"

namespace accelerator::fft::testing {
namespace {

using blas::testing::Array;
using C = std::complex<float>;

/// All functions that are given sizes, a type and a batch, where they have one.
std::vector<std::function<cufftResult(long long, cufftType, long long)>>
functions_of_sizes(cufftHandle handle) {
  static size_t size;
  static cufftHandle made;
  const auto narrow = [](long long value) { return static_cast<int>(value); };
  // Each leaves no plan behind.
  const auto planned = [](cufftResult result) {
    return result == CUFFT_SUCCESS ? cufftDestroy(made) : result;
  };
  return {
      [=](long long n, cufftType type, long long batch) {
        return planned(cufftPlan1d(&made, narrow(n), type, narrow(batch)));
      },
      [=](long long n, cufftType type, long long batch) {
        int sizes[] = {4, narrow(n)};
        return planned(cufftPlanMany(
            &made,
            2,
            sizes,
            nullptr,
            1,
            0,
            nullptr,
            1,
            0,
            type,
            narrow(batch)));
      },
      [=](long long n, cufftType type, long long batch) {
        return cufftEstimate1d(narrow(n), type, narrow(batch), &size);
      },
      [=](long long n, cufftType type, long long batch) {
        int sizes[] = {narrow(n), 4};
        return cufftEstimateMany(
            2, sizes, nullptr, 1, 0, nullptr, 1, 0, type, narrow(batch), &size);
      },
      [=](long long n, cufftType type, long long batch) {
        return cufftGetSize1d(handle, narrow(n), type, narrow(batch), &size);
      },
      [=](long long n, cufftType type, long long batch) {
        int sizes[] = {narrow(n)};
        return cufftGetSizeMany(
            handle,
            1,
            sizes,
            nullptr,
            1,
            0,
            nullptr,
            1,
            0,
            type,
            narrow(batch),
            &size);
      },
      [=](long long n, cufftType type, long long batch) {
        return cufftGetSizeMany64(
            handle, 1, &n, nullptr, 1, 0, nullptr, 1, 0, type, batch, &size);
      },
      [=](long long n, cufftType type, long long batch) {
        const Handle own;
        return cufftMakePlan1d(own, narrow(n), type, narrow(batch), &size);
      },
      [=](long long n, cufftType type, long long batch) {
        const Handle own;
        int sizes[] = {2, narrow(n), 3};
        return cufftMakePlanMany(
            own,
            3,
            sizes,
            nullptr,
            1,
            0,
            nullptr,
            1,
            0,
            type,
            narrow(batch),
            &size);
      },
      [=](long long n, cufftType type, long long batch) {
        const Handle own;
        return cufftMakePlanMany64(
            own, 1, &n, nullptr, 1, 0, nullptr, 1, 0, type, batch, &size);
      },
      // Of two and three dimensions, which have no batch.
      [=](long long n, cufftType type, long long batch) {
        const auto size_ = narrow(batch == 1 ? n : batch);
        return planned(cufftPlan2d(&made, 4, size_, type));
      },
      [=](long long n, cufftType type, long long batch) {
        const auto size_ = narrow(batch == 1 ? n : batch);
        return planned(cufftPlan3d(&made, 4, size_, 4, type));
      },
      [=](long long n, cufftType type, long long batch) {
        const Handle own;
        const auto size_ = narrow(batch == 1 ? n : batch);
        return cufftMakePlan2d(own, size_, 4, type, &size);
      },
      [=](long long n, cufftType type, long long batch) {
        const Handle own;
        const auto size_ = narrow(batch == 1 ? n : batch);
        return cufftMakePlan3d(own, 4, 4, size_, type, &size);
      },
      [=](long long n, cufftType type, long long batch) {
        const auto size_ = narrow(batch == 1 ? n : batch);
        return cufftEstimate2d(4, size_, type, &size);
      },
      [=](long long n, cufftType type, long long batch) {
        const auto size_ = narrow(batch == 1 ? n : batch);
        return cufftEstimate3d(size_, 4, 4, type, &size);
      },
      [=](long long n, cufftType type, long long batch) {
        const auto size_ = narrow(batch == 1 ? n : batch);
        return cufftGetSize2d(handle, size_, 4, type, &size);
      },
      [=](long long n, cufftType type, long long batch) {
        const auto size_ = narrow(batch == 1 ? n : batch);
        return cufftGetSize3d(handle, 4, size_, 4, type, &size);
      },
  };
}

TEST(Sizes, ThatThereAreNotAreRefused) {
  const Handle handle;
  int number = 0;
  for (const auto& function : functions_of_sizes(handle)) {
    SCOPED_TRACE("function " + std::to_string(number++));
    for (const cufftType type :
         {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D}) {
      EXPECT_EQ(function(8, type, 1), CUFFT_SUCCESS);
    }
    EXPECT_EQ(function(0, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
    EXPECT_EQ(function(-3, CUFFT_R2C, 1), CUFFT_INVALID_SIZE);
    EXPECT_EQ(function(8, CUFFT_C2C, 0), CUFFT_INVALID_SIZE);
    EXPECT_EQ(function(8, CUFFT_C2C, -2), CUFFT_INVALID_SIZE);
    EXPECT_EQ(function(8, static_cast<cufftType>(1), 1), CUFFT_INVALID_VALUE);
  }
}

TEST(Sizes, ThatNoMemoryHasAreRefused) {
  size_t size = 0;
  long long n[] = {LLONG_MAX, LLONG_MAX, 2};
  long long small[] = {2, 2, 2};
  long long strange[] = {2, LLONG_MAX, LLONG_MAX};
  for (const int rank : {1, 2, 3}) {
    const Handle handle;
    EXPECT_EQ(
        cufftMakePlanMany64(
            handle, rank, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_Z2Z, 1, &size),
        CUFFT_INVALID_SIZE);
    EXPECT_EQ(
        cufftMakePlanMany64(
            handle,
            rank,
            small,
            nullptr,
            1,
            0,
            nullptr,
            1,
            0,
            CUFFT_Z2Z,
            LLONG_MAX,
            &size),
        CUFFT_INVALID_SIZE);
    EXPECT_EQ(
        cufftMakePlanMany64(
            handle,
            rank,
            small,
            rank == 1 ? small : strange,
            LLONG_MAX,
            1,
            small,
            1,
            8,
            CUFFT_Z2Z,
            1,
            &size),
        CUFFT_INVALID_SIZE);
    EXPECT_EQ(
        cufftMakePlanMany64(
            handle,
            rank,
            small,
            small,
            1,
            8,
            small,
            1,
            LLONG_MAX,
            CUFFT_Z2Z,
            2,
            &size),
        CUFFT_INVALID_SIZE);
  }
}

TEST(Arguments, RankAndPointersAreChecked) {
  int n[] = {2, 2, 2, 2};
  long long n64[] = {2, 2, 2, 2};
  size_t size = 0;
  cufftHandle handle = 0;
  const Handle own;
  for (const int rank : {-1, 0, 4, INT_MAX}) {
    EXPECT_EQ(
        cufftPlanMany(&handle, rank, n, n, 1, 2, n, 1, 2, CUFFT_C2C, 1),
        CUFFT_INVALID_VALUE);
    EXPECT_EQ(
        cufftMakePlanMany64(
            own, rank, n64, n64, 1, 2, n64, 1, 2, CUFFT_C2C, 1, &size),
        CUFFT_INVALID_VALUE);
  }
  EXPECT_EQ(
      cufftPlanMany(&handle, 1, nullptr, n, 1, 2, n, 1, 2, CUFFT_C2C, 1),
      CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftCreate(nullptr), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE);
  EXPECT_EQ(
      cufftMakePlan1d(own, 8, CUFFT_C2C, 1, nullptr), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftEstimate1d(8, CUFFT_C2C, 1, nullptr), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftGetSize(own, nullptr), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftGetVersion(nullptr), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftGetProperty(MAJOR_VERSION, nullptr), CUFFT_INVALID_VALUE);
  // What was refused has made nothing of the handle.
  EXPECT_EQ(cufftMakePlan1d(own, 8, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
}

TEST(Arguments, LayoutsAreChecked) {
  int n[] = {4, 4}, bad[] = {4, 0}, free_first[] = {0, 4};
  cufftHandle handle = 0;
  const auto plan = [&](int* in, int istride, int* out, int odist) {
    return cufftPlanMany(
        &handle, 2, n, in, istride, 16, out, 1, odist, CUFFT_C2C, 2);
  };
  EXPECT_EQ(plan(bad, 1, n, 16), CUFFT_INVALID_VALUE);
  EXPECT_EQ(plan(n, 1, bad, 16), CUFFT_INVALID_VALUE);
  EXPECT_EQ(plan(n, 0, n, 16), CUFFT_INVALID_VALUE);
  EXPECT_EQ(plan(n, -1, n, 16), CUFFT_INVALID_VALUE);
  EXPECT_EQ(plan(n, 1, n, -16), CUFFT_INVALID_VALUE);
  // The size of the first dimension is not used; nor is anything, where one
  // embedding is missing.
  EXPECT_EQ(plan(free_first, 1, free_first, 16), CUFFT_SUCCESS);
  EXPECT_EQ(cufftDestroy(handle), CUFFT_SUCCESS);
  EXPECT_EQ(plan(nullptr, 0, bad, -1), CUFFT_SUCCESS);
  EXPECT_EQ(cufftDestroy(handle), CUFFT_SUCCESS);
}

TEST(Arguments, TypesHaveToGoTogether) {
  long long n[] = {8}, odd[] = {12};
  size_t size = 0;
  const Handle own;
  const auto make = [&](long long* sizes,
                        long long* embed,
                        long long stride,
                        cudaDataType in,
                        cudaDataType out,
                        cudaDataType execution) {
    const Handle handle;
    const cufftResult result = cufftXtMakePlanMany(
        handle,
        1,
        sizes,
        embed,
        stride,
        32,
        in,
        embed,
        stride,
        32,
        out,
        1,
        &size,
        execution);
    EXPECT_EQ(
        cufftXtGetSizeMany(
            own,
            1,
            sizes,
            embed,
            stride,
            32,
            in,
            embed,
            stride,
            32,
            out,
            1,
            &size,
            execution),
        result);
    return result;
  };
  const auto dense = [&](cudaDataType in, cudaDataType out, cudaDataType how) {
    return make(n, nullptr, 1, in, out, how);
  };
  EXPECT_EQ(dense(CUDA_C_64F, CUDA_C_64F, CUDA_C_64F), CUFFT_SUCCESS);
  EXPECT_EQ(dense(CUDA_R_16F, CUDA_C_16F, CUDA_C_16F), CUFFT_SUCCESS);
  EXPECT_EQ(dense(CUDA_R_32F, CUDA_R_32F, CUDA_C_32F), CUFFT_INVALID_VALUE);
  EXPECT_EQ(dense(CUDA_C_32F, CUDA_C_64F, CUDA_C_64F), CUFFT_INVALID_VALUE);
  EXPECT_EQ(dense(CUDA_C_32F, CUDA_C_32F, CUDA_R_32F), CUFFT_INVALID_VALUE);
  EXPECT_EQ(dense(CUDA_C_8I, CUDA_C_8I, CUDA_C_8I), CUFFT_INVALID_VALUE);
  // Halves: powers of two, and no gaps between real numbers.
  for (const auto& [real, complex] :
       {std::pair(CUDA_R_16F, CUDA_C_16F),
        std::pair(CUDA_R_16BF, CUDA_C_16BF)}) {
    EXPECT_EQ(
        make(odd, nullptr, 1, complex, complex, complex), CUFFT_INVALID_SIZE);
    EXPECT_EQ(make(n, n, 2, complex, complex, complex), CUFFT_SUCCESS);
    EXPECT_EQ(make(n, n, 2, real, complex, complex), CUFFT_NOT_SUPPORTED);
    EXPECT_EQ(make(n, n, 2, complex, real, complex), CUFFT_NOT_SUPPORTED);
  }
}

TEST(Handles, ThatThereAreNotAreRefused) {
  long long n[] = {8}, value = 0;
  int n32[] = {8};
  size_t size = 0;
  const Array<C> room{std::vector<C>(16)};
  auto* complex = room.get<cufftComplex>();
  auto* real = room.get<float>();
  auto* wide = room.get<cufftDoubleComplex>();
  auto* wide_real = room.get<double>();
  const Handle unmade;
  // Those that need a plan that has been made.
  for (const cufftHandle handle : {cufftHandle(kNoPlan), cufftHandle(unmade)}) {
    EXPECT_EQ(
        cufftExecC2C(handle, complex, complex, CUFFT_FORWARD),
        CUFFT_INVALID_PLAN);
    EXPECT_EQ(cufftExecR2C(handle, real, complex), CUFFT_INVALID_PLAN);
    EXPECT_EQ(cufftExecC2R(handle, complex, real), CUFFT_INVALID_PLAN);
    EXPECT_EQ(
        cufftExecZ2Z(handle, wide, wide, CUFFT_FORWARD), CUFFT_INVALID_PLAN);
    EXPECT_EQ(cufftExecD2Z(handle, wide_real, wide), CUFFT_INVALID_PLAN);
    EXPECT_EQ(cufftExecZ2D(handle, wide, wide_real), CUFFT_INVALID_PLAN);
    EXPECT_EQ(
        cufftXtExec(handle, complex, complex, CUFFT_FORWARD),
        CUFFT_INVALID_PLAN);
  }
  EXPECT_EQ(cufftDestroy(kNoPlan), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftSetStream(kNoPlan, nullptr), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftSetAutoAllocation(kNoPlan, 0), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftSetWorkArea(kNoPlan, complex), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftGetSize(kNoPlan, &size), CUFFT_INVALID_PLAN);
  EXPECT_EQ(
      cufftGetSize1d(kNoPlan, 8, CUFFT_C2C, 1, &size), CUFFT_INVALID_PLAN);
  EXPECT_EQ(
      cufftMakePlan1d(kNoPlan, 8, CUFFT_C2C, 1, &size), CUFFT_INVALID_PLAN);
  EXPECT_EQ(
      cufftMakePlanMany(
          kNoPlan,
          1,
          n32,
          nullptr,
          1,
          0,
          nullptr,
          1,
          0,
          static_cast<cufftType>(0),
          1,
          &size),
      CUFFT_INVALID_PLAN);
  EXPECT_EQ(
      cufftXtMakePlanMany(
          kNoPlan,
          1,
          n,
          nullptr,
          1,
          0,
          CUDA_C_8I,
          nullptr,
          1,
          0,
          CUDA_C_8I,
          1,
          &size,
          CUDA_C_8I),
      CUFFT_INVALID_PLAN);
  EXPECT_EQ(
      cufftXtSetWorkAreaPolicy(kNoPlan, CUFFT_WORKAREA_MINIMAL, &size),
      CUFFT_INVALID_PLAN);
  EXPECT_EQ(
      cufftXtSetCallback(kNoPlan, nullptr, CUFFT_CB_LD_REAL, nullptr),
      CUFFT_INVALID_PLAN);
  EXPECT_EQ(
      cufftXtClearCallback(kNoPlan, CUFFT_CB_LD_REAL), CUFFT_INVALID_PLAN);
  EXPECT_EQ(
      cufftXtSetCallbackSharedSize(kNoPlan, CUFFT_CB_LD_REAL, 1),
      CUFFT_INVALID_PLAN);
  constexpr auto kJit = NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT;
  EXPECT_EQ(cufftSetPlanPropertyInt64(kNoPlan, kJit, 1), CUFFT_INVALID_PLAN);
  EXPECT_EQ(
      cufftGetPlanPropertyInt64(kNoPlan, kJit, &value), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftResetPlanProperty(kNoPlan, kJit), CUFFT_INVALID_PLAN);
}

TEST(Handles, AreMadeOnceAndDestroyedOnce) {
  cufftHandle handle = 0, other = 0;
  size_t size = 1;
  ASSERT_EQ(cufftCreate(&handle), CUFFT_SUCCESS);
  ASSERT_EQ(cufftCreate(&other), CUFFT_SUCCESS);
  EXPECT_NE(handle, other);
  ASSERT_EQ(cufftMakePlan1d(handle, 8, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(
      cufftMakePlan1d(handle, 8, CUFFT_C2C, 1, &size), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftDestroy(handle), CUFFT_SUCCESS);
  EXPECT_EQ(cufftDestroy(handle), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftDestroy(other), CUFFT_SUCCESS);
}

} // namespace
} // namespace accelerator::fft::testing
