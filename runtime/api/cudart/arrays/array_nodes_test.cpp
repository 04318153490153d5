// Copies from and to CUDA arrays as nodes of graphs and in batches, compared
// with a model on the host.
#include <algorithm>
#include <cstddef>
#include <random>

#include "runtime/api/cudart/testing/arrays.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

constexpr cudaChannelFormatDesc kFormat =
    {16, 16, 0, 0, cudaChannelFormatKindSigned};
constexpr Geometry kBox = {"box", {9, 6, 5}, 0};

/// Nodes of a graph that copy from and to an array.
class ArrayNodes : public Runtime {
 protected:
  ~ArrayNodes() override {
    if (exec != nullptr) {
      EXPECT_OK(cudaGraphExecDestroy(exec));
    }
    if (graph != nullptr) {
      EXPECT_OK(cudaGraphDestroy(graph));
    }
  }
  void launch() {
    ASSERT_OK(cudaGraphLaunch(exec, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
  }
  void instantiate() {
    ASSERT_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  }

  std::mt19937 random{7};
  OwnStream stream;
  Array array{kBox, kFormat};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
};

TEST_F(ArrayNodes, AreCaptured) {
  Pinned from(10, 5);
  Pinned to(10, 0);
  array.set(Bytes(array.bytes()));
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaMemcpy2DToArrayAsync(
      array, 4, 1, from.data(), 20, 20, 2, cudaMemcpyHostToDevice, stream));
  ASSERT_OK(cudaMemcpy2DFromArrayAsync(
      to.data(), 20, array, 4, 1, 20, 2, cudaMemcpyDeviceToHost, stream));
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  instantiate();
  EXPECT_EQ(array.get(), Bytes(array.bytes()));
  from[9] = 6;
  launch();
  EXPECT_EQ(to.get(), from.get());
}

TEST_F(ArrayNodes, SayWhichArraysTheyAreOf) {
  Bytes host = random_bytes(array.bytes(), random);
  cudaMemcpy3DParms p{};
  p.srcPtr = cudaPitchedPtr{host.data(), 36, 36, 6};
  p.srcPos = {4, 1, 1};
  p.dstArray = array;
  p.dstPos = {2, 3, 1};
  p.extent = {5, 2, 3};
  p.kind = cudaMemcpyHostToDevice;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &p));
  cudaMemcpy3DParms found{};
  ASSERT_OK(cudaGraphMemcpyNodeGetParams(node, &found));
  EXPECT_EQ(found.dstArray, p.dstArray);
  EXPECT_EQ(found.dstPtr.ptr, nullptr);
  EXPECT_EQ(found.srcArray, nullptr);
  EXPECT_EQ(found.dstPos.x, 2u);
  EXPECT_EQ(found.dstPos.y, 3u);
  EXPECT_EQ(found.dstPos.z, 1u);
  EXPECT_EQ(found.extent.width, 5u);
  EXPECT_EQ(found.extent.height, 2u);
  EXPECT_EQ(found.extent.depth, 3u);
  // They mean the same copy.
  ASSERT_OK(cudaGraphMemcpyNodeSetParams(node, &found));
  instantiate();
  Bytes model(array.bytes());
  array.set(model);
  launch();
  copy_model(
      model,
      kBox.extent,
      {2, 3, 1},
      host,
      kBox.extent,
      {1, 1, 1},
      {5, 2, 3},
      4);
  EXPECT_EQ(array.get(), model);
}

// Source: CUDA runtime API, cudaGraphExecMemcpyNodeSetParams: of one dimension.
TEST_F(ArrayNodes, OfOneRowTakeOtherArrays) {
  const Array other(kBox, kFormat);
  const Bytes values = random_bytes(array.bytes(), random);
  const Bytes other_values = random_bytes(array.bytes(), random);
  array.set(values);
  other.set(other_values);
  const auto second_row = [](const Bytes& all) {
    return Bytes(all.begin() + 36, all.begin() + 72);
  };
  Bytes to(36);
  cudaMemcpy3DParms p{};
  p.srcArray = array;
  p.srcPos = {0, 1, 0};
  p.dstPtr = cudaPitchedPtr{to.data(), 36, 36, 1};
  p.extent = {9, 1, 1};
  p.kind = cudaMemcpyDeviceToHost;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &p));
  instantiate();
  launch();
  EXPECT_EQ(to, second_row(values));
  p.srcArray = other;
  ASSERT_OK(cudaGraphExecMemcpyNodeSetParams(exec, node, &p));
  launch();
  EXPECT_EQ(to, second_row(other_values));
  p.extent = {9, 2, 1};
  EXPECT_EQ(
      cudaGraphExecMemcpyNodeSetParams(exec, node, &p), cudaErrorInvalidValue);
  p.extent = {10, 1, 1};
  EXPECT_EQ(
      cudaGraphExecMemcpyNodeSetParams(exec, node, &p), cudaErrorInvalidValue);
}

#if CUDART_VERSION >= 13000
using ArrayBatches = Runtime;

TEST_F(ArrayBatches, TakeArrays) {
  std::mt19937 random(7);
  const OwnStream stream;
  const Array array(kBox, kFormat);
  const Array other(kBox, kFormat);
  Bytes model = random_bytes(array.bytes(), random);
  array.set(model);
  other.set(Bytes(other.bytes()));
  Bytes host = random_bytes(array.bytes(), random);
  cudaMemcpy3DBatchOp operations[2] = {};
  // Lengths of memory count elements, too.
  operations[0].src.type = cudaMemcpyOperandTypePointer;
  operations[0].src.op.ptr.ptr = host.data();
  operations[0].src.op.ptr.rowLength = 9;
  operations[0].src.op.ptr.layerHeight = 6;
  operations[0].dst.type = cudaMemcpyOperandTypeArray;
  operations[0].dst.op.array = {array, {1, 2, 3}};
  operations[0].extent = {7, 3, 2};
  operations[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  operations[1].src.type = cudaMemcpyOperandTypeArray;
  operations[1].src.op.array = {array, {0, 0, 0}};
  operations[1].dst.type = cudaMemcpyOperandTypeArray;
  operations[1].dst.op.array = {other, {0, 0, 0}};
  operations[1].extent = kBox.extent;
  operations[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  ASSERT_OK(cudaMemcpy3DBatchAsync(2, operations, 0, stream));
  const Bytes before = host;
  std::fill(host.begin(), host.end(), static_cast<unsigned char>(0));
  ASSERT_OK(cudaStreamSynchronize(stream));
  copy_model(
      model,
      kBox.extent,
      {1, 2, 3},
      before,
      kBox.extent,
      {0, 0, 0},
      {7, 3, 2},
      4);
  EXPECT_EQ(array.get(), model);
  EXPECT_EQ(other.get(), model);
  operations[0].dst.op.array.array = nullptr;
  EXPECT_EQ(
      cudaMemcpy3DBatchAsync(1, operations, 0, stream),
      cudaErrorInvalidResourceHandle);
}
#endif

} // namespace
} // namespace accelerator::cudart::testing
