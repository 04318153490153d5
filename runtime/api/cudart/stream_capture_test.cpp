// What is told of captures, and what they forbid.
#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

// A stream that is being captured; the graph is destroyed with it.
class Captures : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    ASSERT_OK(cudaStreamCreate(&blocking));
  }
  void TearDown() override {
    EXPECT_OK(cudaStreamDestroy(blocking));
    Runtime::TearDown();
  }
  void begin(cudaStream_t which) {
    ASSERT_OK(cudaStreamBeginCapture(which, cudaStreamCaptureModeRelaxed));
  }
  void end(cudaStream_t which) {
    cudaGraph_t graph = nullptr;
    ASSERT_OK(cudaStreamEndCapture(which, &graph));
    ASSERT_OK(cudaGraphDestroy(graph));
  }
  static cudaStreamCaptureStatus status(cudaStream_t which) {
    auto found = cudaStreamCaptureStatusInvalidated;
    EXPECT_OK(cudaStreamIsCapturing(which, &found));
    return found;
  }
  // The nodes that the next work of a captured stream would depend on.
  static std::vector<cudaGraphNode_t> last_nodes(cudaStream_t which) {
    cudaStreamCaptureStatus found{};
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
    EXPECT_OK(cudaStreamGetCaptureInfo_v2(
        which, &found, nullptr, nullptr, &nodes, &count));
    return {nodes, nodes + count};
  }

  OwnStream stream;
  cudaStream_t blocking = nullptr;
};

TEST_F(Captures, AreToldOfTheirStream) {
  EXPECT_EQ(status(stream), cudaStreamCaptureStatusNone);
  begin(stream);
  EXPECT_EQ(status(stream), cudaStreamCaptureStatusActive);
  cudaStreamCaptureStatus found{};
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 99;
  ASSERT_OK(cudaStreamGetCaptureInfo_v3(
      stream, &found, &id, &graph, &nodes, &edges, &count));
  EXPECT_EQ(found, cudaStreamCaptureStatusActive);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(count, 0u);
  int calls = 0;
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &calls));
  const auto last = last_nodes(stream);
  ASSERT_EQ(last.size(), 1u);
  cudaGraphNodeType type{};
  EXPECT_OK(cudaGraphNodeGetType(last[0], &type));
  EXPECT_EQ(type, cudaGraphNodeTypeHost);
  cudaGraph_t result = nullptr;
  ASSERT_OK(cudaStreamEndCapture(stream, &result));
  EXPECT_EQ(result, graph);
  EXPECT_EQ(calls, 0);
  EXPECT_OK(cudaGraphDestroy(result));
  EXPECT_EQ(status(stream), cudaStreamCaptureStatusNone);
  EXPECT_EQ(cudaStreamIsCapturing(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamEndCapture(stream, &result), cudaErrorIllegalState);
}

