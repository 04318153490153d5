// Graphs that are instantiated so that kernels could launch them.
// Source: CUDA C++ programming guide, "Device Graph Requirements".
#include <vector>

#include "runtime/api/cudart/testing/graphs.h"

namespace accelerator::cudart::testing {
namespace {

using GraphsForKernels = GraphTest;

TEST_F(GraphsForKernels, AreLaunchedByTheHost) {
  const auto instantiate = [&](unsigned long long flags,
                               cudaGraphInstantiateResult* result) {
    cudaGraphExec_t exec = nullptr;
    cudaGraphInstantiateParams parameters{};
    parameters.flags = cudaGraphInstantiateFlagDeviceLaunch | flags;
    const auto status =
        cudaGraphInstantiateWithParams(&exec, graph, &parameters);
    *result = parameters.result_out;
    if (status == cudaSuccess) {
      unsigned long long told = 0;
      EXPECT_OK(cudaGraphExecGetFlags(exec, &told));
      EXPECT_EQ(told, parameters.flags);
      run(exec);
      EXPECT_OK(cudaGraphExecDestroy(exec));
    }
    return status;
  };
  OnDevice number(1);
  cudaMemsetParams fill{};
  fill.dst = number.data();
  fill.elementSize = 4;
  fill.width = 1;
  fill.height = 1;
  fill.value = 42;
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
  cudaGraphInstantiateResult result{};
  EXPECT_OK(instantiate(0, &result));
  EXPECT_EQ(result, cudaGraphInstantiateSuccess);
  EXPECT_EQ(number.get(), std::vector<int>{42});
  EXPECT_EQ(
      instantiate(cudaGraphInstantiateFlagAutoFreeOnLaunch, &result),
      cudaErrorInvalidValue);
  // No kernel could run a function of the host.
  const cudaHostNodeParams function{[](void*) {}, nullptr};
  ASSERT_OK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &function));
  EXPECT_EQ(instantiate(0, &result), cudaErrorNotSupported);
  EXPECT_EQ(result, cudaGraphInstantiateNodeOperationNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST_F(GraphsForKernels, AreOfOneDevice) {
  cudaGraphNode_t node = nullptr;
  for (int device = 0; device < 2; ++device) {
    ASSERT_OK(cudaSetDevice(device));
    void* memory = nullptr;
    ASSERT_OK(cudaMalloc(&memory, 4));
    cudaMemsetParams fill{};
    fill.dst = memory;
    fill.elementSize = 1;
    fill.width = 4;
    fill.height = 1;
    ASSERT_OK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
  }
  ASSERT_OK(cudaSetDevice(0));
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams parameters{};
  parameters.flags = cudaGraphInstantiateFlagDeviceLaunch;
  EXPECT_EQ(
      cudaGraphInstantiateWithParams(&exec, graph, &parameters),
      cudaErrorNotSupported);
  EXPECT_EQ(
      parameters.result_out, cudaGraphInstantiateMultipleDevicesNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

} // namespace
} // namespace accelerator::cudart::testing
