// What graph nodes do, read and changed: in the graph, which says what later
// instances do, and in an instance, which leaves the graph as it is.
#include <numeric>

#include "runtime/api/cudart/testing/graphs.h"
#include "runtime/api/cudart/testing/kernels.h"

namespace accelerator::cudart::testing {
namespace {

class NodeParameters : public GraphTest {};

// A node that adds `amount` to the 8 ints of `values`.
class KernelNodes : public NodeParameters {
 protected:
  void SetUp() override {
    NodeParameters::SetUp();
    ASSERT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, with_amount(1)));
  }
  // Valid until the next call.
  const cudaKernelNodeParams* with_amount(int value) {
    amount = value;
    parameters = {};
    parameters.func = const_cast<void*>(symbol(add));
    parameters.gridDim = dim3(2);
    parameters.blockDim = dim3(4);
    parameters.kernelParams = arguments;
    return &parameters;
  }

  Pinned values{8};
  int* data = values.data();
  int amount = 0;
  int count = 8;
  void* arguments[3] = {&data, &amount, &count};
  cudaKernelNodeParams parameters{};
  cudaGraphNode_t node = nullptr;
};

TEST_F(KernelNodes, KeepTheArgumentsTheyWereGiven) {
  amount = 50; // the node has a copy
  run();
  EXPECT_EQ(values.get(), std::vector<int>(8, 1));
  cudaKernelNodeParams found{};
  ASSERT_OK(cudaGraphKernelNodeGetParams(node, &found));
  EXPECT_EQ(found.func, symbol(add));
  EXPECT_EQ(found.gridDim.x, 2u);
  EXPECT_EQ(found.blockDim.x, 4u);
  EXPECT_EQ(found.sharedMemBytes, 0u);
  EXPECT_EQ(*static_cast<int**>(found.kernelParams[0]), data);
  EXPECT_EQ(*static_cast<int*>(found.kernelParams[1]), 1);
  EXPECT_EQ(*static_cast<int*>(found.kernelParams[2]), 8);
  EXPECT_EQ(cudaGraphKernelNodeGetParams(node, nullptr), cudaErrorInvalidValue);
}

TEST_F(KernelNodes, ChangeForLaterInstances) {
  const cudaGraphExec_t before = instantiate();
  ASSERT_OK(cudaGraphKernelNodeSetParams(node, with_amount(10)));
  const cudaGraphExec_t after = instantiate();
  run(before);
  EXPECT_EQ(values[7], 1);
  run(after);
  EXPECT_EQ(values[7], 11);
  ASSERT_OK(cudaGraphExecKernelNodeSetParams(before, node, with_amount(100)));
  run(before);
  run(after);
  EXPECT_EQ(values[7], 121);
  EXPECT_OK(cudaGraphExecDestroy(before));
  EXPECT_OK(cudaGraphExecDestroy(after));
}