TEST_F(Captures, OfABlockingStreamSurviveAQuestionToTheDefaultStream) {
  begin(blocking);
  cudaStreamCaptureStatus found{};
  EXPECT_EQ(
      cudaStreamIsCapturing(nullptr, &found), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(
      cudaStreamGetCaptureInfo_v2(
          cudaStreamLegacy, &found, nullptr, nullptr, nullptr, nullptr),
      cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(status(blocking), cudaStreamCaptureStatusActive);
  end(blocking);
}

TEST_F(Captures, OfABlockingStreamEndWithWorkInTheDefaultStream) {
  OnDevice values(1);
  begin(blocking);
  EXPECT_EQ(
      cudaMemsetAsync(values.data(), 0, 4, nullptr),
      cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(status(blocking), cudaStreamCaptureStatusInvalidated);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(
      cudaStreamEndCapture(blocking, &graph),
      cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
}

// What they were recorded in before that is no answer any more.
TEST_F(Captures, LeaveEventsThatMarkNothing) {
  cudaEvent_t events[2] = {};
  for (cudaEvent_t& event : events) {
    ASSERT_OK(cudaEventCreate(&event));
    ASSERT_OK(cudaEventRecord(event, stream));
  }
  const auto [first, last] = events;
  float milliseconds = -1;
  ASSERT_OK(cudaStreamSynchronize(stream));
  ASSERT_OK(cudaEventElapsedTime(&milliseconds, first, last));
  milliseconds = -1;

  begin(stream);
  ASSERT_OK(cudaEventRecord(last, stream));
  end(stream);
  for (cudaEvent_t start : {first, last}) {
    for (cudaEvent_t stop : {first, last}) {
      if (start == last || stop == last) {
        EXPECT_EQ(
            cudaEventElapsedTime(&milliseconds, start, stop),
            cudaErrorCapturedEvent);
        EXPECT_EQ(milliseconds, -1);
      }
    }
  }
  EXPECT_EQ(cudaEventQuery(last), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaEventSynchronize(last), cudaErrorCapturedEvent);
  for (cudaStream_t waiting :
       {cudaStream_t{stream}, blocking, cudaStream_t{}}) {
    EXPECT_EQ(cudaStreamWaitEvent(waiting, last, 0), cudaErrorCapturedEvent);
  }
  begin(stream); // another capture, which the event has no part in
  EXPECT_EQ(
      cudaStreamWaitEvent(stream, last, 0), cudaErrorStreamCaptureIsolation);
  cudaGraph_t none = nullptr;
  EXPECT_EQ(
      cudaStreamEndCapture(stream, &none), cudaErrorStreamCaptureInvalidated);

  // Recorded again, it marks something again.
  ASSERT_OK(cudaEventRecord(last, stream));
  EXPECT_OK(cudaStreamWaitEvent(blocking, last, 0));
  EXPECT_OK(cudaEventSynchronize(last));
  EXPECT_OK(cudaEventQuery(last));
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, first, last));
  EXPECT_GE(milliseconds, 0);

  begin(stream);
  ASSERT_OK(cudaEventRecord(last, stream));
  EXPECT_EQ(
      cudaEventElapsedTime(&milliseconds, first, last), cudaErrorCapturedEvent);
  EXPECT_EQ(status(stream), cudaStreamCaptureStatusInvalidated);
  EXPECT_EQ(
      cudaStreamEndCapture(stream, &none), cudaErrorStreamCaptureInvalidated);
  for (cudaEvent_t event : events) {
    EXPECT_OK(cudaEventDestroy(event));
  }
}

// An event of a node is recorded by the graph's run.
TEST_F(Captures, LeaveEventsToBeRecordedByTheGraph) {
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  float milliseconds = -1;
  ASSERT_OK(cudaEventCreate(&event));
  begin(stream);
  ASSERT_OK(cudaEventRecord(event, stream)); // which would mark nothing
  ASSERT_OK(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  ASSERT_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  ASSERT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, event, event));
  EXPECT_EQ(milliseconds, 0);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaEventDestroy(event));
}

TEST_F(Captures, AreLeftByStreamsThatAreDestroyed) {
  OnDevice values(1);
  for (const bool is_joined : {true, false}) {
    cudaStream_t fork = nullptr;
    cudaEvent_t event = nullptr;
    cudaGraph_t graph = nullptr;
    ASSERT_OK(cudaStreamCreateWithFlags(&fork, cudaStreamNonBlocking));
    ASSERT_OK(cudaEventCreate(&event));
    begin(stream);
    ASSERT_OK(cudaEventRecord(event, stream));
    ASSERT_OK(cudaStreamWaitEvent(fork, event, 0));
    ASSERT_OK(cudaMemsetAsync(values.data(), 0, 4, fork));
    if (is_joined) {
      ASSERT_OK(cudaEventRecord(event, fork));
      ASSERT_OK(cudaStreamWaitEvent(stream, event, 0));
    }
    EXPECT_OK(cudaStreamDestroy(fork));
    EXPECT_EQ(status(stream), cudaStreamCaptureStatusActive);
    EXPECT_EQ(
        cudaStreamEndCapture(stream, &graph),
        is_joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
    if (is_joined) {
      EXPECT_OK(cudaGraphDestroy(graph));
    }
    EXPECT_OK(cudaEventDestroy(event));
  }
}

TEST_F(Captures, CannotBeWaitedFor) {
  begin(stream);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(status(stream), cudaStreamCaptureStatusInvalidated);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(
      cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Captures, AreNotOfTheLegacyStreamAndNotTwice) {
  EXPECT_EQ(
      cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed),
      cudaErrorStreamCaptureUnsupported);
  begin(stream);
  EXPECT_EQ(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
      cudaErrorIllegalState);
  end(stream);
  EXPECT_EQ(
      cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(9)),
      cudaErrorInvalidValue);
}

