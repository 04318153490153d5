// Launching kernels and host functions.
#include <atomic>
#include <cstring>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

class Launch : public KernelTest {
 protected:
  unsigned value() const {
    return place.values()[0];
  }

  const CUfunction store = kernel("store");
  const CUfunction count = kernel("count");
  const Array<unsigned> place{1};
  CUdeviceptr address = place.address();
  unsigned stored = 77;
  void* store_arguments[2] = {&address, &stored};
  void* count_arguments[1] = {&address};
};

TEST_F(Launch, ParametersComeOneByOneOrPacked) {
  const auto launch = [&](void** arguments, void** extra) {
    return cuLaunchKernel(
        store, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, extra);
  };
  ASSERT_EQ(launch(store_arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(value(), 77u);

  char buffer[12];
  const unsigned other = 88;
  std::memcpy(buffer, &address, sizeof(address));
  std::memcpy(buffer + sizeof(address), &other, sizeof(other));
  std::size_t size = sizeof(buffer);
  void* packed[] = {
      CU_LAUNCH_PARAM_BUFFER_POINTER,
      buffer,
      CU_LAUNCH_PARAM_BUFFER_SIZE,
      &size,
      CU_LAUNCH_PARAM_END};
  ASSERT_EQ(launch(nullptr, packed), CUDA_SUCCESS);
  EXPECT_EQ(value(), 88u);
  EXPECT_EQ(launch(store_arguments, packed), CUDA_ERROR_INVALID_VALUE)
      << "both kinds at once";
  size = 8;
  EXPECT_EQ(launch(nullptr, packed), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launch, EveryThreadOfTheGridRuns) {
  ASSERT_EQ(
      cuLaunchKernel(
          count, 3, 4, 5, 7, 2, 3, 0, nullptr, count_arguments, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(value(), 3u * 4 * 5 * 7 * 2 * 3);
}

TEST_F(Launch, SizesThatNoDeviceHasAreRefused) {
  const auto launch = [&](unsigned grid, unsigned block, unsigned shared) {
    return cuLaunchKernel(
        count,
        grid,
        1,
        1,
        block,
        1,
        1,
        shared,
        nullptr,
        count_arguments,
        nullptr);
  };
  EXPECT_EQ(launch(0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuLaunchKernel(
          kernel("bounded"),
          1,
          1,
          1,
          65,
          1,
          1,
          0,
          nullptr,
          count_arguments,
          nullptr),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuLaunchKernel(
          nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, count_arguments, nullptr),
      CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(value(), 0u);
}

TEST_F(Launch, KernelsOfAnUnloadedModuleAreGone) {
  CUmodule other = nullptr;
  CUfunction gone = nullptr;
  ASSERT_EQ(cuModuleLoadData(&other, kKernels), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&gone, other, "count"), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleUnload(other), CUDA_SUCCESS);
  EXPECT_EQ(
      cuLaunchKernel(
          gone, 1, 1, 1, 1, 1, 1, 0, nullptr, count_arguments, nullptr),
      CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Launch, ACooperativeGridHasToFitTheDevice) {
  int multiprocessors = 0, blocks = 0;
  ASSERT_EQ(
      cuDeviceGetAttribute(
          &multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 1024, 0),
      CUDA_SUCCESS);
  const auto most = static_cast<unsigned>(multiprocessors * blocks);
  const auto launch = [&](unsigned grid, unsigned threads) {
    return cuLaunchCooperativeKernel(
        count, grid, 1, 1, threads, 1, 1, 0, nullptr, count_arguments);
  };
  EXPECT_EQ(launch(6, 32), CUDA_SUCCESS);
  EXPECT_EQ(value(), 6u * 32);
  EXPECT_EQ(launch(most + 1, 1024), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_F(Launch, AttributesComeWithTheConfiguration) {
  CUlaunchConfig configuration{};
  configuration.gridDimX = 2;
  configuration.gridDimY = configuration.gridDimZ = 1;
  configuration.blockDimX = 5;
  configuration.blockDimY = configuration.blockDimZ = 1;
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  const auto launch = [&] {
    return cuLaunchKernelEx(&configuration, count, count_arguments, nullptr);
  };
  EXPECT_EQ(launch(), CUDA_SUCCESS);
  EXPECT_EQ(value(), 10u);
  configuration.gridDimX = 1 << 20;
  EXPECT_EQ(launch(), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  configuration.gridDimX = 2;
  configuration.attrs = nullptr;
  EXPECT_EQ(launch(), CUDA_ERROR_INVALID_VALUE);
  configuration.numAttrs = 0;
  EXPECT_EQ(launch(), CUDA_SUCCESS);
  EXPECT_EQ(value(), 20u);
  EXPECT_EQ(
      cuLaunchKernelEx(nullptr, count, count_arguments, nullptr),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launch, AStreamOfAnotherDeviceIsRefused) {
  CUcontext other = nullptr;
  CUstream stream = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(
      cuLaunchKernel(
          count, 1, 1, 1, 1, 1, 1, 0, stream, count_arguments, nullptr),
      CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(
      cuLaunchKernel(
          count, 1, 1, 1, 1, 1, 1, 0, stream, count_arguments, nullptr),
      CUDA_ERROR_INVALID_HANDLE)
      << "the stream is destroyed";
}

TEST_F(Launch, HostFunctionsRunInTheOrderOfTheStream) {
  const Stream stream;
  unsigned seen = 0;
  struct Copy {
    const unsigned* from;
    unsigned* to;
  };
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, sizeof(unsigned)), CUDA_SUCCESS);
  auto* arrived = static_cast<unsigned*>(pinned);
  Copy copy{arrived, &seen};
  ASSERT_EQ(
      cuLaunchKernel(
          count, 2, 1, 1, 32, 1, 1, 0, stream, count_arguments, nullptr),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuMemcpyDtoHAsync(arrived, address, sizeof(unsigned), stream),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuLaunchHostFunc(
          stream,
          [](void* data) {
            const auto& task = *static_cast<Copy*>(data);
            *task.to = *task.from;
          },
          &copy),
      CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(seen, 64u);
  EXPECT_EQ(
      cuLaunchHostFunc(stream, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing
