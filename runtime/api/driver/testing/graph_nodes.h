// A graph whose nodes the program adds, for tests of graphs.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {

using Nodes = std::vector<CUgraphNode>;
using Ints = std::vector<int>;

class GraphNodes : public KernelTest {
 protected:
  GraphNodes() {
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  }
  ~GraphNodes() override {
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  }
  /// Instantiates and launches once, and leaves the instance in `exec`.
  void launch() {
    ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    launch_again();
  }
  void launch_again() {
    ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  void end() {
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  }
  CUgraphNode add_empty(const Nodes& before = {}) {
    CUgraphNode node = nullptr;
    EXPECT_EQ(
        cuGraphAddEmptyNode(&node, graph, before.data(), before.size()),
        CUDA_SUCCESS);
    return node;
  }
  static CUDA_MEMSET_NODE_PARAMS fill_of(
      CUdeviceptr place,
      unsigned value,
      std::size_t count) {
    return {place, 0, value, 4, count, 1};
  }
  /// A box of bytes between two places on the device.
  static CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return copy;
  }
  static void count_up(void* number) {
    ++*static_cast<int*>(number);
  }

  const Stream stream;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
};

} // namespace accelerator::driver::testing
