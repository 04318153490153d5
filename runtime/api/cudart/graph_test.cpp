// Graphs: their nodes, edges and copies, and what runs when they are launched.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/api/cudart/testing/graphs.h"
#include "runtime/api/cudart/testing/kernels.h"

namespace accelerator::cudart::testing {
namespace {

using Nodes = std::vector<cudaGraphNode_t>;

// A host function that appends a digit to a number: 1, 2, 3 make 123.
struct Digit {
  int* number;
  int digit;
  static void append(void* data) {
    const auto& own = *static_cast<Digit*>(data);
    *own.number = *own.number * 10 + own.digit;
  }
  cudaHostNodeParams parameters() {
    return {append, this};
  }
};

class Graphs : public GraphTest {
 protected:
  cudaGraphNode_t add_digit(Digit& digit, const Nodes& before = {}) {
    const cudaHostNodeParams parameters = digit.parameters();
    cudaGraphNode_t node = nullptr;
    EXPECT_OK(cudaGraphAddHostNode(
        &node, graph, before.data(), before.size(), &parameters));
    return node;
  }
  cudaGraphNode_t add_empty(const Nodes& before = {}) {
    cudaGraphNode_t node = nullptr;
    EXPECT_OK(
        cudaGraphAddEmptyNode(&node, graph, before.data(), before.size()));
    return node;
  }
  // The nodes that one of the functions with a list and a count hands out.
  template <typename Get, typename Of>
  static Nodes list(Get get, Of of) {
    std::size_t count = 0;
    EXPECT_OK(get(of, nullptr, &count));
    Nodes nodes(count);
    EXPECT_OK(get(of, nodes.data(), &count));
    EXPECT_EQ(count, nodes.size());
    return nodes;
  }
};

TEST_F(Graphs, RunNodesAfterThoseTheyDependOn) {
  int number = 0;
  Digit one{&number, 1};
  Digit two{&number, 2};
  Digit three{&number, 3};
  const auto last = add_digit(three);
  const auto middle = add_digit(two);
  const auto first = add_digit(one);
  const cudaGraphNode_t from[] = {first, middle};
  const cudaGraphNode_t to[] = {middle, last};
  ASSERT_OK(cudaGraphAddDependencies(graph, from, to, 2));
  run();
  EXPECT_EQ(number, 123);
  EXPECT_EQ(list(cudaGraphGetRootNodes, graph), Nodes{first});
  EXPECT_EQ(list(cudaGraphGetNodes, graph), (Nodes{last, middle, first}));
  EXPECT_EQ(list(cudaGraphNodeGetDependencies, last), Nodes{middle});
  EXPECT_EQ(list(cudaGraphNodeGetDependentNodes, first), Nodes{middle});
  std::size_t edges = 0;
  ASSERT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 2u);

  // The same edge twice, of a node to itself, or of a stranger.
  EXPECT_EQ(
      cudaGraphAddDependencies(graph, from, to, 1), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphAddDependencies(graph, from, from, 1), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphAddDependencies(graph, nullptr, to, 1), cudaErrorInvalidValue);

