// Nodes of all kinds added by one function: they do what those do that the
// functions of their kinds add.
#include <vector>

#include "runtime/api/cudart/testing/graphs.h"
#include "runtime/api/cudart/testing/kernels.h"

namespace accelerator::cudart::testing {
namespace {

class AnyNode : public GraphTest {
 protected:
  static cudaGraphNodeParams of(cudaGraphNodeType type) {
    cudaGraphNodeParams parameters{};
    parameters.type = type;
    return parameters;
  }

  /// Adds a node behind the last one.
  cudaError_t add(cudaGraphNodeParams& parameters) {
    cudaGraphNode_t node = nullptr;
    const std::size_t count = last == nullptr ? 0 : 1;
#if CUDART_VERSION >= 13000
    const cudaError_t status =
        cudaGraphAddNode(&node, graph, &last, nullptr, count, &parameters);
#else
    const cudaError_t status =
        cudaGraphAddNode(&node, graph, &last, count, &parameters);
#endif
    if (status == cudaSuccess) {
      last = node;
    }
    return status;
  }
  void expect_last_is(cudaGraphNodeType type) {
    cudaGraphNodeType found{};
    EXPECT_OK(cudaGraphNodeGetType(last, &found));
    EXPECT_EQ(found, type);
  }

  cudaGraphNode_t last = nullptr;
};

TEST_F(AnyNode, DoesWhatItsKindDoesInOrder) {
  Pinned values(8);
  Pinned copied(8);
  int called = 0;
  // A fill, a kernel behind it, and a copy behind that.
  cudaGraphNodeParams fill = of(cudaGraphNodeTypeMemset);
  fill.memset.dst = values.data();
  fill.memset.value = 3;
  fill.memset.elementSize = 4;
  fill.memset.width = 8;
  fill.memset.height = 1;
  ASSERT_OK(add(fill));
  expect_last_is(cudaGraphNodeTypeMemset);

  int* data = values.data();
  int amount = 10;
  int count = 8;
  void* arguments[] = {&data, &amount, &count};
  cudaGraphNodeParams kernel = of(cudaGraphNodeTypeKernel);
  kernel.kernel.func = const_cast<void*>(symbol(testing::add));
  kernel.kernel.gridDim = dim3(2);
  kernel.kernel.blockDim = dim3(4);
  kernel.kernel.kernelParams = arguments;
  ASSERT_OK(add(kernel));
  expect_last_is(cudaGraphNodeTypeKernel);

  cudaGraphNodeParams empty = of(cudaGraphNodeTypeEmpty);
  ASSERT_OK(add(empty));
  expect_last_is(cudaGraphNodeTypeEmpty);

  cudaGraphNodeParams copy = of(cudaGraphNodeTypeMemcpy);
  copy.memcpy.copyParams.srcPtr = {values.data(), 32, 32, 1};
  copy.memcpy.copyParams.dstPtr = {copied.data(), 32, 32, 1};
  copy.memcpy.copyParams.extent = {32, 1, 1};
  copy.memcpy.copyParams.kind = cudaMemcpyHostToHost;
  ASSERT_OK(add(copy));
  expect_last_is(cudaGraphNodeTypeMemcpy);

  cudaGraphNodeParams host = of(cudaGraphNodeTypeHost);
  host.host.fn = count_up;
  host.host.userData = &called;
  ASSERT_OK(add(host));
  expect_last_is(cudaGraphNodeTypeHost);

  run();
  EXPECT_EQ(values.get(), std::vector<int>(8, 13));
  EXPECT_EQ(copied.get(), std::vector<int>(8, 13));
  EXPECT_EQ(called, 1);
  std::size_t nodes = 0;
  ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 5u);
}

TEST_F(AnyNode, HasEventsAndChildren) {
  int called = 0;
  cudaGraph_t child = nullptr;
  cudaGraphNode_t its = nullptr;
  const cudaHostNodeParams counting{count_up, &called};
  ASSERT_OK(cudaGraphCreate(&child, 0));
  ASSERT_OK(cudaGraphAddHostNode(&its, child, nullptr, 0, &counting));
  cudaGraphNodeParams nested = of(cudaGraphNodeTypeGraph);
  nested.graph.graph = child;
  ASSERT_OK(add(nested));
  expect_last_is(cudaGraphNodeTypeGraph);
  ASSERT_OK(cudaGraphDestroy(child)); // the node has a copy

  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreate(&event));
  cudaGraphNodeParams record = of(cudaGraphNodeTypeEventRecord);
  record.eventRecord.event = event;
  ASSERT_OK(add(record));
  cudaEvent_t found = nullptr;
  EXPECT_OK(cudaGraphEventRecordNodeGetEvent(last, &found));
  EXPECT_EQ(found, event);
  cudaGraphNodeParams wait = of(cudaGraphNodeTypeWaitEvent);
  wait.eventWait.event = event;
  ASSERT_OK(add(wait));
  found = nullptr;
  EXPECT_OK(cudaGraphEventWaitNodeGetEvent(last, &found));
  EXPECT_EQ(found, event);
  run();
  EXPECT_EQ(called, 1);
  EXPECT_OK(cudaEventQuery(event));
  EXPECT_OK(cudaEventDestroy(event));
}

