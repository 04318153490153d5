// What an instantiated graph may become without being instantiated again, and
// how its nodes are known.
#include <utility>
#include <vector>

#include "runtime/api/cudart/testing/graph_updates.h"

namespace accelerator::cudart::testing {
namespace {

TEST_F(GraphUpdates, LookIntoChildGraphs) {
  for (const int depth : {1, 2}) {
    cudaGraph_t one = nullptr, many = nullptr;
    ASSERT_OK(cudaGraphCreate(&one, 0));
    ASSERT_OK(cudaGraphCreate(&many, 0));
    add_count(one, counts[0]);
    for (int i = 0; i < 3; ++i) {
      add_count(many, counts[1]);
    }
    cudaGraph_t outer = nullptr, outer_other = nullptr;
    ASSERT_OK(cudaGraphCreate(&outer, 0));
    ASSERT_OK(cudaGraphCreate(&outer_other, 0));
    cudaGraph_t inner = one, inner_other = many;
    if (depth == 2) {
      add_child(outer, one);
      add_child(outer_other, many);
      inner = outer;
      inner_other = outer_other;
    }
    const cudaGraphNode_t node = add_child(graph, inner);
    const cudaGraphNode_t its = add_child(other, inner_other);
    const cudaGraphExec_t exec = instantiate();
    EXPECT_EQ(update(exec).result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT_EQ(
        cudaGraphExecChildGraphNodeSetParams(exec, node, inner_other),
        cudaErrorInvalidValue);
    counts[0] = counts[1] = 0;
    run(exec);
    EXPECT_EQ(counts[0], 1) << "as it was";
    EXPECT_EQ(counts[1], 0);
    EXPECT_OK(cudaGraphExecDestroy(exec));
    ASSERT_OK(cudaGraphDestroyNode(node));
    ASSERT_OK(cudaGraphDestroyNode(its));
    for (cudaGraph_t made : {one, many, outer, outer_other}) {
      EXPECT_OK(cudaGraphDestroy(made));
    }
  }
}

TEST_F(GraphUpdates, NameTheNodeOfAChildGraph) {
  cudaGraph_t child = nullptr;
  ASSERT_OK(cudaGraphCreate(&child, 0));
  const cudaGraphNode_t first = add_count(child, counts[0]);
  add_child(graph, child);
  ASSERT_OK(cudaGraphDestroyNode(first));
  add_empty(child);
  const cudaGraphNode_t its = add_child(other, child);
  const auto result = update();
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  cudaGraph_t embedded = nullptr;
  ASSERT_OK(cudaGraphChildGraphNodeGetGraph(its, &embedded));
  cudaGraphNode_t inner = nullptr;
  std::size_t count = 1;
  ASSERT_OK(cudaGraphGetNodes(embedded, &inner, &count));
  EXPECT_EQ(result.errorNode, inner);
  EXPECT_OK(cudaGraphDestroy(child));
}

TEST_F(GraphUpdates, TakeOverTheWorkOfChildGraphs) {
  cudaGraph_t child = nullptr;
  ASSERT_OK(cudaGraphCreate(&child, 0));
  cudaGraphNode_t node = add_count(child, counts[0]);
  const cudaGraphNode_t outer = add_child(graph, child);
  const cudaHostNodeParams parameters{count_up, &counts[1]};
  ASSERT_OK(cudaGraphHostNodeSetParams(node, &parameters));
  add_child(other, child);
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(update(exec).result, cudaGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[1], 1);
  const cudaHostNodeParams again{count_up, &counts[2]};
  ASSERT_OK(cudaGraphHostNodeSetParams(node, &again));
  ASSERT_OK(cudaGraphExecChildGraphNodeSetParams(exec, outer, child));
  run(exec);
  EXPECT_EQ(counts[2], 1);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(child));
}

TEST_F(GraphUpdates, LookAtEdges) {
  const cudaGraphNode_t a = add_empty(graph);
  const cudaGraphNode_t b = add_empty(graph, {a});
  add_empty(graph, {b});
  // As many nodes, of which one more is a last one.
  const cudaGraphNode_t first = add_empty(other);
  cudaGraphNode_t second = add_empty(other, {first});
  const cudaGraphNode_t third = add_empty(other, {first});
  auto result = update();
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_TRUE(result.errorNode == second || result.errorNode == third);
  // As many last ones, with one edge more.
  ASSERT_OK(cudaGraphAddDependencies(other, &second, &third, 1));
  result = update();
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(result.errorNode, third);
  EXPECT_EQ(result.errorFromNode, nullptr);
  ASSERT_OK(cudaGraphRemoveDependencies(other, &first, &third, 1));
  EXPECT_EQ(update().result, cudaGraphExecUpdateSuccess);
}

TEST_F(GraphUpdates, NameTheEdgeThatLeadsElsewhere) {
  // Two nodes behind two, crosswise or both behind one.
  for (const cudaGraph_t to : {graph, other}) {
    const cudaGraphNode_t a = add_empty(to);
    const cudaGraphNode_t b = add_empty(to);
    const cudaGraphNode_t c = add_empty(to, {a, b});
    const cudaGraphNode_t d =
        add_empty(to, to == graph ? Nodes{a, b} : Nodes{b, a});
    if (to == other) {
      const auto result = update();
      EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);
      EXPECT_TRUE(result.errorNode == c || result.errorNode == d);
      EXPECT_TRUE(result.errorFromNode == a || result.errorFromNode == b);
    }
  }
}

// Nodes that are added in another order are paired by the edges that lead to
// them, so that a handle stays that of the same node.
TEST_F(GraphUpdates, PairNodesByTheirEdges) {
  const cudaGraphNode_t a = add_count(graph, counts[0]);
  const cudaGraphNode_t b = add_count(graph, counts[1]);
  add_empty(graph, {a, b});
  const cudaGraphNode_t its_b = add_count(other, counts[1]);
  const cudaGraphNode_t its_a = add_count(other, counts[0]);
  add_empty(other, {its_a, its_b});
  const cudaGraphExec_t exec = instantiate();
  ASSERT_EQ(update(exec).result, cudaGraphExecUpdateSuccess);
  const cudaHostNodeParams parameters{count_up, &counts[2]};
  ASSERT_OK(cudaGraphExecHostNodeSetParams(exec, a, &parameters));
  run(exec);
  EXPECT_EQ(counts[0], 0) << "a does something else now";
  EXPECT_EQ(counts[1], 1);
  EXPECT_EQ(counts[2], 1);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(GraphUpdates, KeepNodesSwitchedOff) {
  OnDevice values(4);
  const cudaMemsetParams ones{values.data(), 0, 1, 1, 16, 1};
  const cudaGraphNode_t node = add_fill(graph, ones);
  add_fill(other, ones);
  const cudaGraphExec_t exec = instantiate();
  ASSERT_OK(cudaGraphNodeSetEnabled(exec, node, 0));
  ASSERT_EQ(update(exec).result, cudaGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQ(values.get(), std::vector<int>(4));
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(GraphUpdates, LeaveKernelsCooperativeOrNot) {
  int amount = 1;
  const cudaGraphNode_t node = add_kernel(graph, amount, true);
  const cudaGraphNode_t its = add_kernel(other, amount, false);
  const auto result = update();
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorAttributesChanged);
  EXPECT_EQ(result.errorNode, its);
  ASSERT_OK(cudaGraphKernelNodeCopyAttributes(node, its));
  EXPECT_EQ(update().result, cudaGraphExecUpdateSuccess);
}

// An attribute is no parameter.
TEST_F(GraphUpdates, OfParametersLeaveAttributes) {
  int amount = 1;
  const cudaGraphNode_t node = add_kernel(graph, amount, true);
  cudaKernelNodeParams parameters{};
  ASSERT_OK(cudaGraphKernelNodeGetParams(node, &parameters));
  const cudaGraphExec_t exec = instantiate();
  EXPECT_OK(cudaGraphExecKernelNodeSetParams(exec, node, &parameters));
  ASSERT_OK(cudaGraphKernelNodeSetParams(node, &parameters));
  cudaLaunchAttributeValue value{};
  ASSERT_OK(cudaGraphKernelNodeGetAttribute(
      node, cudaLaunchAttributeCooperative, &value));
  EXPECT_EQ(value.cooperative, 1);
  // The instance's is cooperative still, or this would not be.
  ASSERT_OK(cudaGraphDestroy(other));
  ASSERT_OK(cudaGraphClone(&other, graph));
  EXPECT_EQ(update(exec).result, cudaGraphExecUpdateSuccess);
  // More blocks than can run together.
  parameters.gridDim = dim3(1 << 20);
  EXPECT_EQ(
      cudaGraphKernelNodeSetParams(node, &parameters),
      cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(
      cudaGraphExecKernelNodeSetParams(exec, node, &parameters),
      cudaErrorCooperativeLaunchTooLarge);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(GraphUpdates, LeaveKernelsOnTheirDevice) {
  int amount = 1;
  add_kernel(graph, amount);
  ASSERT_OK(cudaSetDevice(1));
  const cudaGraphNode_t its = add_kernel(other, amount);
  ASSERT_OK(cudaSetDevice(0));
  const auto result = update();
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorUnsupportedFunctionChange);
  EXPECT_EQ(result.errorNode, its);
}

TEST_F(GraphUpdates, LeaveFillsOnTheirMemorysDevice) {
  ASSERT_OK(cudaSetDevice(1));
  OnDevice elsewhere(4);
  ASSERT_OK(cudaSetDevice(0));
  OnDevice values(8);
  const cudaGraphNode_t node = add_fill(graph, {values.data(), 0, 1, 4, 4, 1});
  const cudaMemsetParams wrong{elsewhere.data(), 0, 1, 4, 4, 1};
  const cudaGraphNode_t its = add_fill(other, wrong);
  const auto result = update();
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorParametersChanged);
  EXPECT_EQ(result.errorNode, its);
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(
      cudaGraphExecMemsetNodeSetParams(exec, node, &wrong),
      cudaErrorInvalidValue);
  // In one dimension all else may change.
  const cudaMemsetParams right{values.data() + 1, 0, 7, 2, 3, 1};
  ASSERT_OK(cudaGraphMemsetNodeSetParams(its, &right));
  EXPECT_EQ(update(exec).result, cudaGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQ(values.get(), (std::vector<int>{0, 0x70007, 7, 0, 0, 0, 0, 0}));
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(GraphUpdates, LeavePlanesTheirSize) {
  OnDevice values(8);
  const cudaMemsetParams plane{values.data(), 16, 1, 4, 2, 2};
  const cudaGraphNode_t node = add_fill(graph, plane);
  cudaMemsetParams changed = plane;
  changed.width = 3;
  const cudaGraphNode_t its = add_fill(other, changed);
  EXPECT_EQ(update().result, cudaGraphExecUpdateErrorParametersChanged);
  changed = plane;
  changed.dst = values.data() + 1;
  changed.value = 5;
  ASSERT_OK(cudaGraphMemsetNodeSetParams(its, &changed));
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(update(exec).result, cudaGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQ(values.get(), (std::vector<int>{0, 5, 5, 0, 0, 5, 5, 0}));
  // By itself a node in more than one dimension cannot be changed.
  EXPECT_EQ(
      cudaGraphExecMemsetNodeSetParams(exec, node, &changed),
      cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(GraphUpdates, LeaveCopiesOnTheirMemorysDevices) {
  ASSERT_OK(cudaSetDevice(1));
  OnDevice elsewhere(4);
  ASSERT_OK(cudaSetDevice(0));
  OnDevice here(4), there({1, 2, 3, 4});
  Pinned host(4, 9);
  const cudaGraphNode_t node = add_copy(graph, here.data(), there.data());
  const std::vector<std::pair<void*, void*>> wrong = {
      {elsewhere.data(), there.data()},
      {here.data(), elsewhere.data()},
      {host.data(), there.data()},
      {here.data(), host.data()}};
  const cudaGraphExec_t exec = instantiate();
  for (const auto& [to, from] : wrong) {
    const cudaGraphNode_t its = add_copy(other, to, from);
    EXPECT_EQ(update(exec).result, cudaGraphExecUpdateErrorParametersChanged);
    ASSERT_OK(cudaGraphDestroyNode(its));
    EXPECT_EQ(
        cudaGraphExecMemcpyNodeSetParams1D(
            exec, node, to, from, 16, cudaMemcpyDefault),
        cudaErrorInvalidValue);
  }
  run(exec);
  EXPECT_EQ(here.get(), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(GraphUpdates, CopiesMayUseMemoryThatIsGoneSinceTheyWereMade) {
  OnDevice to(4), from({1, 2, 3, 4});
  cudaGraphExec_t exec = nullptr;
  {
    OnDevice gone(4);
    add_copy(graph, to.data(), gone.data());
    exec = instantiate();
  }
  add_copy(other, to.data(), from.data());
  EXPECT_EQ(update(exec).result, cudaGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQ(to.get(), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

// A node that gets the address of one that is gone is another node.
TEST_F(GraphUpdates, KnowNodesThatAreGoneFromThoseInTheirPlace) {
  cudaGraphNode_t old = add_count(graph, counts[0]);
  const cudaGraphExec_t exec = instantiate();
  cudaGraph_t clone = nullptr;
  ASSERT_OK(cudaGraphClone(&clone, graph));
  ASSERT_OK(cudaGraphDestroyNode(old));
  const cudaHostNodeParams parameters{count_up, &counts[1]};
  bool again = false;
  for (int i = 0; i < 1000 && !again; ++i) {
    const cudaGraphNode_t node = add_count(other, counts[2]);
    again = node == old;
    cudaGraphNode_t found = nullptr;
    EXPECT_EQ(
        cudaGraphExecHostNodeSetParams(exec, node, &parameters),
        cudaErrorInvalidValue);
    EXPECT_EQ(
        cudaGraphNodeFindInClone(&found, node, clone), cudaErrorInvalidValue);
  }
  if (!again) {
    GTEST_SKIP() << "no address was used again";
  }
  run(exec);
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[1], 0);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(clone));
}

// A capture needs its last nodes to go on.
TEST_F(GraphUpdates, DoNotTakeNodesFromACapture) {
  cudaGraph_t captured = nullptr;
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &counts[0]));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
  ASSERT_OK(cudaStreamGetCaptureInfo_v2(
      stream, &status, nullptr, &captured, &last, &count));
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(cudaGraphDestroyNode(last[0]), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(captured), cudaErrorInvalidValue);
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &counts[0]));
  ASSERT_OK(cudaStreamEndCapture(stream, &captured));
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphInstantiate(&exec, captured, 0));
  run(exec);
  EXPECT_EQ(counts[0], 2);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  cudaGraphNode_t nodes[2] = {};
  count = 2;
  ASSERT_OK(cudaGraphGetNodes(captured, nodes, &count));
  EXPECT_OK(cudaGraphDestroyNode(nodes[1]));
  EXPECT_OK(cudaGraphDestroy(captured));
}

} // namespace
} // namespace accelerator::cudart::testing
