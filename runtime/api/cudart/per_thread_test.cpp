// Programs compiled with --default-stream per-thread: stream 0 is the calling
// thread's own. The macro makes the header name the _ptsz and _ptds variants,
// so every call here is one of them.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include <chrono>
#include <functional>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// What code of nvcc 12.8 and later calls for <<<...>>>.
extern "C" {
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel_ptsz(
    cudaKernel_t,
    dim3,
    dim3,
    void**,
    size_t,
    cudaStream_t);
}

namespace accelerator::cudart::testing {
namespace {

// While a test runs, the stream 0 of its thread is held up. What another
// thread does in its own stream 0 gets done all the same; it would wait if
// that were the same stream, or the legacy one, which waits for both.
class PerThread : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    ASSERT_OK(cudaLaunchHostFunc(nullptr, Gate::wait, &gate));
  }
  void TearDown() override {
    gate.open();
    Runtime::TearDown();
  }
  // Runs the calls in another thread, and waits for its stream 0.
  void elsewhere(const std::function<void()>& calls) {
    auto done = std::async(std::launch::async, [&] {
      calls();
      EXPECT_OK(cudaStreamSynchronize(nullptr));
    });
    if (done.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
      gate.open(); // so that it ends at all
      FAIL() << "the stream 0 of one thread waits for that of another";
    }
    done.get();
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
    cudaGetLastError();
  }

  Gate gate;
  Pinned from{16, 3};
  Pinned to{16};
};

TEST_F(PerThread, CopiesDoNotWaitForOtherThreads) {
  elsewhere([&] {
    ASSERT_OK(cudaMemcpy(to.data(), from.data(), 4, cudaMemcpyDefault));
    ASSERT_OK(cudaMemcpyAsync(
        to.data() + 1, from.data(), 4, cudaMemcpyDefault, nullptr));
    ASSERT_OK(cudaMemcpy2D(
        to.data() + 2, 4, from.data(), 4, 4, 2, cudaMemcpyDefault));
    ASSERT_OK(cudaMemcpy2DAsync(
        to.data() + 4, 4, from.data(), 4, 4, 2, cudaMemcpyDefault, nullptr));
  });
  std::vector<int> expected(16);
  std::fill_n(expected.begin(), 6, 3);
  EXPECT_EQ(to.get(), expected);
}

TEST_F(PerThread, CopiesOfBoxesDoNotWaitForOtherThreads) {
  cudaMemcpy3DParms box{};
  box.srcPtr = {from.data(), 4, 4, 4};
  box.dstPtr = {to.data(), 4, 4, 4};
  box.extent = {4, 4, 1};
  box.kind = cudaMemcpyDefault;
  cudaMemcpy3DPeerParms peer{};
  peer.srcPtr = box.srcPtr;
  peer.dstPtr = box.dstPtr;
  peer.extent = box.extent;
  elsewhere([&] {
    ASSERT_OK(cudaMemcpy3D(&box));
    box.dstPtr.ptr = to.data() + 4;
    ASSERT_OK(cudaMemcpy3DAsync(&box, nullptr));
    peer.dstPtr.ptr = to.data() + 8;
    ASSERT_OK(cudaMemcpy3DPeer(&peer));
    peer.dstPtr.ptr = to.data() + 12;
    ASSERT_OK(cudaMemcpy3DPeerAsync(&peer, nullptr));
  });
  EXPECT_EQ(to.get(), from.get());
}