  ASSERT_OK(cudaGraphRemoveDependencies(graph, from, to, 2));
  EXPECT_EQ(list(cudaGraphGetRootNodes, graph).size(), 3u);
  EXPECT_EQ(
      cudaGraphRemoveDependencies(graph, from, to, 1), cudaErrorInvalidValue);
}

TEST_F(Graphs, WithACircleAreNotInstantiated) {
  const auto first = add_empty();
  const auto second = add_empty({first});
  ASSERT_OK(cudaGraphAddDependencies(graph, &second, &first, 1));
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(
      cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaErrorInvalidValue);
  cudaGraphInstantiateParams parameters{};
  EXPECT_EQ(
      cudaGraphInstantiateWithParams(&exec, graph, &parameters),
      cudaErrorInvalidValue);
  EXPECT_NE(parameters.result_out, cudaGraphInstantiateSuccess);
}

TEST_F(Graphs, HandOutTheirNodesUpToACount) {
  const auto first = add_empty();
  const auto second = add_empty({first});
  cudaGraphNode_t few[1] = {};
  std::size_t count = 1;
  EXPECT_OK(cudaGraphGetNodes(graph, few, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(few[0], first);
  cudaGraphNode_t many[3] = {first, first, first};
  count = 3;
  EXPECT_OK(cudaGraphGetNodes(graph, many, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(many[1], second);
  EXPECT_EQ(many[2], nullptr);
  EXPECT_EQ(cudaGraphGetNodes(graph, few, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphGetRootNodes(graph, few, nullptr), cudaErrorInvalidValue);
}

TEST_F(Graphs, LoseNodesWithTheirEdges) {
  const auto first = add_empty();
  const auto second = add_empty({first});
  const auto third = add_empty({second});
  ASSERT_OK(cudaGraphDestroyNode(second));
  EXPECT_EQ(list(cudaGraphGetNodes, graph), (Nodes{first, third}));
  EXPECT_EQ(list(cudaGraphGetRootNodes, graph), (Nodes{first, third}));
  EXPECT_EQ(cudaGraphDestroyNode(second), cudaErrorInvalidValue);
  cudaGraphNodeType type{};
  EXPECT_EQ(cudaGraphNodeGetType(second, &type), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphNodeGetType(first, &type));
  EXPECT_EQ(type, cudaGraphNodeTypeEmpty);
}

TEST_F(Graphs, AreClonedAndThenDoTheirOwnThing) {
  int number = 0;
  Digit one{&number, 1};
  Digit two{&number, 2};
  const auto first = add_digit(one);
  add_digit(two, {first});
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t copy = nullptr;
  ASSERT_OK(cudaGraphClone(&clone, graph));
  ASSERT_OK(cudaGraphNodeFindInClone(&copy, first, clone));
  EXPECT_NE(copy, first);
  Digit five{&number, 5};
  const cudaHostNodeParams other = five.parameters();
  ASSERT_OK(cudaGraphHostNodeSetParams(copy, &other));
  cudaHostNodeParams found{};
  ASSERT_OK(cudaGraphHostNodeGetParams(first, &found));
  EXPECT_EQ(found.userData, &one);
  EXPECT_EQ(found.fn, Digit::append);
  run();
  EXPECT_EQ(number, 12);
  cudaGraphExec_t exec = nullptr;
  number = 0;
  ASSERT_OK(cudaGraphInstantiateWithFlags(&exec, clone, 0));
  run(exec);
  EXPECT_EQ(number, 52);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  // Only nodes of the original are found.
  EXPECT_EQ(
      cudaGraphNodeFindInClone(&copy, copy, clone), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphDestroy(clone));
  EXPECT_EQ(cudaGraphDestroy(clone), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphClone(&clone, nullptr), cudaErrorInvalidValue);
}

TEST_F(Graphs, RunOtherGraphsAsNodes) {
  int number = 0;
  Digit one{&number, 1};
  Digit two{&number, 2};
  Digit three{&number, 3};
  cudaGraph_t inner = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphNode_t child = nullptr;
  ASSERT_OK(cudaGraphCreate(&inner, 0));
  const cudaHostNodeParams parameters = two.parameters();
  ASSERT_OK(cudaGraphAddHostNode(&node, inner, nullptr, 0, &parameters));
  const auto first = add_digit(one);
  ASSERT_OK(cudaGraphAddChildGraphNode(&child, graph, &first, 1, inner));
  add_digit(three, {child});
  // The node holds a copy: what happens to the original is nothing to it.
  ASSERT_OK(cudaGraphDestroy(inner));
  cudaGraph_t held = nullptr;
  ASSERT_OK(cudaGraphChildGraphNodeGetGraph(child, &held));
  EXPECT_NE(held, inner);
  EXPECT_EQ(list(cudaGraphGetNodes, held).size(), 1u);
  const cudaGraphExec_t exec = instantiate();
  run(exec);
  EXPECT_EQ(number, 123);

  cudaGraph_t other = nullptr;
  Digit seven{&number, 7};
  const cudaHostNodeParams changed = seven.parameters();
  ASSERT_OK(cudaGraphCreate(&other, 0));
  ASSERT_OK(cudaGraphAddHostNode(&node, other, nullptr, 0, &changed));
  ASSERT_OK(cudaGraphExecChildGraphNodeSetParams(exec, child, other));
  number = 0;
  run(exec);
  EXPECT_EQ(number, 173);
  // Another shape is refused.
  ASSERT_OK(cudaGraphAddEmptyNode(&node, other, nullptr, 0));
  EXPECT_EQ(
      cudaGraphExecChildGraphNodeSetParams(exec, child, other),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphChildGraphNodeGetGraph(first, &held), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphDestroy(other));
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(Graphs, RecordAndWaitForEvents) {
  cudaEvent_t event = nullptr;
  cudaEvent_t other = nullptr;
  cudaEvent_t found = nullptr;
  cudaGraphNode_t record = nullptr;
  cudaGraphNode_t wait = nullptr;
  ASSERT_OK(cudaEventCreate(&event));
  ASSERT_OK(cudaEventCreate(&other));
  ASSERT_OK(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, event));
  int number = 0;
  Digit one{&number, 1};
  const auto after = add_digit(one, {wait});
  ASSERT_OK(cudaGraphAddEventRecordNode(&record, graph, &after, 1, event));
  ASSERT_OK(cudaGraphEventWaitNodeGetEvent(wait, &found));
  EXPECT_EQ(found, event);
  found = nullptr;
  ASSERT_OK(cudaGraphEventRecordNodeGetEvent(record, &found));
  EXPECT_EQ(found, event);
  const cudaGraphExec_t exec = instantiate();
  ASSERT_OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, other));
  // Another stream holds the event back: so it does the graph.
  OwnStream beside;
  Gate gate;
  ASSERT_OK(cudaLaunchHostFunc(beside, Gate::wait, &gate));
  ASSERT_OK(cudaEventRecord(event, beside));
  ASSERT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(number, 0);
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(number, 1);
  float milliseconds = -1; // both were recorded, `other` by the graph
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, event, other));
  EXPECT_GE(milliseconds, 0);
  // Waiting for another event instead, nothing holds it back.
  Gate second_gate;
  ASSERT_OK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, other));
  ASSERT_OK(cudaLaunchHostFunc(beside, Gate::wait, &second_gate));
  ASSERT_OK(cudaEventRecord(event, beside));
  run(exec);
  EXPECT_EQ(number, 11);
  second_gate.open();
  EXPECT_EQ(
      cudaGraphExecEventWaitNodeSetEvent(exec, record, other),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphEventWaitNodeGetEvent(record, &found), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_OK(cudaEventDestroy(other));
}

TEST_F(Graphs, AllocateMemoryForTheirNodes) {
  cudaMemAllocNodeParams wanted{};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location = {cudaMemLocationTypeDevice, 0};
  wanted.bytesize = 64;
  Pinned result(16);
  cudaGraphNode_t allocation = nullptr;
  cudaGraphNode_t fill = nullptr;
  cudaGraphNode_t copy = nullptr;
  cudaGraphNode_t release = nullptr;
  ASSERT_OK(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &wanted));
  ASSERT_NE(wanted.dptr, nullptr);
  const cudaMemsetParams fill_it{wanted.dptr, 0, 0x01010101, 4, 16, 1};
  ASSERT_OK(cudaGraphAddMemsetNode(&fill, graph, &allocation, 1, &fill_it));
  ASSERT_OK(cudaGraphAddMemcpyNode1D(
      &copy,
      graph,
      &fill,
      1,
      result.data(),
      wanted.dptr,
      64,
      cudaMemcpyDeviceToHost));
  ASSERT_OK(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, wanted.dptr));
  run();
  EXPECT_EQ(result.get(), std::vector<int>(16, 0x01010101));
  cudaMemAllocNodeParams found{};
  void* freed = nullptr;
  ASSERT_OK(cudaGraphMemAllocNodeGetParams(allocation, &found));
  EXPECT_EQ(found.dptr, wanted.dptr);
  EXPECT_EQ(found.bytesize, 64u);
  ASSERT_OK(cudaGraphMemFreeNodeGetParams(release, &freed));
  EXPECT_EQ(freed, wanted.dptr);
  EXPECT_EQ(cudaGraphMemFreeNodeGetParams(copy, &freed), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, nullptr),
      cudaErrorInvalidValue);
  wanted.poolProps.location.id = 2;
  EXPECT_EQ(
      cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &wanted),
      cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaGraphAddMemFreeNode(&release, graph, nullptr, 0, nullptr),
      cudaErrorInvalidValue);
}

