// Launches of kernels, what is known about them, and occupancy.
#include <cstdint>
#include <numeric>
#include <string>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

extern "C" {
// What code for <<<…>>> calls; declared by headers of nvcc only.
unsigned __cudaPushCallConfiguration(
    dim3 grid,
    dim3 block,
    std::size_t shared_bytes,
    cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(
    dim3* grid,
    dim3* block,
    std::size_t* shared_bytes,
    void* stream);
}

namespace accelerator::cudart::testing {
namespace {

std::vector<int> first_numbers(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<int> reversed(int count) {
  const std::vector<int> numbers = first_numbers(count);
  return {numbers.rbegin(), numbers.rend()};
}

cudaFuncAttributes attributes_of(const void* kernel) {
  cudaFuncAttributes attributes{};
  EXPECT_OK(cudaFuncGetAttributes(&attributes, kernel));
  return attributes;
}

class Launches : public Runtime {
 protected:
  cudaDeviceProp properties() {
    cudaDeviceProp p{};
    EXPECT_OK(cudaGetDeviceProperties(&p, 0));
    return p;
  }
};
class Functions : public Launches {};
class Occupancy : public Launches {
 protected:
  int blocks(const void* kernel, int threads, std::size_t shared = 0) {
    int number = -1;
    EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &number, kernel, threads, shared));
    return number;
  }
};

TEST_F(Launches, RunAKernelOverTheWholeGrid) {
  OnDevice values(first_numbers(100));
  int* data = values.data();
  int amount = 5;
  int count = 99;
  void* arguments[] = {&data, &amount, &count};
  ASSERT_OK(cudaLaunchKernel(
      symbol(add), dim3(2, 2), dim3(13, 2), arguments, 0, nullptr));
  // Only blockIdx.x and threadIdx.x count: 26 values, each four times. Lanes
  // race, so only whether a value is touched is told.
  const std::vector<int> found = values.get();
  EXPECT_NE(found[25], 25);
  EXPECT_EQ(found[26], 26);
  ASSERT_OK(cudaMemset(data, 0, values.bytes()));
  launch_add(data, 5, 99);
  std::vector<int> expected(100, 5);
  expected[99] = 0;
  EXPECT_EQ(values.get(), expected);
}

TEST_F(Launches, TakeTheArgumentsWhenTheyAreCalled) {
  OwnStream stream;
  Gate gate;
  Pinned values(32);
  int* data = values.data();
  int amount = 1;
  int count = 32;
  void* arguments[] = {&data, &amount, &count};
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaLaunchKernel(symbol(add), 1, 32, arguments, 0, stream));
  amount = 100;
  EXPECT_EQ(values[0], 0);
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(values.get(), std::vector<int>(32, 1));
}

TEST_F(Launches, GiveDynamicSharedMemory) {
  OnDevice values(first_numbers(64));
  int* data = values.data();
  void* arguments[] = {&data};
  ASSERT_OK(cudaLaunchKernel(
      symbol(reverse), 1, 64, arguments, 64 * sizeof(int), nullptr));
  EXPECT_EQ(values.get(), reversed(64));
}

TEST_F(Launches, WithAConfigurationAreTheSame) {
  OwnStream stream;
  Pinned values(10);
  int* data = values.data();
  int amount = 4;
  int count = 10;
  void* arguments[] = {&data, &amount, &count};
  cudaLaunchAttribute priority{};
  priority.id = cudaLaunchAttributePriority;
  priority.val.priority = -1;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(2);
  configuration.blockDim = dim3(5);
  configuration.stream = stream;
  configuration.attrs = &priority;
  configuration.numAttrs = 1;
  ASSERT_OK(cudaLaunchKernelExC(&configuration, symbol(add), arguments));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(values.get(), std::vector<int>(10, 4));
  EXPECT_EQ(
      cudaLaunchKernelExC(nullptr, symbol(add), arguments),
      cudaErrorInvalidValue);
  configuration.blockDim = dim3(0);
  EXPECT_EQ(
      cudaLaunchKernelExC(&configuration, symbol(add), arguments),
      cudaErrorInvalidConfiguration);
}

TEST_F(Launches, CooperateAcrossBlocks) {
  constexpr int kCount = 4 * 32;
  OnDevice values(first_numbers(kCount));
  OnDevice copy(kCount);
  int* data = values.data();
  int* scratch = copy.data();
  void* arguments[] = {&data, &scratch};
  ASSERT_OK(cudaLaunchCooperativeKernel(
      symbol(rotate), 4, 32, arguments, 0, nullptr));
  std::vector<int> expected = first_numbers(kCount);
  std::rotate(expected.begin(), expected.begin() + 1, expected.end());
  EXPECT_EQ(values.get(), expected);

  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(4);
  configuration.blockDim = dim3(32);
  configuration.attrs = &cooperative;
  configuration.numAttrs = 1;
  ASSERT_OK(cudaLaunchKernelExC(&configuration, symbol(rotate), arguments));
  std::rotate(expected.begin(), expected.begin() + 1, expected.end());
  EXPECT_EQ(values.get(), expected);
}

TEST_F(Launches, ThatCooperateHaveToFitOnTheDeviceAtOnce) {
  int most = 0;
  ASSERT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &most, symbol(rotate), 32, 0));
  OnDevice values(1);
  int* data = values.data();
  void* arguments[] = {&data, &data};
  const unsigned room =
      static_cast<unsigned>(most * properties().multiProcessorCount);
  EXPECT_EQ(
      cudaLaunchCooperativeKernel(
          symbol(rotate), room + 1, 32, arguments, 0, nullptr),
      cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(Launches, AreRefusedWithSizesThatNoDeviceHas) {
  OnDevice values(1);
  int* data = values.data();
  int number = 1;
  void* arguments[] = {&data, &number, &number};
  const auto launch = [&](dim3 grid, dim3 block, std::size_t shared = 0) {
    return cudaLaunchKernel(
        symbol(add), grid, block, arguments, shared, nullptr);
  };
  EXPECT_EQ(launch(0, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1, 65536), 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, dim3(64, 32)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(
      launch(1, 1, properties().sharedMemPerBlock + 1), cudaErrorInvalidValue);
  // A refused launch is no fault: the device goes on.
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_OK(launch(1, 1));
  EXPECT_EQ(values.get(), std::vector<int>{1});
}

TEST_F(Launches, AreRefusedWithoutAKernel) {
  int no_kernel = 0;
  EXPECT_EQ(
      cudaLaunchKernel(&no_kernel, 1, 1, nullptr, 0, nullptr),
      cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(
      cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr),
      cudaErrorInvalidDeviceFunction);
}

TEST_F(Launches, AreRefusedIntoAStreamOfAnotherDevice) {
  OwnStream stream;
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_EQ(
      cudaLaunchKernel(symbol(bump_managed), 1, 1, nullptr, 0, stream),
      cudaErrorInvalidResourceHandle);
}

TEST_F(Launches, KeepConfigurationsOnAStack) {
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(
      __cudaPushCallConfiguration(dim3(1, 2, 3), dim3(4), 5, nullptr), 0u);
  EXPECT_EQ(
      __cudaPushCallConfiguration(dim3(6), dim3(7), 8, cudaStreamPerThread),
      0u);
  EXPECT_OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(grid.x, 6u);
  EXPECT_EQ(block.x, 7u);
  EXPECT_EQ(shared, 8u);
  EXPECT_EQ(stream, cudaStreamPerThread);
  EXPECT_OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(grid.z, 3u);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(
      __cudaPopCallConfiguration(&grid, &block, &shared, &stream),
      cudaErrorMissingConfiguration);
}

TEST_F(Functions, TellTheirMemoryAndTheirThreads) {
  const cudaFuncAttributes plain = attributes_of(symbol(add));
  EXPECT_EQ(plain.sharedSizeBytes, 0u);
  EXPECT_EQ(plain.maxThreadsPerBlock, properties().maxThreadsPerBlock);
  EXPECT_GT(plain.numRegs, 0);
  EXPECT_EQ(plain.constSizeBytes, 0u);
  EXPECT_EQ(plain.ptxVersion, 80);
  EXPECT_EQ(plain.binaryVersion, 80);
  EXPECT_EQ(
      plain.maxDynamicSharedSizeBytes,
      static_cast<int>(properties().sharedMemPerBlock));
  const cudaFuncAttributes limited = attributes_of(symbol(bounded));
  EXPECT_EQ(limited.sharedSizeBytes, kStaticInts * sizeof(int));
  EXPECT_EQ(limited.maxThreadsPerBlock, kMostThreads);
  EXPECT_EQ(
      attributes_of(symbol(look_up)).constSizeBytes, kTableSize * sizeof(int));
  cudaFuncAttributes attributes{};
  EXPECT_EQ(
      cudaFuncGetAttributes(&attributes, nullptr),
      cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaFuncGetAttributes(nullptr, symbol(add)), cudaErrorInvalidValue);
}

TEST_F(Functions, AreNotLaunchedWithMoreThreadsThanTheyAreCompiledFor) {
  OnDevice values(first_numbers(kMostThreads));
  int* data = values.data();
  void* arguments[] = {&data};
  EXPECT_EQ(
      cudaLaunchKernel(
          symbol(bounded), 1, kMostThreads + 1, arguments, 0, nullptr),
      cudaErrorInvalidValue);
  EXPECT_OK(cudaLaunchKernel(
      symbol(bounded), 1, kMostThreads, arguments, 0, nullptr));
  EXPECT_EQ(values.get(), reversed(kMostThreads));
}

TEST_F(Functions, UseMoreSharedMemoryOnceTheyAreLetTo) {
  const cudaDeviceProp p = properties();
  const int more = static_cast<int>(p.sharedMemPerBlock) + 1024;
  OnDevice values(first_numbers(8));
  int* data = values.data();
  void* arguments[] = {&data};
  const auto launch = [&] {
    return cudaLaunchKernel(
        symbol(reverse),
        1,
        8,
        arguments,
        static_cast<std::size_t>(more),
        nullptr);
  };
  EXPECT_EQ(launch(), cudaErrorInvalidValue);
  ASSERT_OK(cudaFuncSetAttribute(
      symbol(reverse), cudaFuncAttributeMaxDynamicSharedMemorySize, more));
  EXPECT_EQ(attributes_of(symbol(reverse)).maxDynamicSharedSizeBytes, more);
  EXPECT_OK(launch());
  EXPECT_EQ(values.get(), reversed(8));
  EXPECT_EQ(
      cudaFuncSetAttribute(
          symbol(reverse),
          cudaFuncAttributeMaxDynamicSharedMemorySize,
          static_cast<int>(p.sharedMemPerBlockOptin) + 1),
      cudaErrorInvalidValue);
  EXPECT_OK(cudaFuncSetAttribute(
      symbol(reverse),
      cudaFuncAttributePreferredSharedMemoryCarveout,
      cudaSharedmemCarveoutMaxShared));
  EXPECT_EQ(attributes_of(symbol(reverse)).preferredShmemCarveout, 100);
  EXPECT_EQ(
      cudaFuncSetAttribute(
          symbol(reverse), cudaFuncAttributePreferredSharedMemoryCarveout, 101),
      cudaErrorInvalidValue);
  // Taken back, it is as before.
  ASSERT_OK(cudaFuncSetAttribute(
      symbol(reverse), cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
  EXPECT_EQ(launch(), cudaErrorInvalidValue);
}

TEST_F(Functions, TakePreferencesForCaches) {
  EXPECT_OK(cudaFuncSetCacheConfig(symbol(add), cudaFuncCachePreferL1));
  EXPECT_OK(
      cudaFuncSetSharedMemConfig(symbol(add), cudaSharedMemBankSizeFourByte));
  int no_kernel = 0;
  EXPECT_EQ(
      cudaFuncSetCacheConfig(&no_kernel, cudaFuncCachePreferL1),
      cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(
      cudaFuncSetSharedMemConfig(&no_kernel, cudaSharedMemBankSizeFourByte),
      cudaErrorInvalidDeviceFunction);
}

TEST_F(Functions, HaveANameAndParameters) {
  const char* name = nullptr;
  ASSERT_OK(cudaFuncGetName(&name, symbol(add)));
  EXPECT_EQ(std::string(name), "_ZN11accelerator6cudart7testing3addEPiii");
  EXPECT_EQ(cudaFuncGetName(nullptr, symbol(add)), cudaErrorInvalidValue);
  std::size_t offset = 0;
  std::size_t size = 0;
  ASSERT_OK(cudaFuncGetParamInfo(symbol(add), 0, &offset, &size));
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(size, sizeof(int*));
  ASSERT_OK(cudaFuncGetParamInfo(symbol(add), 2, &offset, &size));
  EXPECT_EQ(offset, sizeof(int*) + sizeof(int));
  EXPECT_EQ(size, sizeof(int));
  EXPECT_OK(cudaFuncGetParamInfo(symbol(add), 1, &offset, nullptr));
  EXPECT_EQ(
      cudaFuncGetParamInfo(symbol(add), 3, &offset, &size),
      cudaErrorInvalidValue);
}

TEST_F(Functions, AreLaunchedByTheirHandles) {
  cudaFunction_t handle = nullptr;
  ASSERT_OK(cudaGetFuncBySymbol(&handle, symbol(add)));
  OnDevice values(4);
  int* data = values.data();
  int amount = 9;
  int count = 4;
  void* arguments[] = {&data, &amount, &count};
  ASSERT_OK(cudaLaunchKernel(
      reinterpret_cast<const void*>(handle), 1, 4, arguments, 0, nullptr));
  EXPECT_EQ(values.get(), std::vector<int>(4, 9));
  int no_kernel = 0;
  EXPECT_EQ(
      cudaGetFuncBySymbol(&handle, &no_kernel), cudaErrorInvalidDeviceFunction);
}

TEST_F(Occupancy, IsLimitedByThreads) {
  const cudaDeviceProp p = properties();
  EXPECT_EQ(blocks(symbol(add), 1024), p.maxThreadsPerMultiProcessor / 1024);
  EXPECT_EQ(blocks(symbol(add), 32), p.maxBlocksPerMultiProcessor);
  EXPECT_EQ(blocks(symbol(add), 1025), 0);
  int number = 0;
  EXPECT_EQ(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, symbol(add), 0, 0),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          nullptr, symbol(add), 32, 0),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, &number, 32, 0),
      cudaErrorInvalidDeviceFunction);
}

TEST_F(Occupancy, IsLimitedBySharedMemory) {
  const cudaDeviceProp p = properties();
  const std::size_t each = 32 << 10;
  const int expected = static_cast<int>(
      p.sharedMemPerMultiprocessor / (each + p.reservedSharedMemPerBlock));
  EXPECT_EQ(blocks(symbol(add), 32, each), expected);
  int number = -1;
  EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &number, symbol(add), 32, each, cudaOccupancyDisableCachingOverride));
  EXPECT_EQ(number, expected);
  EXPECT_EQ(
      cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
          &number, symbol(add), 32, each, 64),
      cudaErrorInvalidValue);
}