// A child that is given away, as CUDA 12.9 brought it, is not cloned.
TEST_F(AnyNode, TakesAChildGraphOver) {
  int called = 0;
  cudaGraph_t child = nullptr;
  cudaGraph_t inside = nullptr;
  cudaGraphNode_t its = nullptr;
  const cudaHostNodeParams counting{count_up, &called};
  ASSERT_OK(cudaGraphCreate(&child, 0));
  cudaGraphNodeParams nested = of(cudaGraphNodeTypeGraph);
  nested.graph.graph = child;
  nested.reserved1[1] = 1;
  ASSERT_OK(add(nested));
  ASSERT_OK(cudaGraphChildGraphNodeGetGraph(last, &inside));
  EXPECT_EQ(inside, child);
  ASSERT_OK(cudaGraphAddHostNode(&its, child, nullptr, 0, &counting));
  run();
  EXPECT_EQ(called, 1);
}

TEST_F(AnyNode, IsChangedByOneFunction) {
  Pinned values(2);
  cudaGraphNodeParams fill = of(cudaGraphNodeTypeMemset);
  fill.memset.dst = values.data();
  fill.memset.value = 3;
  fill.memset.elementSize = 4;
  fill.memset.width = 2;
  fill.memset.height = 1;
  ASSERT_OK(add(fill));
  const cudaGraphExec_t exec = instantiate();
#if CUDART_VERSION >= 13000
  cudaGraphNodeParams told{};
  ASSERT_OK(cudaGraphNodeGetParams(last, &told));
  EXPECT_EQ(told.type, cudaGraphNodeTypeMemset);
  EXPECT_EQ(told.memset.dst, values.data());
  EXPECT_EQ(told.memset.width, 2u);
#endif
  fill.memset.value = 4;
  fill.memset.width = 1;
  ASSERT_OK(cudaGraphExecNodeSetParams(exec, last, &fill));
  run(exec);
  EXPECT_EQ(values[0], 4);
  EXPECT_EQ(values[1], 0);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  fill.memset.value = 5;
  fill.memset.width = 2;
  ASSERT_OK(cudaGraphNodeSetParams(last, &fill));
  run();
  EXPECT_EQ(values[0], 5);
  EXPECT_EQ(values[1], 5);
  cudaGraphNodeParams host = of(cudaGraphNodeTypeHost);
  host.host.fn = count_up;
  EXPECT_EQ(cudaGraphNodeSetParams(last, &host), cudaErrorInvalidValue);
  host = of(cudaGraphNodeTypeMemFree);
  host.free.dptr = values.data();
  EXPECT_EQ(cudaGraphNodeSetParams(last, &host), cudaErrorNotSupported);
}