TEST_F(KernelNodes, AreRefusedWhereALaunchWouldBe) {
  cudaGraphNode_t other = nullptr;
  cudaKernelNodeParams wrong = *with_amount(1);
  wrong.blockDim = dim3(2000);
  EXPECT_EQ(
      cudaGraphAddKernelNode(&other, graph, nullptr, 0, &wrong),
      cudaErrorInvalidConfiguration);
  wrong = *with_amount(1);
  wrong.func = &count;
  EXPECT_EQ(
      cudaGraphKernelNodeSetParams(node, &wrong),
      cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(
      cudaGraphAddKernelNode(&other, graph, nullptr, 0, nullptr),
      cudaErrorInvalidValue);
  ASSERT_OK(cudaGraphAddEmptyNode(&other, graph, nullptr, 0));
  EXPECT_EQ(
      cudaGraphKernelNodeSetParams(other, with_amount(1)),
      cudaErrorInvalidValue); // it is no kernel node
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(
      cudaGraphExecKernelNodeSetParams(exec, other, with_amount(1)),
      cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(KernelNodes, AreSwitchedOffAndOn) {
  const cudaGraphExec_t exec = instantiate();
  unsigned enabled = 0;
  EXPECT_OK(cudaGraphNodeGetEnabled(exec, node, &enabled));
  EXPECT_EQ(enabled, 1u);
  ASSERT_OK(cudaGraphNodeSetEnabled(exec, node, 0));
  EXPECT_OK(cudaGraphNodeGetEnabled(exec, node, &enabled));
  EXPECT_EQ(enabled, 0u);
  run(exec);
  EXPECT_EQ(values[0], 0);
  ASSERT_OK(cudaGraphNodeSetEnabled(exec, node, 1));
  run(exec);
  EXPECT_EQ(values[0], 1);
  cudaGraphNode_t late = nullptr;
  ASSERT_OK(cudaGraphAddEmptyNode(&late, graph, nullptr, 0));
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, late, 0), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphNodeGetEnabled(exec, node, nullptr), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(KernelNodes, OnlyAreSwitchedOffBesidesCopiesAndFills) {
  cudaGraphNode_t empty = nullptr;
  ASSERT_OK(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  const cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, empty, 0), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(KernelNodes, HaveAttributesThatAreCopied) {
  cudaGraphNode_t other = nullptr;
  ASSERT_OK(cudaGraphAddKernelNode(&other, graph, nullptr, 0, with_amount(1)));
  cudaLaunchAttributeValue value{};
  ASSERT_OK(cudaGraphKernelNodeGetAttribute(
      node, cudaLaunchAttributeCooperative, &value));
  EXPECT_EQ(value.cooperative, 0);
  value.cooperative = 1;
  ASSERT_OK(cudaGraphKernelNodeSetAttribute(
      node, cudaLaunchAttributeCooperative, &value));
  ASSERT_OK(cudaGraphKernelNodeCopyAttributes(node, other));
  value = {};
  ASSERT_OK(cudaGraphKernelNodeGetAttribute(
      other, cudaLaunchAttributeCooperative, &value));
  EXPECT_EQ(value.cooperative, 1);
  EXPECT_EQ(
      cudaGraphKernelNodeGetAttribute(
          node, cudaLaunchAttributeCooperative, nullptr),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphKernelNodeSetAttribute(
          node, cudaLaunchAttributeSynchronizationPolicy, &value),
      cudaErrorInvalidValue);
}

TEST_F(KernelNodes, ThatCooperateSynchronizeTheirGrid) {
  Pinned numbers(64);
  std::iota(numbers.data(), numbers.data() + 64, 0);
  Pinned scratch(64);
  int* from = numbers.data();
  int* to = scratch.data();
  void* pointers[] = {&from, &to};
  cudaKernelNodeParams rotation{};
  rotation.func = const_cast<void*>(symbol(rotate));
  rotation.gridDim = dim3(2);
  rotation.blockDim = dim3(32);
  rotation.kernelParams = pointers;
  cudaGraphNode_t other = nullptr;
  cudaLaunchAttributeValue value{};
  value.cooperative = 1;
  ASSERT_OK(cudaGraphAddKernelNode(&other, graph, nullptr, 0, &rotation));
  ASSERT_OK(cudaGraphKernelNodeSetAttribute(
      other, cudaLaunchAttributeCooperative, &value));
  run();
  EXPECT_EQ(numbers[0], 1);
  EXPECT_EQ(numbers[63], 0);
}

TEST_F(NodeParameters, OfCopiesAreReadAndChanged) {
  Pinned first(4, 1);
  Pinned second(4, 2);
  Pinned third(4, 3);
  Pinned result(4);
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddMemcpyNode1D(
      &node,
      graph,
      nullptr,
      0,
      result.data(),
      first.data(),
      16,
      cudaMemcpyHostToHost));
  cudaMemcpy3DParms found{};
  ASSERT_OK(cudaGraphMemcpyNodeGetParams(node, &found));
  EXPECT_EQ(found.srcPtr.ptr, first.data());
  EXPECT_EQ(found.dstPtr.ptr, result.data());
  EXPECT_EQ(found.extent.width, 16u);
  EXPECT_EQ(found.extent.height, 1u);
  EXPECT_EQ(found.kind, cudaMemcpyHostToHost);
  const cudaGraphExec_t exec = instantiate();
  // What was read can be given back, with another source.
  found.srcPtr.ptr = second.data();
  ASSERT_OK(cudaGraphMemcpyNodeSetParams(node, &found));
  run(exec);
  EXPECT_EQ(result[3], 1);
  run();
  EXPECT_EQ(result[3], 2);
  ASSERT_OK(cudaGraphMemcpyNodeSetParams1D(
      node, result.data(), third.data(), 8, cudaMemcpyDefault));
  run();
  EXPECT_EQ(result.get(), (std::vector<int>{3, 3, 2, 2}));
  // The instance by itself.
  ASSERT_OK(cudaGraphExecMemcpyNodeSetParams(exec, node, &found));
  run(exec);
  EXPECT_EQ(result[0], 2);
  ASSERT_OK(cudaGraphExecMemcpyNodeSetParams1D(
      exec, node, result.data(), third.data(), 4, cudaMemcpyHostToHost));
  run(exec);
  EXPECT_EQ(result.get(), (std::vector<int>{3, 2, 2, 2}));
  EXPECT_EQ(
      cudaGraphMemcpyNodeSetParams1D(
          node, result.data(), third.data(), 17, cudaMemcpyHostToHost),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphMemcpyNodeGetParams(node, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphMemcpyNodeSetParams(node, nullptr), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(NodeParameters, OfBoxesKeepTheirPitch) {
  Pinned from(12);
  std::iota(from.data(), from.data() + 12, 0);
  Pinned to(4);
  cudaMemcpy3DParms box{};
  // Two rows of two ints, out of rows of six.
  box.srcPtr = {from.data(), 24, 24, 2};
  box.srcPos = {4, 0, 0};
  box.dstPtr = {to.data(), 8, 8, 2};
  box.extent = {8, 2, 1};
  box.kind = cudaMemcpyHostToHost;
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &box));
  run();
  EXPECT_EQ(to.get(), (std::vector<int>{1, 2, 7, 8}));
  cudaMemcpy3DParms found{};
  ASSERT_OK(cudaGraphMemcpyNodeGetParams(node, &found));
  EXPECT_EQ(found.srcPtr.pitch, 24u);
  EXPECT_EQ(found.dstPtr.pitch, 8u);
  EXPECT_EQ(found.extent.height, 2u);
  EXPECT_EQ(
      cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, nullptr),
      cudaErrorInvalidValue);
}

TEST_F(NodeParameters, OfFillsAreReadAndChanged) {
  Pinned values(6);
  const cudaMemsetParams twos{values.data(), 0, 2, 4, 6, 1};
  // Two rows of one element of two bytes, twelve bytes apart.
  const cudaMemsetParams halves{values.data(), 12, 0x1ffff, 2, 1, 2};
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &twos));
  cudaMemsetParams found{};
  ASSERT_OK(cudaGraphMemsetNodeGetParams(node, &found));
  EXPECT_EQ(found.dst, values.data());
  EXPECT_EQ(found.value, 2u);
  EXPECT_EQ(found.elementSize, 4u);
  EXPECT_EQ(found.width, 6u);
  EXPECT_EQ(found.height, 1u);
  const cudaGraphExec_t exec = instantiate();
  run(exec);
  EXPECT_EQ(values.get(), std::vector<int>(6, 2));
  ASSERT_OK(cudaGraphMemsetNodeSetParams(node, &halves));
  run();
  EXPECT_EQ(values.get(), (std::vector<int>{0xffff, 2, 2, 0xffff, 2, 2}));
  const cudaMemsetParams bytes{values.data(), 0, 7, 1, 1, 1};
  ASSERT_OK(cudaGraphExecMemsetNodeSetParams(exec, node, &bytes));
  run(exec);
  EXPECT_EQ(values[0], 0xff07);
  EXPECT_EQ(values[1], 2);
  cudaMemsetParams wrong = twos;
  wrong.elementSize = 3;
  EXPECT_EQ(cudaGraphMemsetNodeSetParams(node, &wrong), cudaErrorInvalidValue);
  wrong = twos;
  wrong.width = 7;
  EXPECT_EQ(
      cudaGraphExecMemsetNodeSetParams(exec, node, &wrong),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphMemsetNodeGetParams(node, nullptr), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(NodeParameters, OfHostFunctionsAreChangedInAnInstance) {
  int first = 0;
  int second = 0;
  cudaHostNodeParams parameters{count_up, &first};
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &parameters));
  const cudaGraphExec_t exec = instantiate();
  parameters.userData = &second;
  ASSERT_OK(cudaGraphExecHostNodeSetParams(exec, node, &parameters));
  run(exec);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
  ASSERT_OK(cudaGraphHostNodeGetParams(node, &parameters));
  EXPECT_EQ(parameters.userData, &first);
  parameters.fn = nullptr;
  EXPECT_EQ(
      cudaGraphExecHostNodeSetParams(exec, node, &parameters),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphHostNodeGetParams(node, nullptr), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(KernelNodes, AreUpdatedFromAnotherGraph) {
  cudaGraph_t other = nullptr;
  cudaGraphNode_t its = nullptr;
  const cudaGraphExec_t exec = instantiate();
  ASSERT_OK(cudaGraphCreate(&other, 0));
  ASSERT_OK(cudaGraphAddKernelNode(&its, other, nullptr, 0, with_amount(20)));
  cudaGraphExecUpdateResultInfo result{};
  ASSERT_OK(cudaGraphExecUpdate(exec, other, &result));
  EXPECT_EQ(result.result, cudaGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQ(values[0], 20);
  // A node of another type in its place.
  ASSERT_OK(cudaGraphDestroyNode(its));
  ASSERT_OK(cudaGraphAddEmptyNode(&its, other, nullptr, 0));
  EXPECT_EQ(
      cudaGraphExecUpdate(exec, other, &result),
      cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_EQ(result.errorNode, its);
  run(exec);
  EXPECT_EQ(values[0], 40); // as it was
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(other));
}

} // namespace
} // namespace accelerator::cudart::testing
