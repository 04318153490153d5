// Dependencies in graphs with data of their edges: what CUDA 12 has as the
// second form of its functions, and CUDA 13 as the only one.
#include <cstring>
#include <vector>

#include "runtime/api/cudart/testing/support.h"
#include "runtime/api/cudart/versions.h"

namespace accelerator::cudart::testing {
namespace {

using GraphEdges = Runtime;

#if CUDART_VERSION >= 13000
constexpr auto capture_info = cudaStreamGetCaptureInfo;
#else
constexpr auto capture_info = cudaStreamGetCaptureInfo_v3;
#endif

cudaGraphNode_t empty_node(cudaGraph_t graph) {
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  return node;
}

TEST_F(GraphEdges, EdgesHaveData) {
  cudaGraph_t graph = nullptr;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t first = empty_node(graph);
  const cudaGraphNode_t second = empty_node(graph);
  const cudaGraphEdgeData ordinary{};
  ASSERT_OK(ACCEL_SECOND(cudaGraphAddDependencies)(
      graph, &first, &second, &ordinary, 1));
  cudaGraphEdgeData data;
  std::memset(&data, 0x5a, sizeof(data));
  cudaGraphNode_t from = nullptr;
  cudaGraphNode_t to = nullptr;
  std::size_t count = 1;
  ASSERT_OK(ACCEL_SECOND(cudaGraphGetEdges)(graph, &from, &to, &data, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(from, first);
  EXPECT_EQ(to, second);
  EXPECT_EQ(std::memcmp(&data, &ordinary, sizeof(data)), 0);
  cudaGraphNode_t neighbour = nullptr;
  count = 1;
  ASSERT_OK(ACCEL_SECOND(cudaGraphNodeGetDependencies)(
      second, &neighbour, &data, &count));
  EXPECT_EQ(neighbour, first);
  count = 1;
  ASSERT_OK(ACCEL_SECOND(cudaGraphNodeGetDependentNodes)(
      first, &neighbour, nullptr, &count));
  EXPECT_EQ(neighbour, second);
  ASSERT_OK(ACCEL_SECOND(cudaGraphRemoveDependencies)(
      graph, &first, &second, nullptr, 1));
  ASSERT_OK(ACCEL_SECOND(cudaGraphGetEdges)(
      graph, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  // These nodes are no kernels, which alone may start early.
  cudaGraphEdgeData programmatic{};
  programmatic.type = cudaGraphDependencyTypeProgrammatic;
  EXPECT_EQ(
      ACCEL_SECOND(cudaGraphAddDependencies)(
          graph, &first, &second, &programmatic, 1),
      cudaErrorInvalidValue);
  ASSERT_OK(ACCEL_SECOND(cudaGraphGetEdges)(
      graph, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_OK(cudaGraphDestroy(graph));
}

TEST_F(GraphEdges, CaptureIsToldWithEdges) {
  cudaStream_t stream = nullptr;
  ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OnDevice values(std::vector<int>(4, 1));
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  ASSERT_OK(cudaMemsetAsync(values.data(), 0, values.bytes(), stream));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  ASSERT_OK(
      capture_info(stream, &status, &id, &graph, &nodes, nullptr, &count));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(count, 1u);
  cudaGraphNode_t node = nodes[0];
  cudaGraphNode_t extra = empty_node(graph);
  EXPECT_OK(ACCEL_SECOND(cudaStreamUpdateCaptureDependencies)(
      stream, &extra, nullptr, 1, cudaStreamAddCaptureDependencies));
  ASSERT_OK(
      capture_info(stream, &status, &id, &graph, &nodes, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(ACCEL_SECOND(cudaStreamUpdateCaptureDependencies)(
      stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaStreamDestroy(stream));
}

} // namespace
} // namespace accelerator::cudart::testing
