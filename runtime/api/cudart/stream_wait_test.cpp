// The wait that torch's side asks for: what it waits for, and what it leaves
// alone.
#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/api/cudart/testing/support.h"
#include "runtime/core/graphs/stream_wait_api.h"

namespace accelerator::cudart::testing {
namespace {

// Work that takes a while, and says that it is done.
void finish_late(void* done) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  *static_cast<std::atomic<bool>*>(done) = true;
}

class StreamWait : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    ASSERT_OK(cudaStreamCreate(&blocking));
    ASSERT_OK(cudaStreamCreateWithFlags(&alone, cudaStreamNonBlocking));
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(alone), cudaSuccess);
    Runtime::TearDown();
  }

  cudaStream_t blocking = nullptr;
  cudaStream_t alone = nullptr;
  std::atomic<bool> done{false};
};

TEST_F(StreamWait, IsForTheStreamsOwnWork) {
  for (cudaStream_t stream : {cudaStream_t{}, blocking, alone}) {
    done = false;
    ASSERT_OK(cudaLaunchHostFunc(stream, finish_late, &done));
    EXPECT_EQ(accelerator_stream_wait(stream), cudaSuccess);
    EXPECT_TRUE(done);
  }
}

TEST_F(StreamWait, OfTheDefaultStreamIsForTheBlockingStreamsToo) {
  ASSERT_OK(cudaLaunchHostFunc(blocking, finish_late, &done));
  EXPECT_EQ(accelerator_stream_wait(nullptr), cudaSuccess);
  EXPECT_TRUE(done);
  // And when it has work of its own.
  done = false;
  ASSERT_OK(cudaLaunchHostFunc(nullptr, [](void*) {}, nullptr));
  ASSERT_OK(cudaLaunchHostFunc(blocking, finish_late, &done));
  EXPECT_EQ(accelerator_stream_wait(nullptr), cudaSuccess);
  EXPECT_TRUE(done);
}

TEST_F(StreamWait, IsNotForOtherStreams) {
  std::atomic<bool> released{false};
  std::atomic<bool>* const data[] = {&released, &done};
  const auto wait_for_release = [](void* pair) {
    auto* const* flags = static_cast<std::atomic<bool>* const*>(pair);
    while (!*flags[0]) {
      std::this_thread::yield();
    }
    *flags[1] = true;
  };
  ASSERT_OK(cudaLaunchHostFunc(
      alone, wait_for_release, const_cast<std::atomic<bool>**>(data)));
  EXPECT_EQ(accelerator_stream_wait(nullptr), cudaSuccess);
  EXPECT_EQ(accelerator_stream_wait(blocking), cudaSuccess);
  EXPECT_FALSE(done);
  released = true;
  EXPECT_EQ(accelerator_stream_wait(alone), cudaSuccess);
  EXPECT_TRUE(done);
}

TEST_F(StreamWait, EndsACaptureOfTheStreamAndOfNoOther) {
  ASSERT_OK(cudaStreamBeginCapture(alone, cudaStreamCaptureModeGlobal));
  EXPECT_EQ(accelerator_stream_wait(blocking), cudaSuccess);
  EXPECT_EQ(accelerator_stream_wait(alone), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(
      cudaStreamEndCapture(alone, &graph), cudaErrorStreamCaptureInvalidated);
}

} // namespace
} // namespace accelerator::cudart::testing
