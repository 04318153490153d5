// Transforms are work of streams: their order, graphs, devices and threads.
#include <cufft.h>
#include <cufftXt.h>
#include <gtest/gtest.h>

#include <complex>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"
#include "runtime/libraries/fft/testing/naive.h"

namespace accelerator::fft::testing {
namespace {

using blas::testing::Array;
using blas::testing::random;
using C = std::complex<float>;

constexpr int kN = 60;
constexpr std::size_t kBytes = kN * sizeof(C);

class StreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 1), cudaSuccess);
    ASSERT_EQ(cufftPlan1d(&plan, kN, CUFFT_C2C, 1), CUFFT_SUCCESS);
    ASSERT_EQ(cufftSetStream(plan, stream), CUFFT_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  static void expect_transform(
      const std::vector<C>& got,
      const std::vector<C>& of,
      int sign = -1) {
    const auto wanted =
        naive(std::vector<Wide>(of.begin(), of.end()), {kN}, sign);
    for (int i = 0; i < kN; ++i) {
      ASSERT_LE(std::abs(Wide(got[i]) - wanted[i]), 1e-3);
    }
  }

  cudaStream_t stream = nullptr;
  cufftHandle plan = 0;
};

/// A host function that keeps a stream waiting until it is opened.
class Gate {
 public:
  void put(cudaStream_t stream) {
    ASSERT_EQ(
        cudaLaunchHostFunc(
            stream,
            [](void* self) {
              auto& gate = *static_cast<Gate*>(self);
              std::unique_lock<std::mutex> lock(gate.mutex_);
              gate.changed_.wait(lock, [&] { return gate.open_; });
            },
            this),
        cudaSuccess);
  }
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// What a run was given counts, whatever becomes of the plan meanwhile.
TEST_F(StreamTest, WorkWaitsForItsStreamAndOutlivesThePlan) {
  const auto values = random<C>(kN, 1);
  const Array<C> source{std::vector<C>(kN)}, target{std::vector<C>(kN)};
  cudaStream_t other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, 1), cudaSuccess);
  Gate gate;
  gate.put(stream);
  ASSERT_EQ(
      cudaMemcpyAsync(
          source.get(), values.data(), kBytes, cudaMemcpyHostToDevice, stream),
      cudaSuccess);
  ASSERT_EQ(
      cufftExecC2C(
          plan,
          source.get<cufftComplex>(),
          target.get<cufftComplex>(),
          CUFFT_FORWARD),
      CUFFT_SUCCESS);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  // The same plan in another stream does not wait.
  const Array<C> input(values), output{std::vector<C>(kN)};
  ASSERT_EQ(cufftSetStream(plan, other), CUFFT_SUCCESS);
  ASSERT_EQ(
      cufftExecC2C(
          plan,
          input.get<cufftComplex>(),
          output.get<cufftComplex>(),
          CUFFT_INVERSE),
      CUFFT_SUCCESS);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  gate.open();
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  expect_transform(output.values(), values, 1);
  expect_transform(target.values(), values);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

TEST_F(StreamTest, GraphsRepeatTransforms) {
  const Array<C> source{std::vector<C>(kN)}, target{std::vector<C>(kN)};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  // A plan that is made meanwhile disturbs no capture.
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  EXPECT_EQ(cufftPlan1d(&plan, kN, CUFFT_C2C, 1), CUFFT_SUCCESS);
  EXPECT_EQ(cufftSetStream(plan, stream), CUFFT_SUCCESS);
  EXPECT_EQ(
      cufftExecC2C(
          plan,
          source.get<cufftComplex>(),
          target.get<cufftComplex>(),
          CUFFT_FORWARD),
      CUFFT_SUCCESS);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1U);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(target.values(), std::vector<C>(kN));
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  for (const unsigned seed : {3U, 4U}) {
    const auto values = random<C>(kN, seed);
    ASSERT_EQ(
        cudaMemcpy(source.get(), values.data(), kBytes, cudaMemcpyHostToDevice),
        cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    expect_transform(target.values(), values);
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

// One plan for all, and plans of their own, of many sizes.
TEST_F(StreamTest, ManyThreadsCanUseIt) {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (unsigned round = 0; round < 40; ++round) {
        const auto values = random<C>(kN, number * 100 + round);
        const Array<C> data(values);
        ASSERT_EQ(
            cufftExecC2C(
                plan,
                data.get<cufftComplex>(),
                data.get<cufftComplex>(),
                CUFFT_FORWARD),
            CUFFT_SUCCESS);
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        expect_transform(data.values(), values);
        cufftHandle own = 0;
        const int size = 1 + static_cast<int>(number * 13 + round);
        ASSERT_EQ(cufftPlan1d(&own, size, CUFFT_C2C, 1), CUFFT_SUCCESS);
        const Array<C> ones{std::vector<C>(size, C(1))};
        ASSERT_EQ(
            cufftExecC2C(
                own,
                ones.get<cufftComplex>(),
                ones.get<cufftComplex>(),
                CUFFT_INVERSE),
            CUFFT_SUCCESS);
        ASSERT_NEAR(ones.values()[0].real(), size, 1e-3);
        ASSERT_EQ(cufftDestroy(own), CUFFT_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
}

TEST_F(StreamTest, PlansBelongToTheirDevice) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  if (count < 2) {
    EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
    GTEST_SKIP() << "needs two devices";
  }
  const Array<C> data{std::vector<C>(kN)};
  auto* const pointer = data.get<cufftComplex>();
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(
      cufftExecC2C(plan, pointer, pointer, CUFFT_FORWARD),
      CUFFT_INVALID_DEVICE);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cufftExecC2C(plan, pointer, pointer, CUFFT_FORWARD), CUFFT_SUCCESS);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
}

} // namespace
} // namespace accelerator::fft::testing