TEST_F(Occupancy, TellsTheSharedMemoryThatLeavesRoomForBlocks) {
  for (const int wanted : {1, 2, 5, 16}) {
    std::size_t most = 0;
    ASSERT_OK(cudaOccupancyAvailableDynamicSMemPerBlock(
        &most, symbol(bounded), wanted, 32));
    EXPECT_GE(blocks(symbol(bounded), 32, most), wanted);
    if (most + kStaticInts * sizeof(int) <
        properties().sharedMemPerBlockOptin) {
      EXPECT_LT(blocks(symbol(bounded), 32, most + 1), wanted);
    }
  }
  std::size_t most = 0;
  EXPECT_EQ(
      cudaOccupancyAvailableDynamicSMemPerBlock(&most, symbol(add), 1000, 32),
      cudaErrorInvalidValue);
}

TEST_F(Launches, DevicePrintfAnswersHowManyArgumentsItHad) {
  OnDevice result(1);
  int* address = result.data();
  void* arguments[] = {&address};
  ::testing::internal::CaptureStdout();
  EXPECT_OK(
      cudaLaunchKernel(symbol(print_shared), 1, 32, arguments, 0, nullptr));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "5 hi!\n");
  EXPECT_EQ(result.get(), std::vector<int>{2});
}

TEST_F(Launches, BarriersOfAWarpMeetWhereverTheyStand) {
  OnDevice values(32);
  int* address = values.data();
  void* arguments[] = {&address};
  EXPECT_OK(cudaLaunchKernel(symbol(meet), 1, 32, arguments, 0, nullptr));
  std::vector<int> expected(32, 0);
  std::fill_n(expected.begin(), 16, 42);
  EXPECT_EQ(values.get(), expected);
}

TEST_F(Launches, SharedMemoryBeyondAllMemoryIsRefused) {
  OnDevice values(kMostThreads);
  int* address = values.data();
  void* arguments[] = {&address};
  // The second is none at all together with what the kernel has statically.
  for (const std::size_t bytes :
       {SIZE_MAX, SIZE_MAX - kStaticInts * sizeof(int) + 1}) {
    EXPECT_EQ(
        cudaLaunchKernel(symbol(bounded), 1, 1, arguments, bytes, nullptr),
        cudaErrorInvalidValue);
    int blocks = -1;
    EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, symbol(bounded), 1, bytes));
    EXPECT_EQ(blocks, 0);
  }
}

} // namespace
} // namespace accelerator::cudart::testing