// What kernels set, the driver's tests have.
TEST_F(AnyNode, RunsUnderACondition) {
  OnDevice values(2);
  cudaGraphConditionalHandle handle = 0;
  ASSERT_OK(cudaGraphConditionalHandleCreate(
      &handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams choice = of(cudaGraphNodeTypeConditional);
  choice.conditional.handle = handle;
  choice.conditional.type = cudaGraphCondTypeIf;
  choice.conditional.size = 2;
  ASSERT_OK(add(choice));
  expect_last_is(cudaGraphNodeTypeConditional);
  for (int i = 0; i < 2; ++i) {
    cudaGraphNode_t node = nullptr;
    const cudaMemsetParams fill{values.data() + i, 0, 7, 4, 1, 1};
    ASSERT_OK(cudaGraphAddMemsetNode(
        &node, choice.conditional.phGraph_out[i], nullptr, 0, &fill));
  }
  run();
  EXPECT_EQ(values.get(), (std::vector<int>{7, 0}));
  EXPECT_EQ(
      cudaGraphConditionalHandleCreate(&handle, graph, 1, 2),
      cudaErrorInvalidValue);
}

TEST_F(AnyNode, AllocatesAndFrees) {
  cudaGraphNodeParams allocation = of(cudaGraphNodeTypeMemAlloc);
  allocation.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  allocation.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  allocation.alloc.bytesize = 256;
  ASSERT_OK(add(allocation));
  expect_last_is(cudaGraphNodeTypeMemAlloc);
  ASSERT_NE(allocation.alloc.dptr, nullptr);
  Pinned result(1);
  cudaGraphNodeParams fill = of(cudaGraphNodeTypeMemset);
  fill.memset.dst = allocation.alloc.dptr;
  fill.memset.value = 42;
  fill.memset.elementSize = 4;
  fill.memset.width = 64;
  fill.memset.height = 1;
  ASSERT_OK(add(fill));
  cudaGraphNode_t copy = nullptr;
  ASSERT_OK(cudaGraphAddMemcpyNode1D(
      &copy,
      graph,
      &last,
      1,
      result.data(),
      allocation.alloc.dptr,
      4,
      cudaMemcpyDeviceToHost));
  last = copy;
  cudaGraphNodeParams freeing = of(cudaGraphNodeTypeMemFree);
  freeing.free.dptr = allocation.alloc.dptr;
  ASSERT_OK(add(freeing));
  expect_last_is(cudaGraphNodeTypeMemFree);
  run();
  EXPECT_EQ(result[0], 42);
}

TEST_F(AnyNode, IsRefusedWhereItIsNotServedOrWrong) {
  for (const cudaGraphNodeType type :
       {cudaGraphNodeTypeExtSemaphoreSignal,
        cudaGraphNodeTypeExtSemaphoreWait}) {
    cudaGraphNodeParams parameters = of(type);
    EXPECT_EQ(add(parameters), cudaErrorNotSupported);
  }
  cudaGraphNodeParams wrong = of(static_cast<cudaGraphNodeType>(77));
  EXPECT_EQ(add(wrong), cudaErrorInvalidValue);
  wrong = of(cudaGraphNodeTypeEmpty);
  wrong.reserved0[2] = 1;
  EXPECT_EQ(add(wrong), cudaErrorInvalidValue);
  wrong = of(cudaGraphNodeTypeEmpty);
  wrong.reserved2 = 1;
  EXPECT_EQ(add(wrong), cudaErrorInvalidValue);
  wrong = of(cudaGraphNodeTypeHost); // without a function
  EXPECT_EQ(add(wrong), cudaErrorInvalidValue);
  wrong = of(cudaGraphNodeTypeConditional); // without a handle
  EXPECT_EQ(add(wrong), cudaErrorInvalidValue);
  wrong = of(cudaGraphNodeTypeMemcpy);
  wrong.memcpy.flags = 1;
  EXPECT_EQ(add(wrong), cudaErrorInvalidValue);
  std::size_t nodes = 1;
  ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 0u);
}

TEST_F(AnyNode, HasOrdinaryEdgesUnlessItIsAKernel) {
  cudaGraphNodeParams empty = of(cudaGraphNodeTypeEmpty);
  ASSERT_OK(add(empty));
  const auto add_with = [&](const cudaGraphEdgeData& data) {
    cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(&node, graph, &last, &data, 1, &empty);
#else
    return cudaGraphAddNode_v2(&node, graph, &last, &data, 1, &empty);
#endif
  };
  cudaGraphEdgeData data{};
  EXPECT_OK(add_with(data));
  data.type = cudaGraphDependencyTypeProgrammatic;
  EXPECT_EQ(add_with(data), cudaErrorInvalidValue);
  std::size_t nodes = 0;
  ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 2u);
}

} // namespace
} // namespace accelerator::cudart::testing
