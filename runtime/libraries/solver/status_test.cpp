// What cuSOLVER's functions refuse, handles and their settings, and that work
// is work of streams.
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

namespace accelerator::solver::testing {
namespace {

constexpr auto kGood = CUSOLVER_STATUS_SUCCESS;
constexpr auto kBad = CUSOLVER_STATUS_INVALID_VALUE;
constexpr auto kNone = CUSOLVER_STATUS_NOT_INITIALIZED;
constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;
constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
constexpr int kN = 4;

class StatusTest : public SolverTest<Double> {
 protected:
  void SetUp() override {
    SolverTest<Double>::SetUp();
    ASSERT_EQ(cusolverDnCreateSyevjInfo(&eigen_info), kGood);
    ASSERT_EQ(cusolverDnCreateGesvdjInfo(&svd_info), kGood);
  }
  void TearDown() override {
    SolverTest<Double>::TearDown();
    EXPECT_EQ(cusolverDnDestroySyevjInfo(eigen_info), kGood);
    EXPECT_EQ(cusolverDnDestroyGesvdjInfo(svd_info), kGood);
  }

  const Array<double> array{std::vector<double>(kN * kN)};
  double* const a = array.get();
  const Array<int> integers{std::vector<int>(kN, 1)};
  int* const p = integers.get();
  double* const w = work.get();
  int* const i = info.get();
  int size = 0;
  syevjInfo_t eigen_info = nullptr;
  gesvdjInfo_t svd_info = nullptr;
};

TEST_F(StatusTest, WithoutAHandle) {
  const auto h = cusolverDnHandle_t();
  size_t bytes = 0;
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t mode{};
  double residual = 0;
  for (const cusolverStatus_t status :
       {cusolverDnDestroy(h),
        cusolverDnSetStream(h, nullptr),
        cusolverDnGetStream(h, &stream),
        cusolverDnSetDeterministicMode(h, CUSOLVER_DETERMINISTIC_RESULTS),
        cusolverDnGetDeterministicMode(h, &mode),
        cusolverDnXsyevjGetResidual(h, eigen_info, &residual),
        cusolverDnXsyevjGetSweeps(h, eigen_info, &size),
        cusolverDnXgesvdjGetResidual(h, svd_info, &residual),
        cusolverDnXgesvdjGetSweeps(h, svd_info, &size),
        cusolverDnDgetrf_bufferSize(h, kN, kN, a, kN, &size),
        cusolverDnDgetrf(h, kN, kN, a, kN, w, p, i),
        cusolverDnDgetrs(h, CUBLAS_OP_N, kN, 1, a, kN, p, a, kN, i),
        cusolverDnDlaswp(h, 1, a, kN, 1, 1, p, 1),
        cusolverDnDpotrf(h, kLower, kN, a, kN, w, 1, i),
        cusolverDnDpotrs(h, kLower, kN, 1, a, kN, a, kN, i),
        cusolverDnDpotri(h, kLower, kN, a, kN, w, 1, i),
        cusolverDnDpotrfBatched(h, kLower, kN, nullptr, kN, i, 0),
        cusolverDnDpotrsBatched(
            h, kLower, kN, 1, nullptr, kN, nullptr, kN, i, 0),
        cusolverDnDgeqrf(h, kN, kN, a, kN, a, w, 1, i),
        cusolverDnDorgqr(h, kN, kN, kN, a, kN, a, w, 1, i),
        cusolverDnDormqr(
            h,
            CUBLAS_SIDE_LEFT,
            CUBLAS_OP_N,
            kN,
            kN,
            kN,
            a,
            kN,
            a,
            a,
            kN,
            w,
            1,
            i),
        cusolverDnDsytrf(h, kLower, kN, a, kN, p, w, 1, i),
        cusolverDnDsyevd(h, kVectors, kLower, kN, a, kN, a, w, 1, i),
        cusolverDnDsyevj(
            h, kVectors, kLower, kN, a, kN, a, w, 1, i, eigen_info),
        cusolverDnDgesvd(
            h, 'A', 'A', kN, kN, a, kN, a, a, kN, a, kN, w, 1, nullptr, i),
        cusolverDnDgesvdj(
            h, kVectors, 0, kN, kN, a, kN, a, a, kN, a, kN, w, 1, i, svd_info),
        cusolverDnXgetrf_bufferSize(
            h, params, kN, kN, CUDA_R_64F, a, kN, CUDA_R_64F, &bytes, &bytes),
        cusolverDnXpotrs(
            h,
            params,
            kLower,
            kN,
            1,
            CUDA_R_64F,
            a,
            kN,
            CUDA_R_64F,
            a,
            kN,
            i)}) {
    EXPECT_EQ(status, kNone);
  }
}

TEST_F(StatusTest, SizesAndLeadingDimensions) {
  const auto h = handle;
  for (const cusolverStatus_t status :
       {cusolverDnDgetrf(h, -1, kN, a, kN, w, p, i),
        cusolverDnDgetrf(h, kN, -1, a, kN, w, p, i),
        cusolverDnDgetrf(h, kN, kN, a, kN - 1, w, p, i),
        cusolverDnDgetrf(h, 0, 0, a, 0, w, p, i),
        cusolverDnDgetrf(h, kN, kN, a, kN, w, p, nullptr),
        cusolverDnDgetrf_bufferSize(h, kN, kN, a, kN - 1, &size),
        cusolverDnDgetrf_bufferSize(h, kN, kN, a, kN, nullptr),
        cusolverDnDgetrs(h, CUBLAS_OP_N, kN, -1, a, kN, p, a, kN, i),
        cusolverDnDgetrs(h, CUBLAS_OP_N, kN, 1, a, kN, p, a, kN - 1, i),
        cusolverDnDgetrs(
            h, static_cast<cublasOperation_t>(9), kN, 1, a, kN, p, a, kN, i),
        cusolverDnDlaswp(h, 1, a, kN, 0, 1, p, 1),
        cusolverDnDlaswp(h, 1, a, kN, 2, 1, p, 1),
        cusolverDnDlaswp(h, 1, a, kN, 1, kN + 1, p, 1),
        cusolverDnDlaswp(h, 1, a, kN, 1, 1, p, 0),
        cusolverDnDpotrf(h, kLower, -1, a, kN, w, 1, i),
        cusolverDnDpotrf(h, CUBLAS_FILL_MODE_FULL, kN, a, kN, w, 1, i),
        cusolverDnDpotrf(h, kLower, kN, a, kN, w, 0, i),
        cusolverDnDpotrf_bufferSize(h, kLower, kN, a, kN - 1, &size),
        cusolverDnDpotrs(h, kLower, kN, 1, a, kN, a, 1, i),
        cusolverDnDpotri(h, kLower, kN, a, kN, w, 0, i),
        cusolverDnDpotri_bufferSize(h, kLower, -1, a, kN, &size),
        cusolverDnDpotrfBatched(h, kLower, kN, nullptr, kN, i, -1),
        cusolverDnDpotrsBatched(
            h, kLower, kN, 2, nullptr, kN, nullptr, kN, i, 0),
        cusolverDnDgeqrf(h, kN, kN, a, 1, a, w, 1, i),
        cusolverDnDgeqrf(h, kN, kN, a, kN, a, w, 0, i),
        cusolverDnDgeqrf_bufferSize(h, kN, kN, a, 1, &size),
        cusolverDnDorgqr(h, kN, kN + 1, 1, a, kN, a, w, 1, i),
        cusolverDnDorgqr(h, kN, 2, 3, a, kN, a, w, 1, i),
        cusolverDnDorgqr_bufferSize(h, kN, 2, -1, a, kN, a, &size),
        cusolverDnDormqr_bufferSize(
            h,
            CUBLAS_SIDE_LEFT,
            CUBLAS_OP_N,
            kN,
            1,
            kN + 1,
            a,
            kN,
            a,
            a,
            kN,
            &size),
        cusolverDnDsytrf_bufferSize(h, kN, a, 1, &size),
        cusolverDnDsytrf(h, kLower, kN, a, kN, p, w, 0, i),
        cusolverDnDsyevd(h, kVectors, kLower, kN, a, 1, a, w, 1, i),
        cusolverDnDsyevd(
            h,
            static_cast<cusolverEigMode_t>(7),
            kLower,
            kN,
            a,
            kN,
            a,
            w,
            1,
            i),
        cusolverDnDsyevd_bufferSize(h, kVectors, kLower, -1, a, 1, a, &size),
        cusolverDnDsyevj(h, kVectors, kLower, kN, a, kN, a, w, 1, i, nullptr),
        cusolverDnDsyevj_bufferSize(
            h, kVectors, kLower, kN, a, 1, a, &size, eigen_info),
        cusolverDnDsyevjBatched_bufferSize(
            h, kVectors, kLower, kN, a, kN, a, &size, eigen_info, -1),
        cusolverDnDgesvd_bufferSize(h, 2, 3, &size),
        cusolverDnDgesvd(
            h, 'A', 'A', 2, 3, a, kN, a, a, kN, a, kN, w, 1, nullptr, i),
        cusolverDnDgesvd(
            h, 'O', 'O', 3, 3, a, kN, a, a, kN, a, kN, w, 1, nullptr, i),
        cusolverDnDgesvd(
            h, 'X', 'A', 3, 3, a, kN, a, a, kN, a, kN, w, 1, nullptr, i),
        cusolverDnDgesvd(
            h, 'A', 'A', 3, 3, a, kN, a, a, 2, a, kN, w, 1, nullptr, i),
        cusolverDnDgesvdj_bufferSize(
            h, kVectors, 0, 3, 3, a, kN, a, a, 2, a, kN, &size, svd_info),
        cusolverDnDgesvdjBatched_bufferSize(
            h, kVectors, 33, 3, a, 33, a, a, 33, a, 3, &size, svd_info, 1),
        cusolverDnDgesvdaStridedBatched_bufferSize(
            h,
            kVectors,
            2,
            2,
            3,
            a,
            kN,
            0,
            a,
            0,
            a,
            kN,
            0,
            a,
            kN,
            0,
            &size,
            1)}) {
    EXPECT_EQ(status, kBad);
  }
  // A transpose of complex reflectors that is no conjugate one.
  const Array<std::complex<float>> c{std::vector<std::complex<float>>(kN * kN)};
  auto* const z = c.get<cuComplex>();
  EXPECT_EQ(
      cusolverDnCunmqr(
          h,
          CUBLAS_SIDE_LEFT,
          CUBLAS_OP_T,
          kN,
          kN,
          1,
          z,
          kN,
          z,
          z,
          kN,
          z,
          1,
          i),
      kBad);
  EXPECT_EQ(
      cusolverDnDsytrf(h, kLower, kN, a, kN, nullptr, w, 1, i),
      CUSOLVER_STATUS_NOT_SUPPORTED);
}

TEST_F(StatusTest, TypesOfGenericFunctions) {
  size_t device = 0, host = 0;
  const auto size_of_getrf = [&](cudaDataType type, cudaDataType compute) {
    return cusolverDnXgetrf_bufferSize(
        handle, params, kN, kN, type, a, kN, compute, &device, &host);
  };
  for (const auto type : {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F}) {
    EXPECT_EQ(size_of_getrf(type, type), kGood);
  }
  EXPECT_EQ(size_of_getrf(CUDA_R_16F, CUDA_R_16F), kBad);
  EXPECT_EQ(size_of_getrf(CUDA_R_64F, CUDA_R_32F), kBad);
  // Eigenvalues are real.
  const auto size_of_syevd = [&](cudaDataType values) {
    return cusolverDnXsyevd_bufferSize(
        handle,
        params,
        kVectors,
        kLower,
        kN,
        CUDA_C_64F,
        a,
        kN,
        values,
        a,
        CUDA_C_64F,
        &device,
        &host);
  };
  EXPECT_EQ(size_of_syevd(CUDA_R_64F), kGood);
  EXPECT_EQ(size_of_syevd(CUDA_C_64F), kBad);
  // Beyond what LAPACK counts.
  EXPECT_EQ(
      cusolverDnXgetrf_bufferSize(
          handle,
          params,
          INT64_C(1) << 32,
          1,
          CUDA_R_64F,
          a,
          INT64_C(1) << 32,
          CUDA_R_64F,
          &device,
          &host),
      CUSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(
      cusolverDnXgetrf(
          handle,
          params,
          kN,
          kN,
          CUDA_R_64F,
          a,
          kN,
          nullptr,
          CUDA_R_64F,
          w,
          0,
          nullptr,
          0,
          i),
      kBad);
}

TEST_F(StatusTest, HandlesAndParameters) {
  cudaStream_t stream = nullptr, got = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(cusolverDnSetStream(handle, stream), kGood);
  EXPECT_EQ(cusolverDnGetStream(handle, &got), kGood);
  EXPECT_EQ(got, stream);
  EXPECT_EQ(cusolverDnSetStream(handle, nullptr), kGood);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cusolverDeterministicMode_t mode{};
  for (const auto wanted :
       {CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS,
        CUSOLVER_DETERMINISTIC_RESULTS}) {
    EXPECT_EQ(cusolverDnSetDeterministicMode(handle, wanted), kGood);
    EXPECT_EQ(cusolverDnGetDeterministicMode(handle, &mode), kGood);
    EXPECT_EQ(mode, wanted);
  }
  EXPECT_EQ(
      cusolverDnSetDeterministicMode(
          handle, static_cast<cusolverDeterministicMode_t>(5)),
      kBad);
  EXPECT_EQ(
      cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_1), kGood);
  EXPECT_EQ(
      cusolverDnSetAdvOptions(nullptr, CUSOLVERDN_GETRF, CUSOLVER_ALG_1), kBad);
  EXPECT_EQ(
      cusolverDnSetAdvOptions(
          params, CUSOLVERDN_GETRF, static_cast<cusolverAlgMode_t>(9)),
      kBad);
  EXPECT_EQ(cusolverDnCreate(nullptr), kBad);
  EXPECT_EQ(cusolverDnCreateParams(nullptr), kBad);
  EXPECT_EQ(cusolverDnDestroyParams(nullptr), kBad);
  EXPECT_EQ(cusolverDnCreateSyevjInfo(nullptr), kBad);
  EXPECT_EQ(cusolverDnDestroySyevjInfo(nullptr), kBad);
  EXPECT_EQ(cusolverDnCreateGesvdjInfo(nullptr), kBad);
  EXPECT_EQ(cusolverDnDestroyGesvdjInfo(nullptr), kBad);
  EXPECT_EQ(cusolverDnXsyevjSetTolerance(eigen_info, 1e-7), kGood);
  EXPECT_EQ(cusolverDnXsyevjSetMaxSweeps(eigen_info, 15), kGood);
  EXPECT_EQ(cusolverDnXsyevjSetSortEig(eigen_info, 1), kGood);
  EXPECT_EQ(cusolverDnXsyevjSetTolerance(nullptr, 1e-7), kBad);
  EXPECT_EQ(cusolverDnXsyevjSetMaxSweeps(nullptr, 15), kBad);
  EXPECT_EQ(cusolverDnXsyevjSetSortEig(nullptr, 1), kBad);
  EXPECT_EQ(cusolverDnXgesvdjSetTolerance(svd_info, 1e-7), kGood);
  EXPECT_EQ(cusolverDnXgesvdjSetMaxSweeps(svd_info, 15), kGood);
  EXPECT_EQ(cusolverDnXgesvdjSetSortEig(svd_info, 1), kGood);
  EXPECT_EQ(cusolverDnXgesvdjSetTolerance(nullptr, 1e-7), kBad);
  EXPECT_EQ(cusolverDnXgesvdjSetMaxSweeps(nullptr, 15), kBad);
  EXPECT_EQ(cusolverDnXgesvdjSetSortEig(nullptr, 1), kBad);
  int version = 0, part = 0, sum = 0;
  EXPECT_EQ(cusolverGetVersion(&version), kGood);
  EXPECT_EQ(version, CUSOLVER_VERSION);
  int factor = 1000;
  for (const auto type : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    EXPECT_EQ(cusolverGetProperty(type, &part), kGood);
    sum += part * factor;
    factor = factor == 1000 ? 100 : 1;
  }
  EXPECT_EQ(sum, version);
  EXPECT_EQ(
      cusolverGetProperty(static_cast<libraryPropertyType>(3), &part), kBad);
}

TEST_F(StatusTest, MemoryThatIsNotThere) {
  std::vector<double> host(kN * kN);
  constexpr auto kFailed = CUSOLVER_STATUS_EXECUTION_FAILED;
  EXPECT_EQ(
      cusolverDnDgetrf(handle, kN, kN, host.data(), kN, w, p, i), kFailed);
  EXPECT_EQ(cusolverDnDgetrf(handle, kN, kN + 1, a, kN, w, p, i), kFailed);
  EXPECT_EQ(
      cusolverDnDsyevd(
          handle, kVectors, kLower, kN, a, kN, host.data(), w, 1, i),
      kFailed);
  EXPECT_EQ(
      cusolverDnDpotrf(handle, kLower, kN, nullptr, kN, w, 1, i), kFailed);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// One node of a graph, which computes anew at each launch.
TEST_F(StatusTest, GraphsRepeatIt) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 1), cudaSuccess);
  ASSERT_EQ(cusolverDnSetStream(handle, stream), kGood);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cusolverDnDpotrf(handle, kLower, kN, a, kN, w, 1, i), kGood);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (const double value : {4.0, 9.0}) {
    std::vector<double> values(kN * kN);
    for (int k = 0; k < kN; ++k) {
      values[k * kN + k] = value;
    }
    ASSERT_EQ(
        cudaMemcpy(
            a,
            values.data(),
            values.size() * sizeof(double),
            cudaMemcpyHostToDevice),
        cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(array.values()[0], value == 4.0 ? 2.0 : 3.0);
    EXPECT_EQ(last_info(), 0);
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cusolverDnSetStream(handle, nullptr), kGood);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(StatusTest, EachThreadWithItsHandle) {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      cusolverDnHandle_t own = nullptr;
      ASSERT_EQ(cusolverDnCreate(&own), kGood);
      for (unsigned round = 0; round < 10; ++round) {
        constexpr int kSize = 20;
        const Matrix matrix = hermitian(kSize, number * 100 + round, true);
        const Array<double> factor(packed(matrix, kSize));
        const Array<double> area{std::vector<double>(1)};
        const Array<int> its_info{std::vector<int>(1, -1)};
        ASSERT_EQ(
            cusolverDnDpotrf(
                own,
                kLower,
                kSize,
                factor.get(),
                kSize,
                area.get(),
                1,
                its_info.get()),
            kGood);
        ASSERT_EQ(its_info.values()[0], 0);
        const Matrix l =
            lower(Matrix(factor.values(), kSize, kSize, kSize), kSize, false);
        expect_near(l * apply(CUBLAS_OP_C, l), matrix, 1e-9);
      }
      ASSERT_EQ(cusolverDnDestroy(own), kGood);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

} // namespace
} // namespace accelerator::solver::testing