TEST_F(PerThread, CopiesOfArraysDoNotWaitForOtherThreads) {
  const cudaChannelFormatDesc format = {
      32, 0, 0, 0, cudaChannelFormatKindSigned};
  cudaArray_t one = nullptr;
  cudaArray_t other = nullptr;
  ASSERT_OK(cudaMallocArray(&one, &format, 8, 2, 0));
  ASSERT_OK(cudaMallocArray(&other, &format, 8, 2, 0));
  constexpr auto kDefault = cudaMemcpyDefault;
  // Elements 0 to 7 by planes, 8 to 15 by runs, at once and in the stream.
  elsewhere([&] {
    ASSERT_OK(cudaMemcpy2DToArray(one, 0, 0, from.data(), 16, 16, 1, kDefault));
    ASSERT_OK(cudaMemcpy2DToArrayAsync(
        one, 16, 0, from.data(), 16, 16, 1, kDefault, nullptr));
    ASSERT_OK(cudaMemcpyToArray(one, 0, 1, from.data(), 16, kDefault));
    ASSERT_OK(
        cudaMemcpyToArrayAsync(one, 16, 1, from.data(), 16, kDefault, nullptr));
    ASSERT_OK(
        cudaMemcpy2DArrayToArray(other, 0, 0, one, 0, 0, 32, 1, kDefault));
    ASSERT_OK(cudaMemcpyArrayToArray(other, 0, 1, one, 0, 1, 32, kDefault));
    int* at = to.data();
    ASSERT_OK(cudaMemcpy2DFromArray(at, 16, other, 0, 0, 16, 1, kDefault));
    ASSERT_OK(cudaMemcpy2DFromArrayAsync(
        at + 4, 16, other, 16, 0, 16, 1, kDefault, nullptr));
    ASSERT_OK(cudaMemcpyFromArray(at + 8, other, 0, 1, 16, kDefault));
    ASSERT_OK(
        cudaMemcpyFromArrayAsync(at + 12, other, 16, 1, 16, kDefault, nullptr));
  });
  EXPECT_EQ(to.get(), from.get());
  gate.open(); // freeing waits for all
  EXPECT_OK(cudaFreeArray(one));
  EXPECT_OK(cudaFreeArray(other));
}

TEST_F(PerThread, FillsDoNotWaitForOtherThreads) {
  const auto at = [&](int i) { return to.data() + i; };
  const cudaExtent one{4, 1, 1};
  elsewhere([&] {
    ASSERT_OK(cudaMemset(at(0), 1, 4));
    ASSERT_OK(cudaMemset2D(at(1), 4, 2, 4, 1));
    ASSERT_OK(cudaMemset3D({at(2), 4, 4, 1}, 3, one));
    ASSERT_OK(cudaMemsetAsync(at(3), 4, 4, nullptr));
    ASSERT_OK(cudaMemset2DAsync(at(4), 4, 5, 4, 1, nullptr));
    ASSERT_OK(cudaMemset3DAsync({at(5), 4, 4, 1}, 6, one, nullptr));
  });
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(to[static_cast<std::size_t>(i)], 0x01010101 * (i + 1));
  }
}

TEST_F(PerThread, SymbolsAreCopiedWithoutWaitingForOtherThreads) {
  elsewhere([&] {
    const int six = 6;
    int found = 0;
    ASSERT_OK(
        cudaMemcpyToSymbol(offset_symbol(), &six, 4, 0, cudaMemcpyDefault));
    ASSERT_OK(
        cudaMemcpyFromSymbol(&found, offset_symbol(), 4, 0, cudaMemcpyDefault));
    EXPECT_EQ(found, 6);
    from[0] = 5;
    ASSERT_OK(cudaMemcpyToSymbolAsync(
        offset_symbol(), from.data(), 4, 0, cudaMemcpyDefault, nullptr));
    ASSERT_OK(cudaMemcpyFromSymbolAsync(
        to.data(), offset_symbol(), 4, 0, cudaMemcpyDefault, nullptr));
  });
  EXPECT_EQ(to[0], 5);
}

TEST_F(PerThread, MemoryIsAllocatedInTheOrderOfTheOwnStream) {
  cudaMemPool_t pool = nullptr;
  void* managed = nullptr;
  ASSERT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  ASSERT_OK(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
  elsewhere([&] {
    void* first = nullptr;
    void* second = nullptr;
    ASSERT_OK(cudaMallocAsync(&first, 64, nullptr));
    ASSERT_OK(cudaMallocFromPoolAsync(&second, 64, pool, nullptr));
    ASSERT_OK(
        cudaMemcpyAsync(first, from.data(), 64, cudaMemcpyDefault, nullptr));
    ASSERT_OK(cudaMemcpyAsync(second, first, 64, cudaMemcpyDefault, nullptr));
    ASSERT_OK(
        cudaMemcpyAsync(to.data(), second, 64, cudaMemcpyDefault, nullptr));
    ASSERT_OK(cudaFreeAsync(first, nullptr));
    ASSERT_OK(cudaFreeAsync(second, nullptr));
    ASSERT_OK(cudaMemPrefetchAsync(managed, 64, 0, nullptr));
    ASSERT_OK(cudaMemPrefetchAsync_v2(
        managed, 64, {cudaMemLocationTypeDevice, 0}, 0, nullptr));
    ASSERT_OK(
        cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachGlobal));
  });
  EXPECT_EQ(to.get(), from.get());
  std::uint64_t used = 1;
  EXPECT_OK(
      cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u);
  gate.open();
  EXPECT_OK(cudaFree(managed));
}