TEST_F(Graphs, AreUploadedBeforeTheyAreLaunched) {
  int number = 0;
  Digit one{&number, 1};
  add_digit(one);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams parameters{};
  parameters.flags = cudaGraphInstantiateFlagUpload;
  parameters.uploadStream = stream;
  ASSERT_OK(cudaGraphInstantiateWithParams(&exec, graph, &parameters));
  EXPECT_EQ(parameters.result_out, cudaGraphInstantiateSuccess);
  EXPECT_EQ(parameters.errNode_out, nullptr);
  ASSERT_OK(cudaGraphUpload(exec, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(number, 0); // uploading runs nothing
  run(exec);
  EXPECT_EQ(number, 1);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_EQ(cudaGraphUpload(exec, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphInstantiateWithParams(&exec, graph, nullptr),
      cudaErrorInvalidValue);
}

TEST_F(Graphs, AreDrawnForGraphviz) {
  const auto first = add_empty();
  add_empty({first});
  const std::string path =
      ::testing::TempDir() + "/graph" + std::to_string(getpid()) + ".dot";
  ASSERT_OK(cudaGraphDebugDotPrint(graph, path.c_str(), 0));
  std::ifstream file(path);
  const std::string text{
      std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text.rfind("digraph", 0), 0u);
  EXPECT_NE(text.find("->"), std::string::npos);
  std::remove(path.c_str());
  EXPECT_EQ(cudaGraphDebugDotPrint(graph, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphDebugDotPrint(graph, "/no/such/folder/graph.dot", 0),
      cudaErrorOperatingSystem);
}

TEST_F(Graphs, KeepObjectsOfTheUserAlive) {
  int destroyed = 0;
  cudaUserObject_t object = nullptr;
  ASSERT_OK(cudaUserObjectCreate(
      &object, &destroyed, count_up, 1, cudaUserObjectNoDestructorSync));
  ASSERT_OK(cudaUserObjectRetain(object, 2)); // three are ours
  cudaGraph_t owner = nullptr;
  ASSERT_OK(cudaGraphCreate(&owner, 0));
  // The graph takes one of ours, and one more that is its own.
  ASSERT_OK(
      cudaGraphRetainUserObject(owner, object, 1, cudaGraphUserObjectMove));
  ASSERT_OK(cudaGraphRetainUserObject(owner, object, 1, 0));
  ASSERT_OK(cudaGraphReleaseUserObject(owner, object, 1));
  ASSERT_OK(cudaUserObjectRelease(object, 2)); // none is ours any more
  EXPECT_EQ(destroyed, 0);
  ASSERT_OK(cudaGraphDestroy(owner));
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graphs, KeepObjectsAliveInWhatIsMadeOfThem) {
  int destroyed = 0;
  int counter = 0;
  cudaUserObject_t object = nullptr;
  ASSERT_OK(cudaUserObjectCreate(
      &object, &destroyed, count_up, 1, cudaUserObjectNoDestructorSync));
  cudaGraph_t owner = nullptr;
  ASSERT_OK(cudaGraphCreate(&owner, 0));
  ASSERT_OK(
      cudaGraphRetainUserObject(owner, object, 1, cudaGraphUserObjectMove));
  cudaGraphNode_t node = nullptr;
  Gate gate;
  const cudaHostNodeParams waits{Gate::wait, &gate};
  ASSERT_OK(cudaGraphAddHostNode(&node, owner, nullptr, 0, &waits));
  const cudaHostNodeParams counts{count_up, &counter};
  ASSERT_OK(cudaGraphAddHostNode(&node, owner, &node, 1, &counts));
  cudaGraph_t parent = nullptr;
  ASSERT_OK(cudaGraphCreate(&parent, 0));
  ASSERT_OK(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, owner));
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphInstantiate(&exec, parent, 0));
  ASSERT_OK(cudaGraphDestroy(owner));
  ASSERT_OK(cudaGraphDestroy(parent));
  EXPECT_EQ(destroyed, 0);

  // A run that is under way holds them too.
  ASSERT_OK(cudaGraphLaunch(exec, stream));
  ASSERT_OK(cudaGraphExecDestroy(exec));
  EXPECT_EQ(destroyed, 0);
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(counter, 1);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(cudaUserObjectRetain(object, 1), cudaErrorInvalidValue);
}

TEST_F(Graphs, DestroyObjectsWithTheirLastReference) {
  int destroyed = 0;
  cudaUserObject_t object = nullptr;
  ASSERT_OK(cudaUserObjectCreate(
      &object, &destroyed, count_up, 1, cudaUserObjectNoDestructorSync));
  EXPECT_EQ(
      cudaGraphReleaseUserObject(graph, object, 1), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphRetainUserObject(graph, object, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphRetainUserObject(graph, object, 1, 64), cudaErrorInvalidValue);
  EXPECT_EQ(cudaUserObjectRetain(object, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaUserObjectRelease(object, 0), cudaErrorInvalidValue);
  ASSERT_OK(cudaUserObjectRelease(object, 1));
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(cudaUserObjectRetain(object, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaUserObjectCreate(&object, &destroyed, nullptr, 1, 1),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaUserObjectCreate(&object, &destroyed, count_up, 1, 0),
      cudaErrorInvalidValue); // the only flag is required
}

} // namespace
} // namespace accelerator::cudart::testing
