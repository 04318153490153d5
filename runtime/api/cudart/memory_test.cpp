// Memory as programs see it through the runtime.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace {

class Memory : public testing::Test {
 protected:
  void TearDown() override {
    cudaGetLastError();
  }
};

TEST_F(Memory, BytesComeBackAsTheyWent) {
  std::vector<int> in(100'000);
  std::iota(in.begin(), in.end(), 0);
  std::vector<int> out(in.size());
  const std::size_t bytes = in.size() * sizeof(int);
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(cudaMalloc(&first, bytes), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, bytes), cudaSuccess);
  EXPECT_EQ(
      cudaMemcpy(first, in.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(
      cudaMemcpy(second, first, bytes, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(
      cudaMemcpy(out.data(), second, bytes, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(in, out);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
}

TEST_F(Memory, APlaneIsCopiedRowByRow) {
  void* plane = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&plane, &pitch, 10, 4), cudaSuccess);
  EXPECT_GE(pitch, 10u);
  std::vector<char> in(40);
  std::iota(in.begin(), in.end(), 0);
  std::vector<char> out(40);
  EXPECT_EQ(
      cudaMemcpy2D(plane, pitch, in.data(), 10, 10, 4, cudaMemcpyHostToDevice),
      cudaSuccess);
  EXPECT_EQ(cudaMemset2D(plane, pitch, 77, 2, 4), cudaSuccess);
  EXPECT_EQ(
      cudaMemcpy2D(out.data(), 10, plane, pitch, 10, 4, cudaMemcpyDeviceToHost),
      cudaSuccess);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 10; ++x) {
      EXPECT_EQ(out[y * 10 + x], x < 2 ? 77 : y * 10 + x);
    }
  }
  EXPECT_EQ(cudaFree(plane), cudaSuccess);
}

TEST_F(Memory, CopiesBeyondAnAllocationAreRefused) {
  std::vector<char> host(2000);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 1000), cudaSuccess);
  EXPECT_EQ(
      cudaMemcpy(memory, host.data(), 1001, cudaMemcpyHostToDevice),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(memory, 0, 1001), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

TEST_F(Memory, RunsOutAtTheSizeOfTheDevice) {
  std::size_t available = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&available, &total), cudaSuccess);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, total + 1), cudaErrorMemoryAllocation);
  const std::size_t half = available / 2;
  ASSERT_EQ(cudaMalloc(&memory, half), cudaSuccess);
  std::size_t left = 0;
  ASSERT_EQ(cudaMemGetInfo(&left, &total), cudaSuccess);
  EXPECT_NEAR(left, available - half, 512);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(Memory, PointersTellWhatTheyAre) {
  int on_stack = 0;
  void* device = nullptr;
  void* host = nullptr;
  void* managed = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 100), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&host, 100), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 100, cudaMemAttachGlobal), cudaSuccess);
  const auto type = [](const void* pointer) {
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
    return attributes.type;
  };
  EXPECT_EQ(type(static_cast<char*>(device) + 99), cudaMemoryTypeDevice);
  EXPECT_EQ(type(static_cast<char*>(device) + 100), cudaMemoryTypeUnregistered);
  EXPECT_EQ(type(host), cudaMemoryTypeHost);
  EXPECT_EQ(type(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type(&on_stack), cudaMemoryTypeUnregistered);
  EXPECT_EQ(
      cudaHostRegister(&on_stack, sizeof(int), cudaHostRegisterDefault),
      cudaSuccess);
  EXPECT_EQ(type(&on_stack), cudaMemoryTypeHost);
  EXPECT_EQ(
      cudaHostRegister(&on_stack, sizeof(int), cudaHostRegisterDefault),
      cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostUnregister(&on_stack), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(&on_stack), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
}

TEST_F(Memory, OnlyDevicesThatMayUseMemoryHaveAPointerToIt) {
  void* memory = nullptr;
  void* host = nullptr;
  const auto device_pointer = [](void* pointer) {
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
    return attributes.devicePointer;
  };
  ASSERT_EQ(cudaMallocHost(&host, 100), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  EXPECT_EQ(device_pointer(memory), memory);
  EXPECT_EQ(device_pointer(host), host);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(device_pointer(memory), nullptr);
  EXPECT_EQ(device_pointer(host), host);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(device_pointer(memory), memory);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(device_pointer(memory), nullptr);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
}

TEST_F(Memory, WhatAStreamFreesIsFreeOnceItGotThere) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  void* memory = nullptr;
  EXPECT_EQ(cudaMallocAsync(&memory, 1 << 20, stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, 1 << 20, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before, after);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(Memory, WhatNoMachineHasIsNotGiven) {
  constexpr std::size_t kMost = SIZE_MAX;
  constexpr std::size_t kHalf = std::size_t{1} << 32;
  void* memory = nullptr;
  std::size_t pitch = 0;
  const auto refused = cudaErrorMemoryAllocation;
  EXPECT_EQ(cudaMallocPitch(&memory, &pitch, kHalf, kHalf), refused);
  EXPECT_EQ(cudaMallocPitch(&memory, &pitch, kMost, 1), refused);
  EXPECT_EQ(cudaMallocPitch(&memory, &pitch, kMost - 511, kMost), refused);
  EXPECT_EQ(cudaMallocPitch(&memory, &pitch, 1, kMost), refused);
  cudaPitchedPtr box{};
  EXPECT_EQ(cudaMalloc3D(&box, {16, kHalf, kHalf}), refused);
  EXPECT_EQ(cudaMalloc3D(&box, {kMost, kMost, kMost}), refused);
  for (const std::size_t bytes :
       {kMost, kMost - 511, kMost - 4095, std::size_t{1} << 45}) {
    EXPECT_EQ(cudaMalloc(&memory, bytes), refused);
    EXPECT_EQ(cudaMallocAsync(&memory, bytes, nullptr), refused);
    EXPECT_EQ(cudaMallocHost(&memory, bytes), refused);
    EXPECT_EQ(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), refused);
  }
  int value = 0;
  EXPECT_EQ(
      cudaHostRegister(&value, kMost, cudaHostRegisterDefault),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(&value), cudaErrorHostMemoryNotRegistered);
}

} // namespace
