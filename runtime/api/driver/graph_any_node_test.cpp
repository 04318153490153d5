// Nodes of all kinds by one function, and those that run under a condition.
#include <string>

#include "runtime/api/driver/testing/graph_nodes.h"

// CUDA 13's.
extern "C" {
CUresult cuGraphAddNode_v3(
    CUgraphNode*,
    CUgraph,
    const CUgraphNode*,
    const CUgraphEdgeData*,
    size_t,
    CUgraphNodeParams*);
CUresult cuGraphNodeSetParams_v2(CUgraphNode, CUgraphNodeParams*);
CUresult cuGraphNodeGetParams(CUgraphNode, CUgraphNodeParams*);
}

namespace accelerator::driver::testing {
namespace {

constexpr char kConditions[] = R"(
.version 7.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);

// The condition becomes the value.
.visible .entry set(.param .u64 handle, .param .u32 value)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  {
  .param .b64 h;
  .param .b32 v;
  st.param.b64 [h], %rd1;
  st.param.b32 [v], %r1;
  call.uni cudaGraphSetConditional, (h, v);
  }
  ret;
}

// The condition becomes --*place.
.visible .entry count_down(.param .u64 handle, .param .u64 place)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [place];
  ld.global.u32 %r1, [%rd2];
  sub.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  {
  .param .b64 h;
  .param .b32 v;
  st.param.b64 [h], %rd1;
  st.param.b32 [v], %r1;
  call.uni cudaGraphSetConditional, (h, v);
  }
  ret;
}
)";

class AnyNode : public GraphNodes {
 protected:
  AnyNode() {
    EXPECT_EQ(cuModuleLoadData(&conditions, kConditions), CUDA_SUCCESS);
  }
  ~AnyNode() override {
    EXPECT_EQ(cuModuleUnload(conditions), CUDA_SUCCESS);
  }
  static CUgraphNodeParams of(CUgraphNodeType type) {
    CUgraphNodeParams parameters{};
    parameters.type = type;
    return parameters;
  }
  static CUgraphNode add(
      CUgraph to,
      CUgraphNodeParams& parameters,
      const Nodes& before = {}) {
    CUgraphNode node = nullptr;
    EXPECT_EQ(
        cuGraphAddNode_v2(
            &node, to, before.data(), nullptr, before.size(), &parameters),
        CUDA_SUCCESS);
    return node;
  }
  static CUgraphNodeParams one_thread(CUfunction function, void** arguments) {
    CUgraphNodeParams launch = of(CU_GRAPH_NODE_TYPE_KERNEL);
    auto& kernel = launch.kernel;
    kernel.func = function;
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = arguments;
    return launch;
  }
  CUfunction of_conditions(const char* name) const {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, conditions, name), CUDA_SUCCESS);
    return function;
  }
  CUgraphNode add_set(
      CUgraph to,
      CUgraphConditionalHandle handle,
      unsigned value,
      const Nodes& before = {}) const {
    void* arguments[] = {&handle, &value};
    auto launch = one_thread(of_conditions("set"), arguments);
    return add(to, launch, before);
  }
  CUgraphNode add_count_down(
      CUgraph to,
      CUgraphConditionalHandle handle,
      CUdeviceptr place,
      const Nodes& before = {}) const {
    void* arguments[] = {&handle, &place};
    auto launch = one_thread(of_conditions("count_down"), arguments);
    return add(to, launch, before);
  }
  /// A node that adds one to a place.
  CUgraphNode add_count(CUgraph to, CUdeviceptr place, const Nodes& before = {})
      const {
    void* arguments[] = {&place};
    auto launch = one_thread(kernel("count"), arguments);
    return add(to, launch, before);
  }
  CUgraphNode add_fill(
      CUgraph to,
      CUdeviceptr place,
      unsigned value,
      const Nodes& before = {}) const {
    auto fill = of(CU_GRAPH_NODE_TYPE_MEMSET);
    fill.memset = {place, 0, value, 4, 1, 1, context};
    return add(to, fill, before);
  }
  CUgraphConditionalHandle condition(
      CUgraph of,
      unsigned initial = 0,
      unsigned flags = 0) const {
    CUgraphConditionalHandle handle = 0;
    EXPECT_EQ(
        cuGraphConditionalHandleCreate(&handle, of, context, initial, flags),
        CUDA_SUCCESS);
    return handle;
  }
  CUgraphNodeParams conditional(
      CUgraphConditionalHandle handle,
      int type,
      unsigned size = 1) const {
    auto parameters = of(CU_GRAPH_NODE_TYPE_CONDITIONAL);
    parameters.conditional.handle = handle;
    parameters.conditional.type = static_cast<CUgraphConditionalNodeType>(type);
    parameters.conditional.size = size;
    parameters.conditional.ctx = context;
    return parameters;
  }

  static constexpr int kIf = 0, kWhile = 1, kSwitch = 2; // as CUDA numbers them
  CUmodule conditions = nullptr;
};

