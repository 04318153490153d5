// Functions by name, version and default stream.
#include <cuda.h>
#include <gtest/gtest.h>

// Of later headers.
extern "C" CUresult cuCtxCreate_v4(CUcontext*, const void*, unsigned, CUdevice);

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
      find("cuGraphInstantiate", 12000), address(&cuGraphInstantiateWithFlags));
  EXPECT_EQ(find("cuCtxCreate", 11030), address(&cuCtxCreate_v2));
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
  EXPECT_EQ(
      cuGetProcAddress("cuNothing", &function, 12040, 0), CUDA_ERROR_NOT_FOUND);
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
      CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(
      cuGetProcAddress_v2(nullptr, &function, 12040, 0, &found),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuGetProcAddress_v2("cuInit", nullptr, 12040, 0, &found),
      CUDA_ERROR_INVALID_VALUE);
}

} // namespace
