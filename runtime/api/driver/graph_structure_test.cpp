// How nodes of graphs hang together, and how graphs come into others.
#include "runtime/api/driver/testing/graph_nodes.h"

// CUDA 13's.
extern "C" {
CUresult cuGraphGetId(CUgraph, unsigned*);
CUresult cuGraphExecGetId(CUgraphExec, unsigned*);
CUresult cuGraphNodeGetContainingGraph(CUgraphNode, CUgraph*);
CUresult cuGraphNodeGetLocalId(CUgraphNode, unsigned*);
CUresult cuGraphNodeGetToolsId(CUgraphNode, unsigned long long*);
}

namespace accelerator::driver::testing {
namespace {

TEST_F(GraphNodes, HaveDependenciesThatChange) {
  const CUgraphNode a = add_empty(), b = add_empty(), c = add_empty({a});
  CUgraphNode node = nullptr;
  const Nodes twice{a, a};
  EXPECT_EQ(
      cuGraphAddEmptyNode(&node, graph, twice.data(), 2),
      CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphAddDependencies(graph, &b, &c, 1), CUDA_SUCCESS);
  std::size_t count = 0;
  ASSERT_EQ(cuGraphGetEdges(graph, nullptr, nullptr, &count), CUDA_SUCCESS);
  ASSERT_EQ(count, 2u);
  Nodes from(2), to(2);
  std::vector<CUgraphEdgeData> data(2, CUgraphEdgeData{1, 1, 1, {}});
  ASSERT_EQ(
      cuGraphGetEdges_v2(graph, from.data(), to.data(), data.data(), &count),
      CUDA_SUCCESS);
  EXPECT_EQ(from, (Nodes{a, b}));
  EXPECT_EQ(to, (Nodes{c, c}));
  EXPECT_EQ(data[1].type, 0);
  from.assign(2, nullptr);
  ASSERT_EQ(cuGraphNodeGetDependencies(c, from.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(from, (Nodes{a, b}));
  ASSERT_EQ(
      cuGraphNodeGetDependencies_v2(c, from.data(), data.data(), &count),
      CUDA_SUCCESS);
  count = 1;
  ASSERT_EQ(cuGraphNodeGetDependentNodes(b, &node, &count), CUDA_SUCCESS);
  EXPECT_EQ(node, c);
  ASSERT_EQ(
      cuGraphNodeGetDependentNodes_v2(a, &node, data.data(), &count),
      CUDA_SUCCESS);
  // These nodes have no blocks to wait for.
  const CUgraphEdgeData programmatic{1, 0, 1, {}};
  EXPECT_EQ(
      cuGraphAddDependencies_v2(graph, &a, &b, &programmatic, 1),
      CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(
      cuGraphRemoveDependencies_v2(graph, &a, &c, nullptr, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphRemoveDependencies(graph, &b, &c, 1), CUDA_SUCCESS);
  EXPECT_EQ(
      cuGraphRemoveDependencies(graph, &b, &c, 1), CUDA_ERROR_INVALID_VALUE);
  count = 3;
  Nodes roots(3);
  ASSERT_EQ(cuGraphGetRootNodes(graph, roots.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(roots, (Nodes{a, b, c}));
  ASSERT_EQ(cuGraphDestroyNode(b), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroyNode(b), CUDA_ERROR_INVALID_VALUE);
  // A circle cannot be instantiated.
  ASSERT_EQ(cuGraphAddDependencies(graph, &a, &c, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddDependencies(graph, &c, &a, 1), CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  EXPECT_EQ(
      cuGraphInstantiateWithParams(&exec, graph, &parameters),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
}

TEST_F(GraphNodes, AreFoundAgain) {
  const CUgraphNode first = add_empty(), second = add_empty({first});
  CUgraph clone = nullptr, inside = nullptr;
  CUgraphNode copy = nullptr, child = nullptr, none = nullptr;
  ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphNodeFindInClone(&copy, second, clone), CUDA_SUCCESS);
  EXPECT_NE(copy, second);
  EXPECT_EQ(
      cuGraphNodeFindInClone(&none, copy, graph), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphNodeGetContainingGraph(copy, &inside), CUDA_SUCCESS);
  EXPECT_EQ(inside, clone);
  ASSERT_EQ(
      cuGraphAddChildGraphNode(&child, graph, nullptr, 0, clone), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphChildGraphNodeGetGraph(child, &inside), CUDA_SUCCESS);
  EXPECT_NE(inside, clone);
  std::size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(inside, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);

  unsigned id = 0, other_id = 0, exec_id = 0, local = 9;
  unsigned long long tools = 0, other_tools = 0;
  EXPECT_EQ(cuGraphNodeGetLocalId(first, &local), CUDA_SUCCESS);
  EXPECT_EQ(local, 0u);
  EXPECT_EQ(cuGraphNodeGetLocalId(child, &local), CUDA_SUCCESS);
  EXPECT_EQ(local, 2u);
  EXPECT_EQ(cuGraphNodeGetToolsId(first, &tools), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeGetToolsId(second, &other_tools), CUDA_SUCCESS);
  EXPECT_NE(tools, other_tools);
  launch();
  EXPECT_EQ(cuGraphGetId(graph, &id), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphGetId(clone, &other_id), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecGetId(exec, &exec_id), CUDA_SUCCESS);
  EXPECT_NE(id, other_id);
  EXPECT_NE(id, exec_id);
  EXPECT_NE(other_id, exec_id);
  EXPECT_EQ(
      cuGraphExecChildGraphNodeSetParams(exec, child, clone), CUDA_SUCCESS);
  end();
  // What a node has goes with it.
  EXPECT_EQ(cuGraphDestroyNode(child), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphGetNodes(inside, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeGetLocalId(copy, &local), CUDA_ERROR_INVALID_VALUE);
}

// A launch into a captured stream becomes a child node, which does what the
// instance would have done.
TEST_F(GraphNodes, AreCapturedWithTheLaunchOfTheirGraph) {
  const Array<int> array(4);
  CUgraphNode fill = nullptr, host = nullptr;
  int called = 0;
  const auto one = fill_of(array.address(), 1, 4);
  ASSERT_EQ(
      cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &one, context),
      CUDA_SUCCESS);
  const CUDA_HOST_NODE_PARAMS counting{count_up, &called};
  ASSERT_EQ(
      cuGraphAddHostNode(&host, graph, &fill, 1, &counting), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  const auto two = fill_of(array.address(), 2, 4);
  ASSERT_EQ(
      cuGraphExecMemsetNodeSetParams(exec, fill, &two, context), CUDA_SUCCESS);
  const auto captured = [&] {
    CUgraph outer = nullptr;
    EXPECT_EQ(
        cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
        CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32Async(array.address(), 9, 4, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32Async(array.address(3), 7, 1, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamEndCapture(stream, &outer), CUDA_SUCCESS);
    return outer;
  };
  const auto run = [&](CUgraph outer) {
    CUgraphExec runs = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&runs, outer, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(runs, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(runs), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(outer), CUDA_SUCCESS);
  };
  CUgraph outer = captured();
  EXPECT_EQ(array.values(), Ints(4)) << "nothing has run yet";
  Nodes nodes(4);
  std::size_t count = nodes.size();
  ASSERT_EQ(cuGraphGetNodes(outer, nodes.data(), &count), CUDA_SUCCESS);
  ASSERT_EQ(count, 3u);
  CUgraphNodeType type{};
  EXPECT_EQ(cuGraphNodeGetType(nodes[1], &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_GRAPH);
  run(outer);
  EXPECT_EQ(array.values(), (Ints{2, 2, 2, 7}));
  EXPECT_EQ(called, 1);
  // A node that is disabled in the instance is so in the capture.
  ASSERT_EQ(cuGraphNodeSetEnabled(exec, fill, 0), CUDA_SUCCESS);
  outer = captured();
  end();
  run(outer);
  EXPECT_EQ(array.values(), (Ints{9, 9, 9, 7}));
  EXPECT_EQ(called, 2);
}

TEST_F(GraphNodes, AreCapturedBehindOthers) {
  const Array<int> array(2);
  const CUgraphNode first = add_empty(), second = add_empty();
  ASSERT_EQ(
      cuStreamBeginCaptureToGraph(
          stream,
          graph,
          &first,
          nullptr,
          1,
          CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      CUDA_SUCCESS);
  CUgraphNode more = second;
  EXPECT_EQ(
      cuStreamUpdateCaptureDependencies(
          stream, &more, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES),
      CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(array.address(), 4, 2, stream), CUDA_SUCCESS);
  EXPECT_EQ(
      cuStreamUpdateCaptureDependencies_v2(
          stream, &more, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
      CUDA_SUCCESS);
  CUgraph same = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream, &same), CUDA_SUCCESS);
  EXPECT_EQ(same, graph);
  Nodes from(2), to(2);
  std::size_t count = 2;
  ASSERT_EQ(
      cuGraphGetEdges(graph, from.data(), to.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(from, (Nodes{first, second}));
  EXPECT_EQ(to[0], to[1]);
  launch();
  end();
  EXPECT_EQ(array.values(), (Ints{4, 4}));
}

} // namespace
} // namespace accelerator::driver::testing
