// Functions by name, version and default stream.
#include <cuda.h>
#include <gtest/gtest.h>

// Of later headers.
extern "C" CUresult cuCtxCreate_v4(CUcontext*, const void*, unsigned, CUdevice);
extern "C" CUresult cuEventElapsedTime_v2(float*, CUevent, CUevent);
extern "C" CUresult cuGetProcAddress_v2_ptsz(
    const char* symbol,
    void** function,
    int version,
    cuuint64_t flags,
    CUdriverProcAddressQueryResult* result);

// The header gives the name to the form of CUDA 12.
#undef cuGetProcAddress
extern "C" CUresult cuGetProcAddress(
    const char* symbol,
    void** function,
    int version,
    cuuint64_t flags);

namespace {

constexpr auto kNormal = CU_GET_PROC_ADDRESS_DEFAULT;

void* find(const char* name, int version, cuuint64_t flags = kNormal) {
  void* function = nullptr;
  CUdriverProcAddressQueryResult found{};
  EXPECT_EQ(
      cuGetProcAddress_v2(name, &function, version, flags, &found),
      CUDA_SUCCESS)
      << name;
  EXPECT_EQ(found, CU_GET_PROC_ADDRESS_SUCCESS);
  return function;
}

template <typename Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

TEST(ProcAddress, TheNewestFormIsFound) {
  EXPECT_EQ(find("cuMemAlloc", 12040), address(&cuMemAlloc));
  EXPECT_EQ(find("cuCtxGetDevice", 12040), address(&cuCtxGetDevice));
}

TEST(ProcAddress, AProgramGetsTheFormOfItsVersion) {
  EXPECT_EQ(find("cuGetProcAddress", 12000), address(&cuGetProcAddress_v2));
  EXPECT_EQ(find("cuCtxCreate", 12050), address(&cuCtxCreate_v4));
  EXPECT_EQ(find("cuGetProcAddress", 11030), address(&cuGetProcAddress));
  EXPECT_EQ(
      find("cuStreamGetCaptureInfo", 12020),
      address(&cuStreamGetCaptureInfo_v2));
  EXPECT_EQ(
      find("cuStreamGetCaptureInfo", 12030),
      address(&cuStreamGetCaptureInfo_v3));
  EXPECT_EQ(find("cuMemAdvise", 12010), address(&cuMemAdvise));
  EXPECT_EQ(find("cuMemAdvise", 12020), address(&cuMemAdvise_v2));
  EXPECT_EQ(find("cuMemPrefetchAsync", 12010), address(&cuMemPrefetchAsync));
  EXPECT_EQ(find("cuMemPrefetchAsync", 13000), address(&cuMemPrefetchAsync_v2));
  EXPECT_EQ(find("cuEventElapsedTime", 12070), address(&cuEventElapsedTime));
  EXPECT_EQ(find("cuEventElapsedTime", 12080), address(&cuEventElapsedTime_v2));
  EXPECT_EQ(find("cuCtxCreate", 11030), address(&cuCtxCreate_v2));
}

// What NVIDIA's driver of CUDA 12.4 answers, which answers without a GPU.
TEST(ProcAddress, AVersionBeforeTheFirstFormIsNotSufficient) {
  const auto status = [](const char* name, int version, cuuint64_t flags = 0) {
    void* function = &function;
    CUdriverProcAddressQueryResult found{};
    EXPECT_EQ(
        cuGetProcAddress_v2(name, &function, version, flags, &found),
        CUDA_SUCCESS)
        << name;
    EXPECT_EQ(function == nullptr, found != CU_GET_PROC_ADDRESS_SUCCESS);
    return found;
  };
  constexpr auto kOld = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  constexpr auto kFound = CU_GET_PROC_ADDRESS_SUCCESS;
  constexpr auto kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  EXPECT_EQ(status("cuLaunchKernel", 3000), kOld);
  EXPECT_EQ(status("cuLaunchKernel", 4000), kFound);
  EXPECT_EQ(status("cuInit", 0), kOld);
  EXPECT_EQ(status("cuInit", -5), kFound); // an unsigned number
  EXPECT_EQ(status("cuInit", 99000), kFound);
  EXPECT_EQ(status("cuMemcpyHtoD", 6000, kPerThread), kOld);
  EXPECT_EQ(status("cuMemcpyHtoD", 7000, kPerThread), kFound);
}

TEST(ProcAddress, ANameHasNoVersionOfItsOwn) {
  for (const char* name :
       {"cuMemAlloc_v2", "cuStreamQuery_ptsz", "cuMemcpyHtoD_v2_ptds", ""}) {
    void* function = &function;
    CUdriverProcAddressQueryResult found{};
    EXPECT_EQ(
        cuGetProcAddress_v2(name, &function, 12040, 0, &found), CUDA_SUCCESS);
    EXPECT_EQ(found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) << name;
    EXPECT_EQ(function, nullptr) << name;
  }
}

TEST(ProcAddress, ThePerThreadFormIsFoundWhenAskedFor) {
  constexpr auto kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  void* plain = find("cuStreamQuery", 12040);
  void* own = find("cuStreamQuery", 12040, kPerThread);
  EXPECT_EQ(plain, address(&cuStreamQuery));
  EXPECT_NE(plain, own);
  EXPECT_NE(
      find("cuMemcpyHtoD", 12040), find("cuMemcpyHtoD", 12040, kPerThread));
  // What has no stream has one form only.
  EXPECT_EQ(find("cuMemAlloc", 12040, kPerThread), address(&cuMemAlloc));
}

TEST(ProcAddress, TheFormOfCuda11HasNoResultParameter) {
  void* function = nullptr;
  EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &function, 12040, 0), CUDA_SUCCESS);
  EXPECT_EQ(function, address(&cuMemAlloc));
  function = &function;
  EXPECT_EQ(
      cuGetProcAddress("cuNothing", &function, 12040, 0), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(
      cuGetProcAddress("cuLaunchKernel", &function, 3000, 0),
      CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(function, &function); // nothing is written
}

TEST(ProcAddress, TheFormForPerThreadProgramsFindsTheirs) {
  constexpr auto kLegacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  constexpr auto kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const auto ask = [](cuuint64_t flags) {
    void* function = nullptr;
    EXPECT_EQ(
        cuGetProcAddress_v2_ptsz(
            "cuStreamQuery", &function, 12040, flags, nullptr),
        CUDA_SUCCESS);
    return function;
  };
  EXPECT_EQ(ask(kNormal), find("cuStreamQuery", 12040, kPerThread));
  EXPECT_EQ(ask(kLegacy), find("cuStreamQuery", 12040));
}

TEST(ProcAddress, AFunctionOfEitherFormCanBeCalled) {
  int expected = 0;
  ASSERT_EQ(cuDriverGetVersion(&expected), CUDA_SUCCESS);
  void* function = nullptr;
  EXPECT_EQ(
      cuGetProcAddress("cuDriverGetVersion", &function, 12040, 0),
      CUDA_SUCCESS);
  for (void* found : {function, find("cuDriverGetVersion", 12040)}) {
    ASSERT_NE(found, nullptr);
    int version = 0;
    const auto get = reinterpret_cast<decltype(&cuDriverGetVersion)>(found);
    EXPECT_EQ(get(&version), CUDA_SUCCESS);
    EXPECT_EQ(version, expected);
  }
}

TEST(ProcAddress, WhatThereIsNotIsNotFound) {
  void* function = &function;
  CUdriverProcAddressQueryResult found{};
  EXPECT_EQ(
      cuGetProcAddress_v2("cuNothing", &function, 12040, 0, &found),
      CUDA_SUCCESS);
  EXPECT_EQ(found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(
      cuGetProcAddress_v2("cuNothing", &function, 12040, 0, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuGetProcAddress_v2("cuInit", &function, 12040, 4, &found),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuGetProcAddress_v2(nullptr, &function, 12040, 0, &found),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuGetProcAddress_v2("cuInit", nullptr, 12040, 0, &found),
      CUDA_ERROR_INVALID_VALUE);
}

} // namespace