TEST_F(Captures, GoOnBehindOtherNodesWhenTold) {
  int calls = 0;
  begin(stream);
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &calls));
  auto first = last_nodes(stream);
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &calls));
  const auto second = last_nodes(stream);
  // Set: the third depends on the first only.
  ASSERT_OK(cudaStreamUpdateCaptureDependencies(
      stream, first.data(), 1, cudaStreamSetCaptureDependencies));
  EXPECT_EQ(last_nodes(stream), first);
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &calls));
  auto third = last_nodes(stream);
  // Add: the fourth depends on the second and the third.
  auto also = second;
  ASSERT_OK(cudaStreamUpdateCaptureDependencies(
      stream, also.data(), 1, cudaStreamAddCaptureDependencies));
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &calls));
  const auto fourth = last_nodes(stream);
  const auto before = [](cudaGraphNode_t node) {
    cudaGraphNode_t nodes[4] = {};
    std::size_t count = 4;
    EXPECT_OK(cudaGraphNodeGetDependencies(node, nodes, &count));
    std::vector<cudaGraphNode_t> found(nodes, nodes + count);
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_EQ(before(third[0]), first);
  std::vector<cudaGraphNode_t> both = {second[0], third[0]};
  std::sort(both.begin(), both.end());
  EXPECT_EQ(before(fourth[0]), both);
  EXPECT_EQ(
      cudaStreamUpdateCaptureDependencies(stream, also.data(), 1, 2),
      cudaErrorInvalidValue);
  end(stream);
  EXPECT_EQ(
      cudaStreamUpdateCaptureDependencies(stream, nullptr, 0, 0),
      cudaErrorIllegalState);
}

TEST_F(Captures, GoIntoAGraphThatIsThere) {
  int calls = 0;
  cudaGraph_t graph = nullptr;
  cudaGraph_t other = nullptr;
  cudaGraph_t result = nullptr;
  cudaGraphNode_t root = nullptr;
  cudaGraphNode_t stranger = nullptr;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  ASSERT_OK(cudaGraphCreate(&other, 0));
  ASSERT_OK(cudaGraphAddEmptyNode(&root, graph, nullptr, 0));
  ASSERT_OK(cudaGraphAddEmptyNode(&stranger, other, nullptr, 0));
  EXPECT_EQ(
      cudaStreamBeginCaptureToGraph(
          stream, graph, &stranger, nullptr, 1, cudaStreamCaptureModeRelaxed),
      cudaErrorInvalidValue);
  ASSERT_OK(cudaStreamBeginCaptureToGraph(
      stream, graph, &root, nullptr, 1, cudaStreamCaptureModeRelaxed));
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &calls));
  ASSERT_OK(cudaStreamEndCapture(stream, &result));
  EXPECT_EQ(result, graph);
  std::size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(cudaGraphNodeGetDependentNodes(root, nullptr, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(other));
  EXPECT_EQ(
      cudaStreamBeginCaptureToGraph(
          stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed),
      cudaErrorInvalidValue);
}

TEST_F(Captures, ForbidUnsafeCallsByTheModeOfTheThread) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ASSERT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal); // what threads begin with
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 10)); // this thread is relaxed
  ASSERT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaFree(memory), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(
      cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_OK(cudaFree(memory));
  mode = static_cast<cudaStreamCaptureMode>(9);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaThreadExchangeStreamCaptureMode(nullptr), cudaErrorInvalidValue);
}

TEST_F(Captures, OfKernelsAndMemoryRunAsOneGraph) {
  Pinned result(4);
  int* values = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  begin(stream);
  ASSERT_OK(cudaMallocAsync(reinterpret_cast<void**>(&values), 16, stream));
  ASSERT_OK(cudaMemsetAsync(values, 0, 16, stream));
  int amount = 3;
  int count = 4;
  void* arguments[] = {&values, &amount, &count};
  ASSERT_OK(cudaLaunchKernel(symbol(add), 1, 4, arguments, 0, stream));
  ASSERT_OK(cudaMemcpyAsync(
      result.data(), values, 16, cudaMemcpyDeviceToHost, stream));
  ASSERT_OK(cudaFreeAsync(values, stream));
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  ASSERT_OK(cudaGraphInstantiateWithFlags(
      &exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  unsigned long long flags = 0;
  EXPECT_OK(cudaGraphExecGetFlags(exec, &flags));
  EXPECT_EQ(flags, cudaGraphInstantiateFlagAutoFreeOnLaunch + 0ull);
  for (int run = 0; run < 2; ++run) {
    result[0] = 0;
    ASSERT_OK(cudaGraphLaunch(exec, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(result.get(), std::vector<int>(4, 3));
  }
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

} // namespace
} // namespace accelerator::cudart::testing
