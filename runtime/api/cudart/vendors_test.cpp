// Devices of two libraries in one process: two fake ones, which run no code,
// and a simulated one (TORCH_CUDA_DEVICES, in BUILD.bazel).
#include <numeric>
#include <string>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

constexpr int kFake = 0;
constexpr int kOtherFake = 1;
constexpr int kSim = 2;
constexpr int kDevices = 3;

class Vendors : public Runtime {};

std::vector<int> numbers(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

void choose(int device) {
  ASSERT_OK(cudaSetDevice(device));
}

TEST_F(Vendors, AreNumberedInOneSequence) {
  int count = 0;
  ASSERT_OK(cudaGetDeviceCount(&count));
  ASSERT_EQ(count, kDevices);
  std::vector<std::string> names, places;
  for (int device = 0; device < kDevices; ++device) {
    cudaDeviceProp properties{};
    ASSERT_OK(cudaGetDeviceProperties(&properties, device));
    names.emplace_back(properties.name);
    char place[32];
    ASSERT_OK(cudaDeviceGetPCIBusId(place, sizeof(place), device));
    places.emplace_back(place);
    int found = -1;
    EXPECT_OK(cudaDeviceGetByPCIBusId(&found, place));
    EXPECT_EQ(found, device) << place;
  }
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "Fake device", "Fake device", "cudasim sm_80"}));
}

TEST_F(Vendors, GiveEachOtherTheirBytes) {
  const std::vector<int> values = numbers(1000);
  for (int from = 0; from < kDevices; ++from) {
    choose(from);
    OnDevice source(values);
    for (int to = 0; to < kDevices; ++to) {
      choose(to);
      OnDevice target(values.size());
      // In a stream of either side, and of one that has no part in it.
      for (int of = 0; of < kDevices; ++of) {
        choose(of);
        OwnStream stream;
        ASSERT_OK(cudaMemsetAsync(target.data(), 0, target.bytes(), stream));
        ASSERT_OK(cudaMemcpyAsync(
            target.data(),
            source.data(),
            source.bytes(),
            cudaMemcpyDefault,
            stream));
        ASSERT_OK(cudaStreamSynchronize(stream));
        EXPECT_EQ(target.get(), values) << from << " to " << to << " in " << of;
      }
      ASSERT_OK(cudaMemcpyPeer(
          target.data(), to, source.data(), from, source.bytes()));
      EXPECT_EQ(target.get(), values);
    }
  }
}

TEST_F(Vendors, GiveEachOtherPlanes) {
  choose(kFake);
  OnDevice source(numbers(6 * 5));
  choose(kSim);
  OnDevice target(std::vector<int>(8 * 5, -1));
  ASSERT_OK(cudaMemcpy2D(
      target.data(),
      8 * sizeof(int),
      source.data(),
      6 * sizeof(int),
      3 * sizeof(int),
      5,
      cudaMemcpyDeviceToDevice));
  const std::vector<int> found = target.get();
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; column < 8; ++column) {
      EXPECT_EQ(
          found[static_cast<std::size_t>(row * 8 + column)],
          column < 3 ? row * 6 + column + 1 : -1);
    }
  }
}

TEST_F(Vendors, AreNoPeers) {
  for (const int other : {kFake, kOtherFake}) {
    int can = -1;
    ASSERT_OK(cudaDeviceCanAccessPeer(&can, kSim, other));
    EXPECT_EQ(can, 0);
    choose(kSim);
    EXPECT_EQ(
        cudaDeviceEnablePeerAccess(other, 0), cudaErrorPeerAccessUnsupported);
    cudaGetLastError();
  }
}

TEST_F(Vendors, WaitForEachOthersEvents) {
  choose(kFake);
  OwnStream first;
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  Gate gate;
  int order = 0;
  ASSERT_OK(cudaLaunchHostFunc(first, Gate::wait, &gate));
  ASSERT_OK(cudaLaunchHostFunc(first, count_up, &order));
  ASSERT_OK(cudaEventRecord(event, first));
  choose(kSim);
  OwnStream second;
  ASSERT_OK(cudaStreamWaitEvent(second, event, 0));
  int seen = -1;
  struct Look {
    int* order;
    int* seen;
  } look{&order, &seen};
  ASSERT_OK(cudaLaunchHostFunc(
      second,
      [](void* data) {
        const auto* where = static_cast<Look*>(data);
        *where->seen = *where->order;
      },
      &look));
  EXPECT_EQ(cudaStreamQuery(second), cudaErrorNotReady);
  cudaGetLastError();
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(second));
  EXPECT_EQ(seen, 1);
  ASSERT_OK(cudaEventDestroy(event));
}

TEST_F(Vendors, SayWhichKernelADeviceDoesNotRun) {
  choose(kFake);
  int* data = nullptr;
  ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&data), 4 * sizeof(int)));
  int amount = 1, count = 4;
  void* arguments[] = {&data, &amount, &count};
  for (const char* expected : {"add", ""}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(
        cudaLaunchKernel(symbol(add), dim3(1), dim3(4), arguments, 0, nullptr),
        cudaErrorNoKernelImageForDevice);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.empty(), *expected == '\0') << said; // once is enough
    EXPECT_NE(said.find(expected), std::string::npos) << said;
  }
  // The device is at fault (no_code_test.cpp), and no other.
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNoKernelImageForDevice);
  ASSERT_OK(cudaDeviceReset());
  OnDevice values(4);
  EXPECT_EQ(values.get(), std::vector<int>(4));
  choose(kSim);
  OnDevice others(std::vector<int>(4, 1));
  launch_add(others.data(), 1, 4);
  EXPECT_EQ(others.get(), std::vector<int>(4, 2));
}

TEST_F(Vendors, UseThePinnedMemoryOfAll) {
  choose(kFake);
  Pinned values(4, 1);
  choose(kSim);
  launch_add(values.data(), 2, 4);
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(values.get(), std::vector<int>(4, 3));
  choose(kFake);
}

TEST_F(Vendors, HaveTheTimeBetweenEvents) {
  for (int device = 0; device < kDevices; ++device) {
    choose(device);
    cudaEvent_t start = nullptr, end = nullptr;
    ASSERT_OK(cudaEventCreate(&start));
    ASSERT_OK(cudaEventCreate(&end));
    ASSERT_OK(cudaEventRecord(start));
    ASSERT_OK(cudaEventRecord(end));
    ASSERT_OK(cudaEventSynchronize(end));
    float milliseconds = -1;
    ASSERT_OK(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT_GE(milliseconds, 0);
    ASSERT_OK(cudaEventDestroy(start));
    ASSERT_OK(cudaEventDestroy(end));
  }
}

// What is captured runs on the device that it was captured on.
TEST_F(Vendors, CaptureGraphsOnDevicesThatHaveNone) {
  choose(kFake);
  OwnStream stream;
  OnDevice values(4);
  int runs = 0;
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaMemsetAsync(values.data(), 1, values.bytes(), stream));
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &runs));
  cudaGraph_t graph = nullptr;
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(values.get(), std::vector<int>(4));
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphLaunch(exec, stream));
  ASSERT_OK(cudaGraphLaunch(exec, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(values.get(), std::vector<int>(4, 0x01010101));
  ASSERT_OK(cudaGraphExecDestroy(exec));
  ASSERT_OK(cudaGraphDestroy(graph));
}

} // namespace
} // namespace accelerator::cudart::testing