TEST_F(AnyNode, DoesWhatItsKindDoes) {
  const Array<int> array(2), other(2);
  int called = 0;
  CUdeviceptr place = array.address(1);
  unsigned value = 7;
  void* arguments[] = {&place, &value};
  auto launch_of = one_thread(kernel("store"), arguments);
  auto copy = of(CU_GRAPH_NODE_TYPE_MEMCPY);
  copy.memcpy.copyCtx = context;
  copy.memcpy.copyParams = copy_of(other.address(), array.address(), 8);
  auto host = of(CU_GRAPH_NODE_TYPE_HOST);
  host.host = {count_up, &called};
  const CUgraphNode fill = add_fill(graph, array.address(), 3);
  const CUgraphNode store = add(graph, launch_of, {fill});
  const CUgraphNode copied = add(graph, copy, {store});
  const CUgraphNode counted = add(graph, host, {copied});
  auto empty = of(CU_GRAPH_NODE_TYPE_EMPTY);
  CUgraphNode last = nullptr;
  ASSERT_EQ(cuGraphAddNode(&last, graph, &counted, 1, &empty), CUDA_SUCCESS);
  launch();
  EXPECT_EQ(other.values(), (Ints{3, 7}));
  EXPECT_EQ(called, 1);

  CUgraphNodeParams told{};
  ASSERT_EQ(cuGraphNodeGetParams(store, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.type, CU_GRAPH_NODE_TYPE_KERNEL);
  EXPECT_EQ(told.kernel.func, launch_of.kernel.func);
  EXPECT_EQ(*static_cast<unsigned*>(told.kernel.kernelParams[1]), 7u);
  ASSERT_EQ(cuGraphNodeGetParams(fill, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.memset.value, 3u);
  EXPECT_EQ(told.memset.ctx, context);
  ASSERT_EQ(cuGraphNodeGetParams(copied, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.memcpy.copyParams.dstDevice, other.address());
  ASSERT_EQ(cuGraphNodeGetParams(counted, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.host.userData, &called);
  ASSERT_EQ(cuGraphNodeGetParams(last, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.type, CU_GRAPH_NODE_TYPE_EMPTY);

  value = 8;
  EXPECT_EQ(cuGraphExecNodeSetParams(exec, store, &launch_of), CUDA_SUCCESS);
  EXPECT_EQ(
      cuGraphExecNodeSetParams(exec, fill, &launch_of),
      CUDA_ERROR_INVALID_VALUE);
  launch_again();
  EXPECT_EQ(other.values(), (Ints{3, 8}));
  end();
  value = 9;
  launch_of.kernel.ctx = context;
  EXPECT_EQ(cuGraphNodeSetParams(store, &launch_of), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeSetParams(fill, &launch_of), CUDA_ERROR_INVALID_VALUE);
  launch();
  EXPECT_EQ(other.values(), (Ints{3, 9}));
  end();
  value = 10;
  EXPECT_EQ(cuGraphNodeSetParams_v2(store, &launch_of), CUDA_SUCCESS);
  CUgraphNode more = nullptr;
  EXPECT_EQ(
      cuGraphAddNode_v3(&more, graph, &store, nullptr, 1, &launch_of),
      CUDA_SUCCESS);
  launch();
  EXPECT_EQ(array.values(), (Ints{3, 10}));
  end();
}

TEST_F(AnyNode, TakesAChildGraphOver) {
  const Array<int> array(1);
  CUgraph child = nullptr, inside = nullptr;
  ASSERT_EQ(cuGraphCreate(&child, 0), CUDA_SUCCESS);
  auto nested = of(CU_GRAPH_NODE_TYPE_GRAPH);
  nested.graph.graph = child;
  nested.reserved1[1] = 1; // the ownership, which CUDA 12.9 brought
  const CUgraphNode node = add(graph, nested);
  EXPECT_EQ(cuGraphChildGraphNodeGetGraph(node, &inside), CUDA_SUCCESS);
  EXPECT_EQ(inside, child);
  add_fill(child, array.address(), 4); // the node's own graph
  launch();
  end();
  EXPECT_EQ(array.values(), Ints{4});
  nested.reserved1[1] = 2;
  CUgraphNode none = nullptr;
  EXPECT_EQ(
      cuGraphAddNode(&none, graph, nullptr, 0, &nested),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(AnyNode, IsNoGraphThatItIsBelow) {
  CUgraph middle = nullptr;
  ASSERT_EQ(cuGraphCreate(&middle, 0), CUDA_SUCCESS);
  auto moved = of(CU_GRAPH_NODE_TYPE_GRAPH);
  moved.reserved1[1] = 1; // the ownership
  moved.graph.graph = middle;
  add(graph, moved);
  moved.graph.graph = graph;
  CUgraphNode none = nullptr;
  for (const CUgraph into : {graph, middle}) {
    EXPECT_EQ(
        cuGraphAddNode(&none, into, nullptr, 0, &moved),
        CUDA_ERROR_INVALID_VALUE);
  }
}

// As XLA records its kernels for GPUs of capability 9.0 and newer.
TEST_F(AnyNode, MayStartEarlyAndSaysSo) {
  const Array<int> array(2);
  const CUgraphEdgeData early{1, 0, 1, {}}; // when all blocks have said so
  CUdeviceptr place = array.address();
  unsigned value = 5;
  void* arguments[] = {&place, &value};
  auto launch_of = one_thread(kernel("store"), arguments);
  const CUgraphNode store = add(graph, launch_of);
  void* counted[] = {&place};
  auto count = one_thread(kernel("count"), counted);
  CUgraphNode after = nullptr;
  ASSERT_EQ(
      cuGraphAddNode_v2(&after, graph, &store, &early, 1, &count),
      CUDA_SUCCESS);
  const CUgraphNode last = add_count(graph, place);
  ASSERT_EQ(
      cuGraphAddDependencies_v2(graph, &after, &last, &early, 1), CUDA_SUCCESS);
  launch();
  EXPECT_EQ(array.values()[0], 7);

  CUgraph copy = nullptr;
  ASSERT_EQ(cuGraphClone(&copy, graph), CUDA_SUCCESS);
  for (CUgraph one : {graph, copy}) {
    Nodes from(3), to(3);
    std::vector<CUgraphEdgeData> data(3, {9, 9, 9, {}});
    std::size_t edges = 3;
    ASSERT_EQ(
        cuGraphGetEdges_v2(one, from.data(), to.data(), data.data(), &edges),
        CUDA_SUCCESS);
    ASSERT_EQ(edges, 2u);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(data[i].from_port, 1);
      EXPECT_EQ(data[i].type, 1);
    }
    EXPECT_EQ(data[2].type, 0) << "there is no third";
    EXPECT_EQ(
        cuGraphGetEdges(one, from.data(), to.data(), &edges),
        CUDA_ERROR_LOSSY_QUERY);
  }
  EXPECT_EQ(cuGraphDestroy(copy), CUDA_SUCCESS);
  CUgraphNode found = nullptr;
  std::size_t one = 1;
  EXPECT_EQ(
      cuGraphNodeGetDependencies(after, &found, &one), CUDA_ERROR_LOSSY_QUERY);
  EXPECT_EQ(
      cuGraphNodeGetDependentNodes(after, &found, &one),
      CUDA_ERROR_LOSSY_QUERY);
  EXPECT_EQ(
      cuGraphRemoveDependencies(graph, &after, &last, 1),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuGraphRemoveDependencies_v2(graph, &after, &last, &early, 1),
      CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddDependencies(graph, &after, &last, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeGetDependencies(last, &found, &one), CUDA_SUCCESS);
  end();
}

TEST_F(AnyNode, OnlyKernelsMayStartEarly) {
  const Array<int> array(1);
  const CUgraphNode fill = add_fill(graph, array.address(), 3);
  CUdeviceptr place = array.address();
  void* arguments[] = {&place};
  auto count = one_thread(kernel("count"), arguments);
  CUgraphNode after = nullptr;
  for (const CUgraphEdgeData& data :
       {CUgraphEdgeData{1, 0, 1, {}}, CUgraphEdgeData{0, 1, 1, {}}}) {
    EXPECT_EQ(
        cuGraphAddNode_v2(&after, graph, &fill, &data, 1, &count),
        CUDA_ERROR_INVALID_VALUE);
  }
  const CUgraphNode first = add_count(graph, place);
  for (const CUgraphEdgeData& data :
       {CUgraphEdgeData{0, 0, 1, {}},
        CUgraphEdgeData{3, 0, 1, {}},
        CUgraphEdgeData{1, 0, 0, {}},
        CUgraphEdgeData{1, 1, 1, {}},
        CUgraphEdgeData{1, 0, 1, {1}}}) {
    EXPECT_EQ(
        cuGraphAddNode_v2(&after, graph, &first, &data, 1, &count),
        CUDA_ERROR_INVALID_VALUE);
  }
  std::size_t nodes = 0;
  ASSERT_EQ(cuGraphGetNodes(graph, nullptr, &nodes), CUDA_SUCCESS);
  EXPECT_EQ(nodes, 2u);
}

TEST_F(AnyNode, IsRefusedWhereItIsWrong) {
  CUgraphNode node = nullptr;
  auto wrong = of(static_cast<CUgraphNodeType>(77));
  EXPECT_EQ(
      cuGraphAddNode(&node, graph, nullptr, 0, &wrong),
      CUDA_ERROR_INVALID_VALUE);
  wrong = of(CU_GRAPH_NODE_TYPE_EMPTY);
  wrong.reserved0[1] = 1;
  EXPECT_EQ(
      cuGraphAddNode(&node, graph, nullptr, 0, &wrong),
      CUDA_ERROR_INVALID_VALUE);
  wrong = of(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  EXPECT_EQ(
      cuGraphAddNode(&node, graph, nullptr, 0, &wrong),
      CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(
      cuGraphAddNode(&node, graph, nullptr, 0, nullptr),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(AnyNode, RunsIfTheConditionSaysSo) {
  for (const unsigned value : {0u, 1u, 5u}) {
    CUgraph whole = nullptr;
    ASSERT_EQ(cuGraphCreate(&whole, 0), CUDA_SUCCESS);
    std::swap(whole, graph);
    const Array<int> array(3);
    const auto handle = condition(graph);
    const CUgraphNode set = add_set(graph, handle, value);
    auto choice = conditional(handle, kIf, 2);
    const CUgraphNode node = add(graph, choice, {set});
    ASSERT_NE(choice.conditional.phGraph_out, nullptr);
    add_fill(choice.conditional.phGraph_out[0], array.address(0), 1);
    add_fill(choice.conditional.phGraph_out[1], array.address(1), 1);
    add_fill(graph, array.address(2), 1, {node});
    launch();
    EXPECT_EQ(array.values(), (value != 0 ? Ints{1, 0, 1} : Ints{0, 1, 1}));
    CUgraphNodeParams told{};
    EXPECT_EQ(cuGraphNodeGetParams(node, &told), CUDA_SUCCESS);
    EXPECT_EQ(told.type, CU_GRAPH_NODE_TYPE_CONDITIONAL);
    EXPECT_EQ(told.conditional.handle, handle);
    EXPECT_EQ(told.conditional.size, 2u);
    EXPECT_EQ(
        told.conditional.phGraph_out[1], choice.conditional.phGraph_out[1]);
    end();
    std::swap(whole, graph);
    EXPECT_EQ(cuGraphDestroy(whole), CUDA_SUCCESS);
  }
}

TEST_F(AnyNode, RunsWhileTheConditionSaysSo) {
  const Array<int> array(2); // what is left, and the rounds
  const auto handle = condition(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const CUgraphNode five = add_fill(graph, array.address(), 5);
  auto loop = conditional(handle, kWhile);
  const CUgraphNode node = add(graph, loop, {five});
  CUgraph body = loop.conditional.phGraph_out[0];
  const CUgraphNode counted = add_count(body, array.address(1));
  add_count_down(body, handle, array.address(), {counted});
  add_count(graph, array.address(0), {node});
  launch();
  EXPECT_EQ(array.values(), (Ints{1, 5}));
  launch_again(); // with the default again
  EXPECT_EQ(array.values(), (Ints{1, 10}));
  end();
}

TEST_F(AnyNode, KeepsItsConditionWithoutADefault) {
  const Array<int> array(1);
  const auto handle = condition(graph, 3); // which counts for nothing
  auto choice = conditional(handle, kIf);
  const CUgraphNode node = add(graph, choice);
  add_count(choice.conditional.phGraph_out[0], array.address());
  add_set(graph, handle, 0, {node});
  launch();
  const Ints first = array.values();
  launch_again();
  EXPECT_EQ(array.values(), first) << "the kernel has set it to 0";
  end();
}

TEST_F(AnyNode, RunsTheBodyOfItsNumber) {
  const Array<int> array(4);
  const Array<unsigned> number(1);
  const auto handle = condition(graph);
  const CUgraphNode set =
      add_count_down(graph, handle, number.address()); // from what is there
  auto choice = conditional(handle, kSwitch, 3);
  add(graph, choice, {set});
  for (unsigned i = 0; i < 3; ++i) {
    add_count(choice.conditional.phGraph_out[i], array.address(i));
  }
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  for (const unsigned value : {1u, 3u, 3u, 2u, 4u, 100u, 0u}) {
    ASSERT_EQ(cuMemsetD32(number.address(), value, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    launch_again();
  }
  EXPECT_EQ(array.values(), (Ints{1, 1, 2, 0}));
  end();
}

// A loop in which a captured choice is.
TEST_F(AnyNode, StandsBelowAnother) {
  const Array<int> array(3); // what is left, rounds, last rounds
  const auto rounds = condition(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const CUgraphNode four = add_fill(graph, array.address(), 4);
  auto loop = conditional(rounds, kWhile);
  add(graph, loop, {four});
  CUgraph body = loop.conditional.phGraph_out[0];
  const auto is_odd = condition(body);
  const CUgraphNode down = add_count_down(body, rounds, array.address());
  const CUgraphNode same = add_count(body, array.address(1), {down});
  const CUgraphNode up = add_count(body, array.address(0), {same});
  const CUgraphNode set = add_count_down(body, is_odd, array.address(), {up});
  auto choice = conditional(is_odd, kIf, 2);
  add(body, choice, {set});
  CUgraph otherwise = choice.conditional.phGraph_out[1];
  ASSERT_EQ(
      cuStreamBeginCaptureToGraph(
          stream,
          otherwise,
          nullptr,
          nullptr,
          0,
          CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(array.address(2), 9, 1, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream, nullptr), CUDA_SUCCESS);
  launch();
  end();
  EXPECT_EQ(array.values(), (Ints{0, 4, 9}));
}

// Of its graph, or one that its graph is below.
TEST_F(AnyNode, DoesNotGoByAnothersCondition) {
  const auto handle = condition(graph);
  CUgraph other = nullptr;
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphCreate(&other, 0), CUDA_SUCCESS);
  auto stranger = conditional(handle, kIf);
  EXPECT_EQ(
      cuGraphAddNode(&node, other, nullptr, 0, &stranger),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);
  auto outer = conditional(condition(graph), kIf);
  add(graph, outer);
  auto inner = conditional(handle, kIf);
  add(outer.conditional.phGraph_out[0], inner);
}

TEST_F(AnyNode, GoesByOneConditionOfOneInstance) {
  const auto handle = condition(graph);
  CUgraph copy = nullptr;
  CUgraphNode none = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  EXPECT_EQ(
      cuGraphInstantiateWithParams(&exec, graph, &parameters),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(static_cast<int>(parameters.result_out), 5) << "handle unused";
  for (auto wrong :
       {conditional(handle, kIf, 3),
        conditional(handle, kWhile, 2),
        conditional(handle, kSwitch, 0),
        conditional(handle, 3),
        conditional(handle + 4, kIf)}) {
    EXPECT_EQ(
        cuGraphAddNode(&none, graph, nullptr, 0, &wrong),
        CUDA_ERROR_INVALID_VALUE);
  }
  auto choice = conditional(handle, kIf);
  const CUgraphNode node = add(graph, choice);
  auto again = conditional(handle, kIf);
  EXPECT_EQ(
      cuGraphAddNode(&none, graph, nullptr, 0, &again),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphNodeSetParams(node, &choice), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphClone(&copy, graph), CUDA_ERROR_NOT_SUPPORTED);
  CUgraph outer = nullptr;
  ASSERT_EQ(cuGraphCreate(&outer, 0), CUDA_SUCCESS);
  EXPECT_EQ(
      cuGraphAddChildGraphNode(&none, outer, nullptr, 0, graph),
      CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphDestroy(outer), CUDA_SUCCESS);
  launch();
  CUgraphExec second = nullptr;
  EXPECT_EQ(
      cuGraphInstantiateWithFlags(&second, graph, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_ERROR_NOT_SUPPORTED);
  ASSERT_EQ(cuStreamEndCapture(stream, &outer), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(outer), CUDA_SUCCESS);
  end();
  launch();
  end();
  // What the host does cannot be under a condition.
  int called = 0;
  const CUDA_HOST_NODE_PARAMS counting{count_up, &called};
  ASSERT_EQ(
      cuGraphAddHostNode(
          &none, choice.conditional.phGraph_out[0], nullptr, 0, &counting),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
  // The bodies go with the node.
  CUgraph body = choice.conditional.phGraph_out[0];
  std::size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(body, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroyNode(node), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphGetNodes(body, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace accelerator::driver::testing
