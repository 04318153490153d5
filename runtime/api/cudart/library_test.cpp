// Libraries of kernels, and what code of nvcc 12.8 and later calls to launch:
// compiled for both major versions of CUDA.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"
#include "runtime/api/cudart/versions.h"

extern "C" {
// What code for <<<…>>> calls (crt/device_functions.h).
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(
    cudaKernel_t,
    dim3,
    dim3,
    void**,
    size_t,
    cudaStream_t);

#if CUDART_VERSION < 12080
// Which the headers of later versions declare, and their programs call.
cudaError_t cudaLibraryLoadData(
    cudaLibrary_t*,
    const void*,
    cudaJitOption*,
    void**,
    unsigned,
    cudaLibraryOption*,
    void**,
    unsigned);
cudaError_t cudaLibraryLoadFromFile(
    cudaLibrary_t*,
    const char*,
    cudaJitOption*,
    void**,
    unsigned,
    cudaLibraryOption*,
    void**,
    unsigned);
cudaError_t cudaLibraryUnload(cudaLibrary_t);
cudaError_t cudaLibraryGetKernel(cudaKernel_t*, cudaLibrary_t, const char*);
cudaError_t cudaLibraryGetKernelCount(unsigned*, cudaLibrary_t);
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t*, unsigned, cudaLibrary_t);
cudaError_t cudaLibraryGetGlobal(void**, size_t*, cudaLibrary_t, const char*);
cudaError_t cudaKernelSetAttributeForDevice(
    cudaKernel_t,
    cudaFuncAttribute,
    int,
    int);
#endif
}

namespace accelerator::cudart::testing {
namespace {

using Libraries = Runtime;

constexpr char kPtx[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 to) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [to];
  ld.global.u32 %r1, [%rd1];
  ld.global.u32 %r2, [factor];
  mul.lo.s32 %r3, %r1, %r2;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";

TEST_F(Libraries, HaveKernelsAndVariables) {
  cudaLibrary_t library = nullptr;
  ASSERT_OK(cudaLibraryLoadData(
      &library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  ASSERT_OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 1u);
  cudaKernel_t kernel = nullptr;
  ASSERT_OK(cudaLibraryGetKernel(&kernel, library, "scale"));
  cudaKernel_t all[2] = {nullptr, nullptr};
  ASSERT_OK(cudaLibraryEnumerateKernels(all, 2, library));
  EXPECT_EQ(all[0], kernel);
  EXPECT_EQ(all[1], nullptr);
  EXPECT_EQ(
      cudaLibraryGetKernel(&kernel, library, "other"), cudaErrorSymbolNotFound);
  void* factor = nullptr;
  std::size_t bytes = 0;
  ASSERT_OK(cudaLibraryGetGlobal(&factor, &bytes, library, "factor"));
  EXPECT_EQ(bytes, sizeof(int));
  const int five = 5;
  ASSERT_OK(cudaMemcpy(factor, &five, sizeof(five), cudaMemcpyHostToDevice));
  OnDevice values(std::vector<int>{7});
  int* data = values.data();
  void* arguments[] = {&data};
  ASSERT_OK(cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr));
  EXPECT_EQ(values.get(), std::vector<int>{35});
  EXPECT_OK(cudaLibraryUnload(library));
  EXPECT_NE(
      cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr),
      cudaSuccess);
  EXPECT_NE(cudaLibraryUnload(library), cudaSuccess);
}

TEST_F(Libraries, ComeFromFiles) {
  const std::string path = ::testing::TempDir() + "library_test.ptx";
  std::ofstream(path) << kPtx;
  cudaLibrary_t library = nullptr;
  ASSERT_OK(cudaLibraryLoadFromFile(
      &library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  EXPECT_OK(cudaLibraryGetKernel(&kernel, library, "scale"));
  EXPECT_OK(cudaLibraryUnload(library));
  std::remove(path.c_str());
  EXPECT_NE(
      cudaLibraryLoadFromFile(
          &library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      cudaSuccess);
}

TEST_F(Libraries, KernelsMayGetMoreSharedMemory) {
  cudaLibrary_t library = nullptr;
  ASSERT_OK(cudaLibraryLoadData(
      &library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  ASSERT_OK(cudaLibraryGetKernel(&kernel, library, "scale"));
  OnDevice values(std::vector<int>{7});
  int* data = values.data();
  void* arguments[] = {&data};
  constexpr int kMore = 64 << 10; // than the 48 KiB that every kernel may have
  const auto launch = [&] {
    return cudaLaunchKernel(
        kernel, dim3(1), dim3(1), arguments, kMore, nullptr);
  };
  EXPECT_EQ(launch(), cudaErrorInvalidValue);
  EXPECT_OK(cudaKernelSetAttributeForDevice(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMore, 0));
  EXPECT_OK(launch());
  EXPECT_EQ(values.get(), std::vector<int>{21});
  EXPECT_EQ(
      cudaKernelSetAttributeForDevice(
          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMore, 99),
      cudaErrorInvalidDevice);
  EXPECT_OK(cudaLibraryUnload(library));
}

TEST_F(Libraries, KernelsOfTheProgramAreAskedForAndLaunched) {
  cudaKernel_t kernel = nullptr;
  ASSERT_OK(__cudaGetKernel(&kernel, symbol(add)));
  OnDevice values(std::vector<int>(4, 1));
  int* data = values.data();
  int amount = 5;
  int count = 4;
  void* arguments[] = {&data, &amount, &count};
  ASSERT_OK(
      __cudaLaunchKernel(kernel, dim3(1), dim3(4), arguments, 0, nullptr));
  EXPECT_EQ(values.get(), std::vector<int>(4, 6));
  EXPECT_EQ(__cudaGetKernel(&kernel, &count), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(
      __cudaLaunchKernel(nullptr, dim3(1), dim3(4), arguments, 0, nullptr),
      cudaErrorInvalidDeviceFunction);
}

} // namespace
} // namespace accelerator::cudart::testing