TEST_F(PerThread, KernelsDoNotWaitForOtherThreads) {
  int* data = to.data();
  int* values = from.data();
  int amount = 2;
  int count = 16;
  void* adding[] = {&data, &amount, &count};
  void* rotating[] = {&values, &data};
  std::fill_n(values, 16, 3);
  values[0] = 9;
  elsewhere([&] {
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(1);
    configuration.blockDim = dim3(16);
    ASSERT_OK(cudaLaunchCooperativeKernel(
        symbol(rotate), 1, 16, rotating, 0, nullptr)); // to = from
    ASSERT_OK(cudaLaunchKernel(symbol(add), 1, 16, adding, 0, nullptr));
    ASSERT_OK(cudaLaunchKernelExC(&configuration, symbol(add), adding));
    cudaKernel_t kernel = nullptr;
    ASSERT_OK(__cudaGetKernel(&kernel, symbol(add)));
    ASSERT_OK(__cudaLaunchKernel_ptsz(kernel, 1, 16, adding, 0, nullptr));
  });
  EXPECT_EQ(to[0], 15);
  EXPECT_EQ(to[1], 9);
  EXPECT_EQ(from[15], 9);
}

TEST_F(PerThread, TheOwnStreamWaitsForEventsOfOthers) {
  cudaEvent_t event = nullptr;
  cudaEvent_t later = nullptr;
  ASSERT_OK(cudaEventCreate(&event));
  ASSERT_OK(cudaEventCreate(&later));
  elsewhere([&] {
    OwnStream other;
    Gate held;
    ASSERT_OK(cudaLaunchHostFunc(other, Gate::wait, &held));
    ASSERT_OK(cudaEventRecord(event, other));
    ASSERT_OK(cudaStreamWaitEvent(nullptr, event, 0));
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
    ASSERT_OK(cudaEventRecordWithFlags(later, nullptr, cudaEventRecordDefault));
    EXPECT_EQ(cudaEventQuery(later), cudaErrorNotReady);
    held.open();
    EXPECT_OK(cudaStreamSynchronize(nullptr));
    EXPECT_OK(cudaEventQuery(later));
    cudaGetLastError();
  });
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_OK(cudaEventDestroy(later));
}

TEST_F(PerThread, EventsAreOfTheOwnStream) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreate(&event));
  elsewhere([&] {
    ASSERT_OK(cudaEventRecord(event, nullptr));
    EXPECT_OK(cudaEventSynchronize(event));
    ASSERT_OK(cudaEventRecordWithFlags(event, nullptr, cudaEventRecordDefault));
    EXPECT_OK(cudaEventSynchronize(event));
    ASSERT_OK(cudaStreamWaitEvent(nullptr, event, 0));
    EXPECT_OK(cudaStreamSynchronize(nullptr));
    EXPECT_OK(cudaStreamQuery(nullptr));
  });
  ASSERT_OK(cudaEventRecord(event, nullptr)); // behind the gate
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  gate.open();
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT_OK(cudaEventDestroy(event));
}

TEST_F(PerThread, CallbacksDoNotWaitForOtherThreads) {
  int count = 0;
  elsewhere([&] {
    ASSERT_OK(cudaLaunchHostFunc(nullptr, count_up, &count));
    ASSERT_OK(cudaStreamAddCallback(
        nullptr,
        [](cudaStream_t, cudaError_t, void* data) { count_up(data); },
        &count,
        0));
  });
  EXPECT_EQ(count, 2);
}

