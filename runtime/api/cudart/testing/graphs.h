// A graph and a stream to run it on, for tests of graphs.
#pragma once

#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {

class GraphTest : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    ASSERT_OK(cudaGraphCreate(&graph, 0));
  }
  void TearDown() override {
    EXPECT_OK(cudaGraphDestroy(graph));
    Runtime::TearDown();
  }
  cudaGraphExec_t instantiate() {
    cudaGraphExec_t exec = nullptr;
    EXPECT_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
  }
  void run(cudaGraphExec_t exec) {
    ASSERT_OK(cudaGraphLaunch(exec, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
  }
  /// Instantiates, runs once, destroys.
  void run() {
    const cudaGraphExec_t exec = instantiate();
    run(exec);
    EXPECT_OK(cudaGraphExecDestroy(exec));
  }

  OwnStream stream;
  cudaGraph_t graph = nullptr;
};

} // namespace accelerator::cudart::testing
