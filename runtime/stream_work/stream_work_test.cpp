// On a device whose memory the host sees, and (hidden_test) on one where it
// does not.
#include "runtime/stream_work/stream_work.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace accelerator::stream_work {
namespace {

bool is_hidden() {
  const char* const devices = std::getenv("TORCH_CUDA_DEVICES");
  return devices != nullptr && std::strstr(devices, "hidden=1") != nullptr;
}

TEST(StreamWork, RunsWhereTheHostSeesTheMemory) {
  bool ran = false;
  testing::internal::CaptureStderr();
  const cudaError_t error = enqueue("work", nullptr, [&] { ran = true; });
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(error, is_hidden() ? cudaErrorNotSupported : cudaSuccess);
  EXPECT_EQ(ran, !is_hidden());
  EXPECT_EQ(
      said,
      is_hidden()
          ? "torch_cuda: work: needs a device whose memory the host sees\n"
          : "");
}

TEST(StreamWork, AContextThatIsRefusedIsNotTheProgramsError) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(make_context(), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(make_context(), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_NE(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_NE(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(make_context(), cudaSuccess);
  EXPECT_NE(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(StreamWork, FaultsAreTheDevices) {
  const cudaError_t error =
      enqueue_checked("work", nullptr, [] { return cudaErrorIllegalAddress; });
  if (is_hidden()) {
    EXPECT_EQ(error, cudaErrorNotSupported);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return;
  }
  EXPECT_EQ(error, cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

} // namespace
} // namespace accelerator::stream_work
