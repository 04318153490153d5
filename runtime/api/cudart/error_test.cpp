// Errors: those that a call leaves behind, and those of the device that stay
// until it is reset. In a program of its own: resetting frees all memory.
#include <algorithm>
#include <cstdint>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

class Errors : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const int device : {1, 0}) {
      EXPECT_OK(cudaSetDevice(device));
      EXPECT_OK(cudaDeviceReset());
    }
  }
  cudaError_t launch_write(int* address) {
    void* arguments[] = {&address};
    return cudaLaunchKernel(symbol(write_to), 1, 1, arguments, 0, nullptr);
  }
};

TEST_F(Errors, HaveNamesAndDescriptions) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(
      cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(
      cudaGetErrorString(cudaErrorIllegalAddress),
      "an illegal memory access was encountered");
  const auto unknown = static_cast<cudaError_t>(12345);
  EXPECT_STREQ(cudaGetErrorName(unknown), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(unknown), "unrecognized error code");
}

TEST_F(Errors, AreKeptUntilTheyAreAskedFor) {
  void* memory = nullptr;
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaFree(&memory), cudaErrorInvalidValue);
  ASSERT_OK(cudaMalloc(&memory, 10)); // a success changes nothing
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue); // the last one
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_OK(cudaPeekAtLastError());
  EXPECT_OK(cudaGetLastError());
}

TEST_F(Errors, AreOfTheThreadThatMadeThem) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  std::async(std::launch::async, [] {
    EXPECT_OK(cudaPeekAtLastError());
  }).get();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_F(Errors, OfABadAddressStayUntilTheDeviceIsReset) {
  int* memory = nullptr;
  ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(int)));
  ASSERT_OK(launch_write(memory));
  ASSERT_OK(cudaDeviceSynchronize());
  ASSERT_OK(launch_write(memory + 1)); // the launch itself is right
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorIllegalAddress);
  void* other = nullptr;
  EXPECT_EQ(cudaMalloc(&other, 10), cudaErrorIllegalAddress);
  EXPECT_EQ(launch_write(memory), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaFree(memory), cudaErrorIllegalAddress);

  ASSERT_OK(cudaDeviceReset());
  EXPECT_OK(cudaGetLastError());
  ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(int)));
  EXPECT_OK(launch_write(memory));
  int value = 0;
  EXPECT_OK(cudaMemcpy(&value, memory, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 1);
}

TEST_F(Errors, OfMemoryThatAGraphHasNotYetOrNoLonger) {
  for (const bool launched : {false, true}) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t program = nullptr;
    int* memory = nullptr;
    void* arguments[] = {&memory};
    ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ASSERT_OK(cudaMallocAsync(
        reinterpret_cast<void**>(&memory), sizeof(int), stream));
    ASSERT_OK(cudaLaunchKernel(symbol(write_to), 1, 1, arguments, 0, stream));
    ASSERT_OK(cudaFreeAsync(memory, stream));
    ASSERT_OK(cudaStreamEndCapture(stream, &graph));
    ASSERT_OK(cudaGraphInstantiate(&program, graph, 0));
    if (launched) {
      ASSERT_OK(cudaGraphLaunch(program, stream));
      ASSERT_OK(cudaStreamSynchronize(stream));
    }
    ASSERT_OK(launch_write(memory));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    ASSERT_OK(cudaDeviceReset());
    EXPECT_OK(cudaGraphExecDestroy(program));
    EXPECT_OK(cudaGraphDestroy(graph));
    EXPECT_OK(cudaStreamDestroy(stream));
  }
}

TEST_F(Errors, OfKernelsSayWhatHappened) {
  int* memory = nullptr;
  ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&memory), 16));
  ASSERT_OK(launch_write(
      reinterpret_cast<int*>(reinterpret_cast<char*>(memory) + 2)));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  ASSERT_OK(cudaDeviceReset());
  ASSERT_OK(cudaLaunchKernel(symbol(trap), 1, 1, nullptr, 0, nullptr));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

TEST_F(Errors, StopWhatComesAfterInStreamsButNotEvents) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  int count = 0;
  ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ASSERT_OK(cudaEventCreate(&event));
  ASSERT_OK(cudaLaunchKernel(symbol(trap), 1, 1, nullptr, 0, stream));
  cudaLaunchHostFunc(stream, count_up, &count);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorLaunchFailure);
  EXPECT_EQ(count, 0);
}

