// Memory that is allocated while a stream is captured: whose it is, and when.
// Source: CUDA C++ programming guide, "Graph Memory Nodes".
#include <cstdint>
#include <vector>

#include "runtime/api/cudart/testing/graphs.h"

namespace accelerator::cudart::testing {
namespace {

constexpr std::size_t kBytes = 4096;
constexpr unsigned char kWritten = 7;

class MemoryOfAGraph : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ASSERT_OK(cudaMallocAsync(&memory, kBytes, stream));
    ASSERT_OK(cudaMemsetAsync(memory, kWritten, kBytes, stream));
    ASSERT_OK(cudaStreamEndCapture(stream, &graph));
    ASSERT_OK(cudaGraphInstantiate(
        &program, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  }
  void TearDown() override {
    destroy();
    Runtime::TearDown();
  }
  void launch() {
    ASSERT_OK(cudaGraphLaunch(program, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
  }
  void destroy() {
    if (graph != nullptr) {
      ASSERT_OK(cudaGraphExecDestroy(program));
      ASSERT_OK(cudaGraphDestroy(graph));
      graph = nullptr;
    }
  }
  /// Bytes on the device; empty where there is no memory.
  static std::vector<unsigned char> read(const void* from) {
    std::vector<unsigned char> bytes(kBytes);
    if (cudaMemcpy(bytes.data(), from, kBytes, cudaMemcpyDeviceToHost) !=
        cudaSuccess) {
      cudaGetLastError();
      bytes.clear();
    }
    return bytes;
  }

  const std::vector<unsigned char> written =
      std::vector<unsigned char>(kBytes, kWritten);
  OwnStream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;
  void* memory = nullptr;
};

TEST_F(MemoryOfAGraph, KeepsItsAddressWhenItIsFreed) {
  launch();
  EXPECT_EQ(read(memory), written);
  ASSERT_OK(cudaFreeAsync(memory, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  std::vector<void*> others(64);
  for (void*& other : others) {
    ASSERT_OK(cudaMallocAsync(&other, kBytes, stream));
    EXPECT_NE(other, memory);
    ASSERT_OK(cudaMemsetAsync(other, 1, kBytes, stream));
  }
  launch();
  EXPECT_EQ(read(memory), written);
  for (void* const other : others) {
    EXPECT_EQ(read(other), std::vector<unsigned char>(kBytes, 1));
    ASSERT_OK(cudaFreeAsync(other, stream));
  }
  ASSERT_OK(cudaFree(memory));
}

TEST_F(MemoryOfAGraph, OutlivesItWhereItIsInUse) {
  launch();
  destroy();
  EXPECT_EQ(read(memory), written);
  ASSERT_OK(cudaFreeAsync(memory, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_TRUE(read(memory).empty());
}

TEST_F(MemoryOfAGraph, IsTheProgramsForCudaFreeToo) {
  launch();
  destroy();
  ASSERT_OK(cudaFree(memory));
  EXPECT_TRUE(read(memory).empty());
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(MemoryOfAGraph, GoesWithItWhereItIsNotInUse) {
  launch();
  ASSERT_OK(cudaFreeAsync(memory, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  destroy();
  EXPECT_TRUE(read(memory).empty());
}

TEST_F(MemoryOfAGraph, GoesWithAGraphThatWasNeverLaunched) {
  destroy();
  EXPECT_TRUE(read(memory).empty());
}

TEST_F(MemoryOfAGraph, IsFreedByAnotherGraph) {
  launch();
  destroy();
  cudaGraph_t freeing = nullptr;
  cudaGraphExec_t freeing_program = nullptr;
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaFreeAsync(memory, stream));
  ASSERT_OK(cudaStreamEndCapture(stream, &freeing));
  ASSERT_OK(cudaGraphInstantiate(&freeing_program, freeing, 0));
  EXPECT_EQ(read(memory), written);
  ASSERT_OK(cudaGraphLaunch(freeing_program, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_TRUE(read(memory).empty());
  ASSERT_OK(cudaGraphExecDestroy(freeing_program));
  ASSERT_OK(cudaGraphDestroy(freeing));
}

TEST_F(MemoryOfAGraph, IsFreedOnceForEachLaunch) {
  // Before the first launch there is nothing to free or to use.
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(memory, 1, kBytes), cudaErrorInvalidValue);
  launch();
  ASSERT_OK(cudaMemset(memory, 1, kBytes));
  ASSERT_OK(cudaFree(memory));
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(memory, 1, kBytes), cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemcpy(
          static_cast<char*>(memory) + 1, memory, 1, cudaMemcpyDeviceToDevice),
      cudaErrorInvalidValue);
  EXPECT_TRUE(read(memory).empty());
  cudaGetLastError();
  // Calls go by the calls before them, not by what streams have come to.
  ASSERT_OK(cudaGraphLaunch(program, stream));
  ASSERT_OK(cudaMemsetAsync(memory, 1, kBytes, stream));
  ASSERT_OK(cudaFreeAsync(memory, stream));
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
  cudaGetLastError();
  launch();
  EXPECT_EQ(read(memory), written);
  ASSERT_OK(cudaFree(memory));
}

TEST_F(MemoryOfAGraph, HasToBeFreedBeforeTheNextLaunch) {
  destroy();
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaMallocAsync(&memory, kBytes, stream));
  ASSERT_OK(cudaMemsetAsync(memory, kWritten, kBytes, stream));
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  ASSERT_OK(cudaGraphInstantiate(&program, graph, 0));
  launch();
  ASSERT_OK(cudaMemset(memory, 1, kBytes));
  EXPECT_EQ(cudaGraphLaunch(program, stream), cudaErrorInvalidValue);
  cudaGetLastError();
  // Nothing of the graph has run.
  EXPECT_EQ(read(memory), std::vector<unsigned char>(kBytes, 1));
  ASSERT_OK(cudaFreeAsync(memory, stream));
  launch();
  EXPECT_EQ(read(memory), written);
  ASSERT_OK(cudaFree(memory));
}

TEST_F(MemoryOfAGraph, IsNotThereBehindAGraphThatFreesIt) {
  void* inside = nullptr;
  cudaGraph_t freeing = nullptr;
  cudaGraphExec_t freeing_program = nullptr;
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaMallocAsync(&inside, kBytes, stream));
  ASSERT_OK(cudaFreeAsync(inside, stream));
  ASSERT_OK(cudaFreeAsync(memory, stream));
  ASSERT_OK(cudaStreamEndCapture(stream, &freeing));
  ASSERT_OK(cudaGraphInstantiate(&freeing_program, freeing, 0));
  // What it frees is not allocated.
  EXPECT_EQ(cudaGraphLaunch(freeing_program, stream), cudaErrorInvalidValue);
  launch();
  ASSERT_OK(cudaGraphLaunch(freeing_program, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  for (void* const freed : {inside, memory}) {
    EXPECT_EQ(cudaFree(freed), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemset(freed, 1, kBytes), cudaErrorInvalidValue);
  }
  cudaGetLastError();
  launch();
  ASSERT_OK(cudaGraphLaunch(freeing_program, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  ASSERT_OK(cudaGraphExecDestroy(freeing_program));
  ASSERT_OK(cudaGraphDestroy(freeing));
}

TEST_F(MemoryOfAGraph, IsOfOneInstanceOfOneGraph) {
  cudaGraphExec_t other_program = nullptr;
  EXPECT_EQ(
      cudaGraphInstantiate(&other_program, graph, 0), cudaErrorNotSupported);
  cudaGraph_t other = nullptr;
  EXPECT_EQ(cudaGraphClone(&other, graph), cudaErrorNotSupported);
  // Nor as a child, at once or by a launch that is captured.
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphCreate(&other, 0));
  EXPECT_EQ(
      cudaGraphAddChildGraphNode(&node, other, nullptr, 0, graph),
      cudaErrorNotSupported);
  ASSERT_OK(cudaGraphDestroy(other));
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_EQ(cudaGraphLaunch(program, stream), cudaErrorNotSupported);
  ASSERT_OK(cudaStreamEndCapture(stream, &other));
  ASSERT_OK(cudaGraphDestroy(other));
  cudaGetLastError();
  // Another instance may follow the one.
  ASSERT_OK(cudaGraphExecDestroy(program));
  ASSERT_OK(cudaGraphInstantiate(&program, graph, 0));
  launch();
  EXPECT_EQ(read(memory), written);
  ASSERT_OK(cudaFree(memory));
  ASSERT_OK(cudaGraphExecDestroy(program));
  // It may be moved into another, with the same for that.
  cudaGraphNodeParams moved{};
  moved.type = cudaGraphNodeTypeGraph;
  moved.graph.graph = graph;
  moved.reserved1[1] = 1; // the ownership, which CUDA 12.9 brought
  ASSERT_OK(cudaGraphCreate(&other, 0));
#if CUDART_VERSION >= 13000
  ASSERT_OK(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &moved));
#else
  ASSERT_OK(cudaGraphAddNode(&node, other, nullptr, 0, &moved));
#endif
  graph = other;
  ASSERT_OK(cudaGraphInstantiate(&program, graph, 0));
  EXPECT_EQ(
      cudaGraphInstantiate(&other_program, graph, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphClone(&other, graph), cudaErrorNotSupported);
  cudaGetLastError();
  launch();
  EXPECT_EQ(read(memory), written);
  EXPECT_EQ(cudaGraphLaunch(program, stream), cudaErrorInvalidValue);
  cudaGetLastError();
  ASSERT_OK(cudaFree(memory));
}

/// An attribute of device 0's memory of graphs.
std::uint64_t use(cudaGraphMemAttributeType attribute) {
  std::uint64_t value = 99;
  EXPECT_OK(cudaDeviceGetGraphMemAttribute(0, attribute, &value));
  return value;
}

void restart_high_figures() {
  std::uint64_t zero = 0;
  for (const auto attribute :
       {cudaGraphMemAttrUsedMemHigh, cudaGraphMemAttrReservedMemHigh}) {
    ASSERT_OK(cudaDeviceSetGraphMemAttribute(0, attribute, &zero));
  }
}

// As CUDA's sample graphMemoryFootprint says of a GPU.
TEST_F(MemoryOfAGraph, IsCountedFromItsLaunchUntilTheDeviceIsTrimmed) {
  ASSERT_OK(cudaDeviceGraphMemTrim(0));
  restart_high_figures();
  const auto expect = [](std::uint64_t bytes) {
    EXPECT_EQ(use(cudaGraphMemAttrUsedMemCurrent), bytes);
    EXPECT_EQ(use(cudaGraphMemAttrReservedMemCurrent), bytes);
  };
  expect(0);
  launch();
  expect(kBytes);
  launch(); // which frees it first
  expect(kBytes);
  ASSERT_OK(cudaDeviceGraphMemTrim(0)); // it is in use
  expect(kBytes);
  ASSERT_OK(cudaFreeAsync(memory, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  expect(kBytes);
  ASSERT_OK(cudaDeviceGraphMemTrim(0));
  expect(0);
  launch();
  expect(kBytes);
  EXPECT_EQ(use(cudaGraphMemAttrUsedMemHigh), kBytes);
  EXPECT_EQ(use(cudaGraphMemAttrReservedMemHigh), kBytes);
  ASSERT_OK(cudaFree(memory));
  destroy();
  expect(kBytes);
  ASSERT_OK(cudaDeviceGraphMemTrim(0));
  expect(0);
  restart_high_figures();
  EXPECT_EQ(use(cudaGraphMemAttrUsedMemHigh), 0u);
  EXPECT_EQ(use(cudaGraphMemAttrReservedMemHigh), 0u);
}

TEST_F(MemoryOfAGraph, IsCountedWhereItOutlivesItsGraph) {
  ASSERT_OK(cudaDeviceGraphMemTrim(0));
  launch();
  destroy();
  ASSERT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT_EQ(use(cudaGraphMemAttrUsedMemCurrent), kBytes);
  ASSERT_OK(cudaFreeAsync(memory, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(use(cudaGraphMemAttrUsedMemCurrent), kBytes);
  ASSERT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT_EQ(use(cudaGraphMemAttrUsedMemCurrent), 0u);
}

TEST_F(MemoryOfAGraph, HasHighestFiguresThatCanOnlyBeSetToZero) {
  std::uint64_t value = 1;
  EXPECT_EQ(
      cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value),
      cudaErrorInvalidValue);
  value = 0;
  EXPECT_EQ(
      cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, nullptr),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, nullptr),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemHigh, &value),
      cudaErrorInvalidDevice);
}

} // namespace
} // namespace accelerator::cudart::testing