TEST_F(PerThread, StreamsAreOnesOfTheirOwn) {
  unsigned long long own = 0;
  unsigned long long named = 0;
  unsigned long long legacy = 0;
  unsigned long long others = 0;
  ASSERT_OK(cudaStreamGetId(nullptr, &own));
  ASSERT_OK(cudaStreamGetId(cudaStreamPerThread, &named));
  ASSERT_OK(cudaStreamGetId(cudaStreamLegacy, &legacy));
  elsewhere([&] { ASSERT_OK(cudaStreamGetId(nullptr, &others)); });
  EXPECT_EQ(own, named);
  EXPECT_NE(own, legacy);
  EXPECT_NE(own, others);
  unsigned flags = 99;
  int priority = 99;
  EXPECT_OK(cudaStreamGetFlags(nullptr, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamDefault));
  EXPECT_OK(cudaStreamGetPriority(nullptr, &priority));
  EXPECT_EQ(priority, 0);
  EXPECT_EQ(cudaStreamGetFlags(nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamGetPriority(nullptr, nullptr), cudaErrorInvalidValue);
}

TEST_F(PerThread, AttributesAreOfTheOwnStream) {
  cudaLaunchAttributeValue value{};
  value.syncPolicy = cudaSyncPolicySpin;
  const auto policy = cudaLaunchAttributeSynchronizationPolicy;
  ASSERT_OK(cudaStreamSetAttribute(nullptr, policy, &value));
  elsewhere([&] {
    cudaLaunchAttributeValue other{};
    ASSERT_OK(cudaStreamGetAttribute(nullptr, policy, &other));
    EXPECT_NE(other.syncPolicy, cudaSyncPolicySpin);
  });
  OwnStream stream;
  ASSERT_OK(cudaStreamCopyAttributes(stream, nullptr));
  value = {};
  ASSERT_OK(cudaStreamGetAttribute(stream, policy, &value));
  EXPECT_EQ(value.syncPolicy, cudaSyncPolicySpin);
}

TEST_F(PerThread, StreamZeroIsCapturedUnlikeTheLegacyOne) {
  int calls = 0;
  elsewhere([&] {
    cudaGraph_t graph = nullptr;
    cudaGraph_t into = nullptr;
    cudaGraphExec_t exec = nullptr;
    auto status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* nodes = nullptr;
    const cudaGraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    ASSERT_OK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed));
    ASSERT_OK(cudaStreamIsCapturing(nullptr, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    ASSERT_OK(cudaLaunchHostFunc(nullptr, count_up, &calls));
    ASSERT_OK(cudaStreamGetCaptureInfo(
        nullptr, &status, nullptr, nullptr, &nodes, &count));
    EXPECT_EQ(count, 1u);
    cudaGraphNode_t node = nodes[0];
    ASSERT_OK(cudaStreamUpdateCaptureDependencies(
        nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
    ASSERT_OK(cudaStreamGetCaptureInfo_v3(
        nullptr, &status, nullptr, nullptr, &nodes, &edges, &count));
    EXPECT_EQ(count, 0u);
    ASSERT_OK(cudaStreamUpdateCaptureDependencies_v2(
        nullptr, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
    ASSERT_OK(cudaStreamGetCaptureInfo_v3(
        nullptr, &status, nullptr, nullptr, &nodes, &edges, &count));
    EXPECT_EQ(count, 1u);
    ASSERT_OK(cudaStreamEndCapture(nullptr, &graph));
    ASSERT_OK(cudaGraphCreate(&into, 0));
    ASSERT_OK(cudaStreamBeginCaptureToGraph(
        nullptr, into, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    ASSERT_OK(cudaLaunchHostFunc(nullptr, count_up, &calls));
    ASSERT_OK(cudaStreamEndCapture(nullptr, &into));
    EXPECT_EQ(calls, 0);
    for (const cudaGraph_t made : {graph, into}) {
      cudaGraphInstantiateParams parameters{};
      ASSERT_OK(cudaGraphInstantiateWithParams(&exec, made, &parameters));
      ASSERT_OK(cudaGraphUpload(exec, nullptr));
      ASSERT_OK(cudaGraphLaunch(exec, nullptr));
      ASSERT_OK(cudaStreamSynchronize(nullptr));
      EXPECT_OK(cudaGraphExecDestroy(exec));
      EXPECT_OK(cudaGraphDestroy(made));
    }
  });
  EXPECT_EQ(calls, 2);
}

} // namespace
} // namespace accelerator::cudart::testing
