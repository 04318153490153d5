// Two graphs, of which one is instantiated to become the other.
#pragma once

#include <vector>

#include "runtime/api/cudart/testing/graphs.h"
#include "runtime/api/cudart/testing/kernels.h"

namespace accelerator::cudart::testing {

class GraphUpdates : public GraphTest {
 protected:
  using Nodes = std::vector<cudaGraphNode_t>;

  void SetUp() override {
    GraphTest::SetUp();
    ASSERT_OK(cudaGraphCreate(&other, 0));
  }
  void TearDown() override {
    EXPECT_OK(cudaGraphDestroy(other));
    GraphTest::TearDown();
  }

  /// A node that counts up.
  static cudaGraphNode_t add_count(
      cudaGraph_t to,
      int& number,
      const Nodes& before = {}) {
    cudaGraphNode_t node = nullptr;
    const cudaHostNodeParams parameters{count_up, &number};
    EXPECT_OK(cudaGraphAddHostNode(
        &node, to, before.data(), before.size(), &parameters));
    return node;
  }
  static cudaGraphNode_t add_empty(cudaGraph_t to, const Nodes& before = {}) {
    cudaGraphNode_t node = nullptr;
    EXPECT_OK(cudaGraphAddEmptyNode(&node, to, before.data(), before.size()));
    return node;
  }
  static cudaGraphNode_t add_child(
      cudaGraph_t to,
      cudaGraph_t child,
      const Nodes& before = {}) {
    cudaGraphNode_t node = nullptr;
    EXPECT_OK(cudaGraphAddChildGraphNode(
        &node, to, before.data(), before.size(), child));
    return node;
  }
  static cudaGraphNode_t add_fill(
      cudaGraph_t to,
      const cudaMemsetParams& parameters) {
    cudaGraphNode_t node = nullptr;
    EXPECT_OK(cudaGraphAddMemsetNode(&node, to, nullptr, 0, &parameters));
    return node;
  }
  static cudaGraphNode_t add_copy(cudaGraph_t to, void* target, void* source) {
    cudaGraphNode_t node = nullptr;
    EXPECT_OK(cudaGraphAddMemcpyNode1D(
        &node, to, nullptr, 0, target, source, 16, cudaMemcpyDefault));
    return node;
  }
  static cudaGraphNode_t add_kernel(
      cudaGraph_t to,
      int& amount,
      bool cooperative = false) {
    static int* data = nullptr;
    static int count = 0; // nothing is written
    void* arguments[] = {&data, &amount, &count};
    cudaKernelNodeParams parameters{};
    parameters.func = const_cast<void*>(symbol(add));
    parameters.gridDim = parameters.blockDim = 1;
    parameters.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    EXPECT_OK(cudaGraphAddKernelNode(&node, to, nullptr, 0, &parameters));
    cudaLaunchAttributeValue value{};
    value.cooperative = cooperative ? 1 : 0;
    EXPECT_OK(cudaGraphKernelNodeSetAttribute(
        node, cudaLaunchAttributeCooperative, &value));
    return node;
  }

  cudaGraphExecUpdateResultInfo update(cudaGraphExec_t exec) {
    cudaGraphExecUpdateResultInfo result{};
    const cudaError_t status = cudaGraphExecUpdate(exec, other, &result);
    EXPECT_EQ(
        status,
        result.result == cudaGraphExecUpdateSuccess
            ? cudaSuccess
            : cudaErrorGraphExecUpdateFailure);
    return result;
  }
  /// Of `graph` instantiated, when it is to become `other`.
  cudaGraphExecUpdateResultInfo update() {
    const cudaGraphExec_t exec = instantiate();
    const auto result = update(exec);
    EXPECT_OK(cudaGraphExecDestroy(exec));
    return result;
  }

  cudaGraph_t other = nullptr;
  int counts[4] = {};
};

} // namespace accelerator::cudart::testing
