// The device's numbers are work of streams: their order, graphs, threads, and
// memory that is not there.
#include <cuda_runtime_api.h>
#include <curand.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "runtime/libraries/rand/testing/handle.h"

namespace accelerator::rand::testing {
namespace {

constexpr std::size_t kCount = 1000;

std::vector<unsigned int> expected(std::size_t count) {
  const Handle generator(Place::kHost, CURAND_RNG_PSEUDO_XORWOW);
  std::vector<unsigned int> values(count);
  EXPECT_EQ(
      curandGenerate(generator, values.data(), count), CURAND_STATUS_SUCCESS);
  return values;
}

std::vector<unsigned int> part(
    const std::vector<unsigned int>& values,
    std::size_t number) {
  const auto begin =
      values.begin() + static_cast<std::ptrdiff_t>(number * kCount);
  return {begin, begin + kCount};
}

class StreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(
        curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_XORWOW),
        CURAND_STATUS_SUCCESS);
    ASSERT_EQ(curandSetStream(generator, stream), CURAND_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }

  cudaStream_t stream = nullptr;
  curandGenerator_t generator = nullptr;
};

// What a call was given counts, whatever becomes of the generator meanwhile.
TEST_F(StreamTest, WorkWaitsForItsStreamAndOutlivesTheGenerator) {
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false;
  } gate;
  ASSERT_EQ(
      cudaLaunchHostFunc(
          stream,
          [](void* data) {
            auto& its = *static_cast<Gate*>(data);
            std::unique_lock<std::mutex> lock(its.mutex);
            its.changed.wait(lock, [&] { return its.is_open; });
          },
          &gate),
      cudaSuccess);
  Room<unsigned int> first(Place::kDevice, kCount);
  Room<unsigned int> second(Place::kDevice, kCount);
  EXPECT_EQ(
      curandGenerate(generator, first.get(), kCount), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(
      curandGenerate(generator, second.get(), kCount), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(
      curandSetPseudoRandomGeneratorSeed(generator, 5), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
  {
    const std::lock_guard<std::mutex> lock(gate.mutex);
    gate.is_open = true;
  }
  gate.changed.notify_all();
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const auto all = expected(2 * kCount);
  EXPECT_EQ(first.values(), part(all, 0));
  EXPECT_EQ(second.values(), part(all, 1));
}

// The state is the device's, so that replays do not repeat themselves.
TEST_F(StreamTest, ReplaysOfAGraphGoOn) {
  Room<unsigned int> room(Place::kDevice, kCount);
  ASSERT_EQ(curandGenerateSeeds(generator), CURAND_STATUS_SUCCESS);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(
      curandGenerate(generator, room.get(), kCount), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  const auto all = expected(3 * kCount);
  for (std::size_t number = 0; number < 3; ++number) {
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(room.values(), part(all, number));
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
}

TEST_F(StreamTest, ManyThreadsCanUseOneGenerator) {
  constexpr std::size_t kThreads = 4;
  std::vector<std::vector<unsigned int>> got(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      Room<unsigned int> room(Place::kDevice, kCount);
      EXPECT_EQ(
          curandGenerate(generator, room.get(), kCount), CURAND_STATUS_SUCCESS);
      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      got[number] = room.values();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  // Each has a part of its own, in whatever order.
  const auto all = expected(kThreads * kCount);
  std::set<std::vector<unsigned int>> parts;
  for (std::size_t number = 0; number < kThreads; ++number) {
    parts.insert(part(all, number));
  }
  EXPECT_EQ(std::set<std::vector<unsigned int>>(got.begin(), got.end()), parts);
  EXPECT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
}

TEST_F(StreamTest, MemoryThatIsNotThereFailsTheCall) {
  Room<float> room(Place::kDevice, kCount);
  std::vector<float> host(kCount);
  EXPECT_EQ(
      curandGenerateUniform(generator, room.get(), kCount + 1),
      CURAND_STATUS_LAUNCH_FAILURE);
  EXPECT_EQ(
      curandGenerateUniform(generator, host.data(), kCount),
      CURAND_STATUS_LAUNCH_FAILURE);
  EXPECT_EQ(
      curandGenerateUniform(generator, nullptr, kCount),
      CURAND_STATUS_LAUNCH_FAILURE);
  EXPECT_EQ(
      curandGenerateUniform(generator, room.get(), ~std::size_t{0}),
      CURAND_STATUS_LAUNCH_FAILURE);
  EXPECT_EQ(
      curandGenerateUniform(generator, room.get(), kCount),
      CURAND_STATUS_SUCCESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
}

TEST_F(StreamTest, AnErrorFromBeforeIsTold) {
  Room<float> room(Place::kDevice, kCount);
  EXPECT_NE(cudaSetDevice(1000), cudaSuccess);
  EXPECT_EQ(
      curandGenerateUniform(generator, room.get(), kCount),
      CURAND_STATUS_PREEXISTING_FAILURE);
  EXPECT_NE(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(
      curandGenerateUniform(generator, room.get(), kCount),
      CURAND_STATUS_SUCCESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
}

} // namespace
} // namespace accelerator::rand::testing
