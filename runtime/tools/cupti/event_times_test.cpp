// Records of events with the times when their streams reach them: CUDA 13's
// form, and its headers.
#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"
#include "runtime/tools/cupti/testing/trace.h"

static_assert(CUPTI_API_VERSION >= 130000, "the headers are another CUDA's");

namespace accelerator::cupti::testing {
namespace {

using namespace accelerator::cudart::testing;

class EventTimes : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    ASSERT_OK(cudaEventCreate(&event));
  }
  void TearDown() override {
    EXPECT_CUPTI(cuptiActivityEnableCudaEventDeviceTimestamps(0));
    EXPECT_OK(cudaEventDestroy(event));
    Runtime::TearDown();
  }
  static std::uint64_t now() {
    std::uint64_t time = 0;
    EXPECT_CUPTI(cuptiGetTimestamp(&time));
    return time;
  }

  OwnStream stream;
  cudaEvent_t event = nullptr;
};

TEST_F(EventTimes, AreThoseOfTheStream) {
  ASSERT_CUPTI(cuptiActivityEnableCudaEventDeviceTimestamps(1));
  Gate gate;
  Trace trace({CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_RUNTIME});
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaEventRecord(event, stream));
  const std::uint64_t before = now(); // the stream is held back until here
  gate.open();
  ASSERT_OK(cudaEventSynchronize(event));
  const std::uint64_t after = now();
  const Records records = trace.records();
  ASSERT_EQ(records.events.size(), 1u);
  const CUpti_ActivityCudaEvent2& found = records.events[0];
  EXPECT_GE(found.deviceTimestamp, before);
  EXPECT_LE(found.deviceTimestamp, after);
  EXPECT_EQ(found.deviceId, 0u);
  const auto calls = calls_of(records.calls, "cudaEventRecord");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(found.correlationId, calls[0].correlationId);
  std::uint32_t id = 0;
  EXPECT_CUPTI(cuptiGetStreamId(nullptr, stream, &id));
  EXPECT_EQ(found.streamId, id);
}

TEST_F(EventTimes, AreThereOnlyWhereTheyAreWanted) {
  Trace trace({CUPTI_ACTIVITY_KIND_CUDA_EVENT});
  ASSERT_OK(cudaEventRecord(event, stream));
  const Records records = trace.records();
  ASSERT_EQ(records.events.size(), 1u);
  EXPECT_EQ(records.events[0].deviceTimestamp, 0u);
}

TEST_F(EventTimes, AreNotThereInAGraph) {
  ASSERT_CUPTI(cuptiActivityEnableCudaEventDeviceTimestamps(1));
  Trace trace({CUPTI_ACTIVITY_KIND_CUDA_EVENT});
  cudaGraph_t graph = nullptr;
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaEventRecord(event, stream));
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 1;
  ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 0u);
  EXPECT_OK(cudaGraphDestroy(graph));
  const Records records = trace.records();
  ASSERT_EQ(records.events.size(), 1u);
  EXPECT_EQ(records.events[0].deviceTimestamp, 0u);
}

} // namespace
} // namespace accelerator::cupti::testing
