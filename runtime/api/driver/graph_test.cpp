// Graphs and how streams are captured into them.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

class Graph : public ContextTest {
 protected:
  /// A graph that fills `array` with 5 and copies its first half to the second.
  CUgraph captured() {
    CUgraph graph = nullptr;
    EXPECT_EQ(
        cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32Async(array.address(), 5, 2, stream), CUDA_SUCCESS);
    EXPECT_EQ(
        cuMemcpyDtoDAsync(array.address(2), array.address(), 8, stream),
        CUDA_SUCCESS);
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    return graph;
  }

  const Stream stream;
  const Array<int> array{4};
};

TEST_F(Graph, CapturedWorkRunsWhenTheGraphIsLaunched) {
  CUgraphExec exec = nullptr;
  CUgraph graph = captured();
  EXPECT_EQ(array.values(), std::vector<int>(4)) << "nothing has run yet";
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS); // exec does not need it
  EXPECT_EQ(cuGraphUpload(exec, stream), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cuMemsetD32(array.address(), 0, 4), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(array.values(), std::vector<int>(4, 5));
  }
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_NE(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
}

TEST_F(Graph, AStreamKnowsWhetherItIsCaptured) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);

  ASSERT_EQ(
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
      CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(cuMemsetD32Async(array.address(), 5, 2, stream), CUDA_SUCCESS);
  cuuint64_t id = 0;
  CUgraph graph = nullptr, same = nullptr;
  const CUgraphNode* dependencies = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(
      cuStreamGetCaptureInfo(
          stream, &status, &id, &graph, &dependencies, &count),
      CUDA_SUCCESS);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);
  const CUgraphNode fill = dependencies[0];
  ASSERT_EQ(cuStreamEndCapture(stream, &same), CUDA_SUCCESS);
  EXPECT_EQ(same, graph);
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphGetNodes(graph, &node, &count), CUDA_SUCCESS);
  EXPECT_EQ(node, fill);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
}

TEST_F(Graph, TheLegacyStreamIsNotCaptured) {
  EXPECT_EQ(
      cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(Graph, WaitingForACapturedStreamBreaksTheCapture) {
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  ASSERT_EQ(
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
      CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(
      cuStreamEndCapture(stream, &graph),
      CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

TEST_F(Graph, AThreadMayTakePartInUnsafeCallsWhenItSaysSo) {
  CUgraph graph = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL) << "what it was before";
  EXPECT_EQ(cuMemAlloc(&memory, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  CUdeviceptr refused = 0;
  EXPECT_EQ(cuMemAlloc(&refused, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(
      cuStreamEndCapture(stream, &graph),
      CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(
      cuThreadExchangeStreamCaptureMode(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, AnotherThreadMustNotEndACapture) {
  CUgraph graph = nullptr;
  CUresult result = CUDA_SUCCESS;
  ASSERT_EQ(
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  std::thread([&] { result = cuStreamEndCapture(stream, &graph); }).join();
  EXPECT_EQ(result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(Graph, NodesAreListed) {
  CUgraph graph = captured();
  std::size_t count = 0;
  ASSERT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  CUgraphNode nodes[4] = {};
  // "If numNodes is higher than the actual number of nodes, the remaining
  // entries will be set to NULL".
  nodes[2] = nodes[3] = reinterpret_cast<CUgraphNode>(&count);
  count = 4;
  ASSERT_EQ(cuGraphGetNodes(graph, nodes, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_NE(nodes[0], nullptr);
  EXPECT_NE(nodes[0], nodes[1]);
  EXPECT_EQ(nodes[2], nullptr);
  EXPECT_EQ(nodes[3], nullptr);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, ACloneLivesOnWithoutItsOriginal) {
  CUgraph graph = captured();
  CUgraph clone = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  EXPECT_NE(clone, graph);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, clone, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(array.values(), std::vector<int>(4, 5));
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
}

TEST_F(Graph, AnEmptyGraphCanBeLaunched) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  std::size_t count = 9;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0u);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, ParametersTellHowInstantiationWent) {
  CUgraphExec exec = nullptr;
  CUgraph graph = captured();
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  ASSERT_EQ(
      cuGraphInstantiateWithParams(&exec, graph, &parameters), CUDA_SUCCESS);
  EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  EXPECT_EQ(parameters.hErrNode_out, nullptr);
  EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(array.values(), std::vector<int>(4, 5));
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(
      cuGraphInstantiateWithParams(&exec, graph, nullptr),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(Graph, AUserObjectLivesAsLongAsAGraphNeedsIt) {
  int destroyed = 0;
  const CUhostFn destroy = [](void* count) { ++*static_cast<int*>(count); };
  CUuserObject object = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(
      cuUserObjectCreate(
          &object, &destroyed, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
      CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRetain(object, 2), CUDA_SUCCESS); // three
  EXPECT_EQ(
      cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE),
      CUDA_SUCCESS);
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 1);
  ASSERT_EQ(
      cuUserObjectCreate(
          &object, &destroyed, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
      CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 2);
  EXPECT_EQ(
      cuUserObjectCreate(&object, &destroyed, destroy, 1, 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuGraphRetainUserObject(nullptr, object, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, AGraphIsDrawn) {
  const std::string path = ::testing::TempDir() + "cudasim_graph.dot";
  CUgraph graph = captured();
  ASSERT_EQ(cuGraphDebugDotPrint(graph, path.c_str(), 0), CUDA_SUCCESS);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("digraph"), std::string::npos);
  EXPECT_NE(text.find("->"), std::string::npos) << "the copy needs the fill";
  EXPECT_EQ(std::remove(path.c_str()), 0);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

// With the types of CUDA 12 and of CUDA 11, by the names that programs get.
TEST_F(Graph, InstancesAreUpdated) {
  const auto fill = [&](int value, std::size_t count) {
    CUgraph graph = nullptr;
    EXPECT_EQ(
        cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
        CUDA_SUCCESS);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(
          cuMemsetD32Async(
              array.address(), static_cast<unsigned>(value), 4, stream),
          CUDA_SUCCESS);
    }
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    return graph;
  };
  CUgraph graph = fill(1, 1), more = fill(2, 1), two = fill(3, 2);
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo result{};
  EXPECT_EQ(cuGraphExecUpdate(exec, more, &result), CUDA_SUCCESS);
  EXPECT_EQ(result.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_EQ(
      cuGraphExecUpdate(exec, two, &result),
      CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(result.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(array.values(), std::vector<int>(4, 2));

  using First = CUresult (*)(
      CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*);
  void* first = nullptr;
  ASSERT_EQ(
      cuGetProcAddress("cuGraphExecUpdate", &first, 11040, 0, nullptr),
      CUDA_SUCCESS);
  CUgraphNode node = nullptr;
  CUgraphExecUpdateResult outcome = CU_GRAPH_EXEC_UPDATE_ERROR;
  EXPECT_EQ(
      reinterpret_cast<First>(first)(exec, graph, &node, &outcome),
      CUDA_SUCCESS);
  EXPECT_EQ(outcome, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_EQ(
      reinterpret_cast<First>(first)(exec, two, &node, &outcome),
      CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(outcome, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(array.values(), std::vector<int>(4, 1));
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  for (CUgraph one : {graph, more, two}) {
    EXPECT_EQ(cuGraphDestroy(one), CUDA_SUCCESS);
  }
}

} // namespace
} // namespace accelerator::driver::testing