TEST_F(Errors, AreToldToCallbacks) {
  cudaStream_t stream = nullptr;
  cudaError_t told = cudaSuccess;
  Gate gate;
  ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaLaunchKernel(symbol(trap), 1, 1, nullptr, 0, stream));
  ASSERT_OK(cudaStreamAddCallback(
      stream,
      [](cudaStream_t, cudaError_t status, void* data) {
        *static_cast<cudaError_t*>(data) = status;
      },
      &told,
      0));
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(told, cudaErrorLaunchFailure);
}

TEST_F(Errors, OfADeviceAreNotThoseOfAnother) {
  ASSERT_OK(cudaLaunchKernel(symbol(trap), 1, 1, nullptr, 0, nullptr));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaDeviceSynchronize());
  cudaGetLastError(); // what the synchronization left in this thread
  EXPECT_OK(cudaGetLastError());
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 10));
  EXPECT_OK(cudaFree(memory));
}

TEST_F(Errors, OnMemoryOfAPeerDependOnTheAccess) {
  int* memory = nullptr;
  ASSERT_OK(cudaSetDevice(1));
  ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(int)));
  ASSERT_OK(cudaMemset(memory, 0, sizeof(int)));
  ASSERT_OK(cudaSetDevice(0));
  ASSERT_OK(cudaDeviceEnablePeerAccess(1, 0));
  ASSERT_OK(launch_write(memory));
  ASSERT_OK(cudaDeviceSynchronize());
  ASSERT_OK(cudaDeviceDisablePeerAccess(1));
  ASSERT_OK(launch_write(memory));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

TEST_F(Errors, AResetEndsTheAccessToPeers) {
  ASSERT_OK(cudaDeviceEnablePeerAccess(1, 0));
  ASSERT_OK(cudaDeviceReset());
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
}

TEST_F(Errors, AResetFreesTheMemory) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  void* memory = nullptr;
  cudaMemPool_t pool = nullptr;
  ASSERT_OK(cudaMemGetInfo(&before, &total));
  ASSERT_OK(cudaMalloc(&memory, 1 << 20));
  ASSERT_OK(cudaMallocAsync(&memory, 1 << 20, nullptr));
  ASSERT_OK(cudaThreadExit());
  ASSERT_OK(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(after, before);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  std::uint64_t used = 99;
  ASSERT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  ASSERT_OK(
      cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u);
}

TEST_F(Errors, TheHeapOfKernelsIsTheDevicesUntilItIsReset) {
  constexpr int kThreads = 40;
  constexpr unsigned long long kBytes = 1 << 20;
  const auto taken = [&](void** pointers) {
    unsigned long long bytes = kBytes;
    void* arguments[] = {&pointers, &bytes};
    EXPECT_OK(
        cudaLaunchKernel(symbol(take), 1, kThreads, arguments, 0, nullptr));
    EXPECT_OK(cudaDeviceSynchronize());
    return kThreads - std::count(pointers, pointers + kThreads, nullptr);
  };
  const auto pinned = [] {
    void** memory = nullptr;
    EXPECT_OK(cudaMallocHost(
        reinterpret_cast<void**>(&memory), kThreads * sizeof(void*)));
    return memory;
  };
  void** const pointers = pinned();
  void** const others = pinned();
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
  std::size_t limit = 0;
  EXPECT_OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT_EQ(limit, 64u << 20);
  EXPECT_EQ(taken(pointers), 40);
  EXPECT_EQ(taken(others), 24) << "of the 64 MB 24 are left";
  // The size is fixed once a kernel has used the heap.
  EXPECT_EQ(
      cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 << 20),
      cudaErrorInvalidValue);
  // The other device has a heap of its own, of the default size.
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_EQ(taken(others), 8);
  ASSERT_OK(cudaSetDevice(0));
  ASSERT_OK(cudaDeviceReset());
  EXPECT_OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT_EQ(limit, 8u << 20);
  // What the heap gave before is no memory any more.
  void** behind = pointers;
  void* arguments[] = {&behind};
  EXPECT_OK(
      cudaLaunchKernel(symbol(write_behind), 1, 1, arguments, 0, nullptr));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  ASSERT_OK(cudaDeviceReset());
  EXPECT_EQ(taken(others), 8);
  EXPECT_OK(cudaFreeHost(pointers));
  EXPECT_OK(cudaFreeHost(others));
}

TEST_F(Errors, ALimitBeyondTheDevicesMemoryIsRefused) {
  EXPECT_EQ(
      cudaDeviceSetLimit(cudaLimitMallocHeapSize, SIZE_MAX),
      cudaErrorMemoryAllocation);
}

} // namespace
} // namespace accelerator::cudart::testing
