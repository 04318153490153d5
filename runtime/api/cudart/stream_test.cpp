// Order and time: streams, events, captures and graphs, with work that the host
// does, so that no kernel is needed.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace {

// A host function that waits until the test lets it go on.
class Gate {
 public:
  void open() {
    promise_.set_value();
  }
  static void wait(void* gate) {
    static_cast<Gate*>(gate)->future_.wait();
  }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
};

struct Note {
  std::vector<int>* notes;
  int number;
  static void write(void* data) {
    const auto* note = static_cast<Note*>(data);
    note->notes->push_back(note->number);
  }
};

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(
        cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(
        cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&other_event), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(first), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(second), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(other_event), cudaSuccess);
    cudaGetLastError();
  }

  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t event = nullptr;
  cudaEvent_t other_event = nullptr;
};

TEST_F(Streams, RunBesideTheHostAndEachOther) {
  Gate gate;
  ASSERT_EQ(cudaLaunchHostFunc(first, Gate::wait, &gate), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(first), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(first), cudaSuccess);
}

TEST_F(Streams, WaitForEventsOfOthers) {
  Gate gate;
  std::vector<int> notes;
  Note one{&notes, 1};
  Note two{&notes, 2};
  ASSERT_EQ(cudaLaunchHostFunc(first, Gate::wait, &gate), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(first, Note::write, &one), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(second, Note::write, &two), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  gate.open();
  ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(notes, (std::vector<int>{1, 2}));
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
}

TEST_F(Streams, AreDoneInTheMomentInWhichTheirLastEventIs) {
  for (int i = 0; i < 20000; ++i) {
    ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
    if (i % 2 == 0) {
      ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);
      ASSERT_EQ(cudaStreamQuery(first), cudaSuccess) << "after " << i;
    } else {
      ASSERT_EQ(cudaStreamSynchronize(first), cudaSuccess);
      ASSERT_EQ(cudaEventQuery(event), cudaSuccess) << "after " << i;
    }
  }
}

TEST_F(Streams, TheDefaultStreamWaitsForBlockingStreamsOnly) {
  Gate gate;
  Gate other_gate;
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  std::vector<int> notes;
  Note one{&notes, 1};
  Note two{&notes, 2};
  ASSERT_EQ(cudaLaunchHostFunc(first, Gate::wait, &other_gate), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(blocking, Gate::wait, &gate), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(blocking, Note::write, &one), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, Note::write, &two), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(notes, (std::vector<int>{1, 2}));
  other_gate.open();
  EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess); // it uses the gate
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
}

// A copy in the default stream waits for what is in the blocking streams when
// it is given, and not for what comes into them later.
TEST_F(Streams, ACopyWaitsForWhatIsBeforeIt) {
  Gate gate;
  Gate later_gate;
  cudaStream_t before = nullptr;
  cudaStream_t later = nullptr;
  ASSERT_EQ(cudaStreamCreate(&before), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&later), cudaSuccess);
  void* from = nullptr;
  ASSERT_EQ(cudaMalloc(&from, 1), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(before, Gate::wait, &gate), cudaSuccess);
  auto copied = std::async(std::launch::async, [&] {
    char to = 0;
    return cudaMemcpy(&to, from, 1, cudaMemcpyDeviceToHost);
  });
  // The stream is not idle once the copy has joined the order.
  while (cudaStreamQuery(nullptr) == cudaSuccess) {
    std::this_thread::yield();
  }
  EXPECT_EQ(cudaLaunchHostFunc(later, Gate::wait, &later_gate), cudaSuccess);
  EXPECT_EQ(
      copied.wait_for(std::chrono::milliseconds(0)),
      std::future_status::timeout);
  gate.open();
  EXPECT_EQ(
      copied.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  later_gate.open();
  EXPECT_EQ(copied.get(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess); // it uses the gates
  EXPECT_EQ(cudaStreamDestroy(before), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(later), cudaSuccess);
  EXPECT_EQ(cudaFree(from), cudaSuccess);
}

TEST_F(Streams, EventsTakeTheTimeBetweenThem) {
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  Gate gate;
  ASSERT_EQ(cudaLaunchHostFunc(first, Gate::wait, &gate), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(other_event, first), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(
      cudaEventElapsedTime(&milliseconds, event, other_event),
      cudaErrorNotReady);
  gate.open();
  ASSERT_EQ(cudaEventSynchronize(other_event), cudaSuccess);
  EXPECT_EQ(
      cudaEventElapsedTime(&milliseconds, event, other_event), cudaSuccess);
  EXPECT_GT(milliseconds, 0);
}

TEST_F(Streams, ACaptureOverTwoStreamsBecomesAGraphThatCanRunAgain) {
  std::vector<int> notes;
  Note one{&notes, 1};
  Note two{&notes, 2};
  Note three{&notes, 3};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(
      cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(first, Note::write, &one), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(second, Note::write, &two), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(other_event, second), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(first, other_event, 0), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(first, Note::write, &three), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
  EXPECT_TRUE(notes.empty());
  std::size_t edges = 0;
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, &edges), cudaSuccess);
  EXPECT_EQ(edges, 3u);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, first), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, second), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(notes.size(), 6u);
  EXPECT_EQ(notes[0], 1);
  EXPECT_EQ(notes[3], 1);
  EXPECT_EQ(notes[5], 3);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Streams, AnUpdateChangesWhatAGraphDoes) {
  std::vector<int> notes;
  Note one{&notes, 1};
  Note two{&notes, 2};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaHostNodeParams parameters{Note::write, &one};
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(
      cudaGraphAddHostNode(&node, graph, nullptr, 0, &parameters), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  parameters.userData = &two;
  ASSERT_EQ(cudaGraphHostNodeSetParams(node, &parameters), cudaSuccess);
  cudaGraphExecUpdateResultInfo result{};
  ASSERT_EQ(cudaGraphExecUpdate(exec, graph, &result), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, first), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(first), cudaSuccess);
  EXPECT_EQ(notes, std::vector<int>{2});
  ASSERT_EQ(cudaGraphAddEmptyNode(&node, graph, nullptr, 0), cudaSuccess);
  EXPECT_EQ(
      cudaGraphExecUpdate(exec, graph, &result),
      cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Streams, WhatBreaksACaptureIsToldAtItsEnd) {
  cudaGraph_t graph = nullptr;
  void* memory = nullptr;
  ASSERT_EQ(
      cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 10), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(
      cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureInvalidated);

  ASSERT_EQ(
      cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 10), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, first), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory, 0, 10, second), cudaSuccess);
  EXPECT_EQ(
      cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

} // namespace
