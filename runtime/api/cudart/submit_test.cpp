// Work that a vendor's operators give to streams, on a device that takes it
// into a stream of its own, and on one that does not (TORCH_CUDA_DEVICES, in
// BUILD.bazel).
#include <atomic>
#include <cstdlib>
#include <string>

#include "runtime/api/cudart/testing/support.h"
#include "runtime/core/machine/capabilities_api.h"
#include "runtime/core/streams/work/submit_api.h"

namespace accelerator::cudart::testing {
namespace {

struct Work {
  int* value;
  int wanted; // what the value is before
  std::atomic<int> calls{0};
  std::atomic<bool> native{false};
  std::atomic<bool> in_order{true};
  accel_status answer = ACCEL_OK;
};

accel_status call(void* native_stream, void* data) {
  Work& work = *static_cast<Work*>(data);
  ++work.calls;
  work.native = native_stream != nullptr;
  // A native stream has not done what is in front yet.
  work.in_order =
      work.in_order && (native_stream != nullptr || *work.value == work.wanted);
  return work.answer;
}

bool submits() {
  std::uint64_t capabilities = 0;
  EXPECT_EQ(accelerator_device_capabilities(0, &capabilities), 0);
  return (capabilities & ACCEL_CAP_SUBMIT) != 0;
}

class Submit : public Runtime {};

TEST_F(Submit, IsCalledOnceInTheOrderOfTheStream) {
  OwnStream stream;
  OnDevice values(1 << 20);
  ASSERT_OK(cudaMemsetAsync(values.data(), 1, values.bytes(), stream));
  Work work{values.data() + (1 << 20) - 1, 0x01010101};
  ASSERT_OK(accelerator_stream_submit(stream, call, &work));
  ASSERT_OK(cudaMemsetAsync(values.data(), 2, values.bytes(), stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(work.calls, 1);
  EXPECT_EQ(work.native, submits());
  EXPECT_TRUE(work.in_order);
}

TEST_F(Submit, IsCalledInEachRunOfAGraph) {
  OwnStream stream;
  OnDevice values(4);
  Work work{values.data(), 0x01010101};
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaMemsetAsync(values.data(), 1, values.bytes(), stream));
  ASSERT_OK(accelerator_stream_submit(stream, call, &work));
  cudaGraph_t graph = nullptr;
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(work.calls, 0);
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int run = 1; run <= 3; ++run) {
    ASSERT_OK(cudaGraphLaunch(exec, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(work.calls, run);
  }
  EXPECT_TRUE(work.in_order);
  ASSERT_OK(cudaGraphExecDestroy(exec));
  ASSERT_OK(cudaGraphDestroy(graph));
}

TEST_F(Submit, IsRefusedForStreamsThatThereAreNot) {
  Work work{nullptr, 0};
  cudaStream_t none = reinterpret_cast<cudaStream_t>(0x1234);
  EXPECT_EQ(
      accelerator_stream_submit(none, call, &work),
      cudaErrorInvalidResourceHandle);
  EXPECT_EQ(work.calls, 0);
}

TEST_F(Submit, TheLibraryOfADeviceIsNamed) {
  const char* name = nullptr;
  const char* file = nullptr;
  ASSERT_EQ(accelerator_device_library(0, &name, &file), 0);
  EXPECT_EQ(name, std::string(submits() ? "fake_groups" : "fake"));
  EXPECT_NE(std::string(file).find("libaccel_fake"), std::string::npos) << file;
  EXPECT_EQ(accelerator_device_library(1, &name, &file), -1);
  EXPECT_EQ(accelerator_device_library(-1, &name, &file), -1);
}

} // namespace
} // namespace accelerator::cudart::testing
