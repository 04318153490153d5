// The functions of programs compiled with --default-stream per-thread: stream 0
// is the thread's own. BUILD.bazel defines CUDA_API_PER_THREAD_DEFAULT_STREAM,
// with which cuda.h gives all names here their endings _ptds and _ptsz.
#include <cstdint>
#include <thread>
#include <vector>

#include "runtime/api/driver/testing/context.h"

#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "compile with -DCUDA_API_PER_THREAD_DEFAULT_STREAM"
#endif

namespace accelerator::driver::testing {
namespace {

constexpr CUstream kOwn = nullptr;

using PerThread = KernelTest;

unsigned long long id(CUstream stream) {
  unsigned long long value = 0;
  EXPECT_EQ(cuStreamGetId(stream, &value), CUDA_SUCCESS);
  return value;
}

TEST_F(PerThread, EveryThreadHasAStreamOfItsOwn) {
  unsigned long long other = 0;
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    other = id(kOwn);
  }).join();
  EXPECT_NE(id(kOwn), other);
  EXPECT_NE(id(kOwn), id(CU_STREAM_LEGACY));
  EXPECT_EQ(id(kOwn), id(CU_STREAM_PER_THREAD));
}

TEST_F(PerThread, TheStreamHasAPriorityFlagsAndAContext) {
  int priority = 9;
  unsigned flags = 9;
  CUcontext owner = nullptr;
  EXPECT_EQ(cuStreamGetPriority(kOwn, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, 0);
  EXPECT_EQ(cuStreamGetFlags(kOwn, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_DEFAULT});
  EXPECT_EQ(cuStreamGetCtx(kOwn, &owner), CUDA_SUCCESS);
  EXPECT_EQ(owner, context);
}

// The legacy default stream would wait for the blocking one.
TEST_F(PerThread, CopiesAndFillsDoNotWaitForOtherStreams) {
  const std::vector<std::uint8_t> values{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<std::uint8_t> back(8);
  const Array<std::uint8_t> first(values);
  const Array<std::uint8_t> second(8);
  const Array<std::uint8_t> third(8);
  const Array<std::uint8_t> fourth(8);
  const Array<std::uint8_t> filled(8);
  const Array<std::uint8_t> rows(8);
  const Array<std::uint32_t> words(4);
  {
    const Stream blocking(CU_STREAM_DEFAULT);
    Gate gate(blocking);
    EXPECT_EQ(cuMemcpyHtoD(first.address(), values.data(), 8), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoD(second.address(), first.address(), 8), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpy(third.address(), second.address(), 8), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8(filled.address(), 1, 2), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD16(filled.address(2), 0x0202, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32(filled.address(4), 0x03030303, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD2D8(rows.address(), 4, 9, 2, 2), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD2D32(words.address(), 8, 7, 1, 2), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(back.data(), third.address(), 8), CUDA_SUCCESS);
    EXPECT_EQ(back, values);
    EXPECT_EQ(
        filled.values(), (std::vector<std::uint8_t>{1, 1, 2, 2, 3, 3, 3, 3}));
    EXPECT_EQ(
        rows.values(), (std::vector<std::uint8_t>{9, 9, 0, 0, 9, 9, 0, 0}));
    EXPECT_EQ(words.values(), (std::vector<std::uint32_t>{7, 0, 7, 0}));
    EXPECT_EQ(cuStreamSynchronize(kOwn), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(kOwn), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
  }
  // Serialized with everything on both devices, so only now.
  EXPECT_EQ(
      cuMemcpyPeer(fourth.address(), context, third.address(), context, 8),
      CUDA_SUCCESS);
  EXPECT_EQ(fourth.values(), values);
}

TEST_F(PerThread, CopiesOfArraysDoNotWaitForOtherStreams) {
  const CUDA_ARRAY_DESCRIPTOR line = {8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CUarray one = nullptr;
  CUarray other = nullptr;
  ASSERT_EQ(cuArrayCreate(&one, &line), CUDA_SUCCESS);
  ASSERT_EQ(cuArrayCreate(&other, &line), CUDA_SUCCESS);
  const Array<std::uint8_t> memory(8);
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, 16), CUDA_SUCCESS);
  auto* host = static_cast<std::uint8_t*>(pinned);
  for (std::uint8_t i = 0; i < 16; ++i) {
    host[i] = i < 8 ? i : 0;
  }
  {
    const Stream blocking(CU_STREAM_DEFAULT);
    Gate gate(blocking);
    EXPECT_EQ(cuMemcpyHtoA(one, 0, host, 4), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoAAsync(one, 4, host + 4, 4, kOwn), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyAtoD(memory.address(), one, 0, 8), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoA(other, 0, memory.address(), 4), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyAtoA(other, 4, one, 4, 4), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyAtoH(host + 8, other, 0, 4), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyAtoHAsync(host + 12, other, 4, 4, kOwn), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(kOwn), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
  }
  for (std::uint8_t i = 0; i < 8; ++i) {
    EXPECT_EQ(host[8 + i], i);
  }
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(one), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(other), CUDA_SUCCESS);
}

TEST_F(PerThread, EventsAreRecordedAndAwaitedInTheOwnStream) {
  CUevent event = nullptr, later = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&later, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  {
    const Stream other;
    Gate gate(other);
    ASSERT_EQ(cuEventRecord(event, other), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(later, kOwn), CUDA_SUCCESS);
    EXPECT_EQ(cuEventSynchronize(later), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(kOwn, event, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(kOwn), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(cuEventRecordWithFlags(later, kOwn, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(later), CUDA_ERROR_NOT_READY);
    gate.open();
    EXPECT_EQ(cuStreamSynchronize(kOwn), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(later), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(later), CUDA_SUCCESS);
}

TEST_F(PerThread, MemoryComesAndGoesInTheOwnStream) {
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuDeviceGetMemPool(&pool, 0), CUDA_SUCCESS);
  for (const bool is_named : {false, true}) {
    CUdeviceptr memory = 0;
    unsigned value = 0;
    ASSERT_EQ(
        is_named ? cuMemAllocFromPoolAsync(&memory, 4, pool, kOwn)
                 : cuMemAllocAsync(&memory, 4, kOwn),
        CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32Async(memory, 6, 1, kOwn), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoHAsync(&value, memory, 4, kOwn), CUDA_SUCCESS);
    ASSERT_EQ(cuMemFreeAsync(memory, kOwn), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(kOwn), CUDA_SUCCESS);
    EXPECT_EQ(value, 6u);
    EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE) << "it is freed";
  }
}

// The legacy default stream cannot be captured.
TEST_F(PerThread, WorkInTheOwnStreamIsCapturedAndLaunched) {
  const Array<std::uint32_t> array(8);
  CUdeviceptr counter = array.address(7);
  void* arguments[] = {&counter};
  const CUfunction count = kernel("count");
  CUlaunchConfig configuration{};
  configuration.gridDimX = configuration.gridDimY = configuration.gridDimZ = 1;
  configuration.blockDimX = 4;
  configuration.blockDimY = configuration.blockDimZ = 1;
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, 8), CUDA_SUCCESS);
  auto* host = static_cast<std::uint32_t*>(pinned);
  host[0] = 11;
  host[1] = 0;
  int calls = 0;

  ASSERT_EQ(
      cuStreamBeginCapture(kOwn, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(array.address(0), 1, 4, kOwn), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD16Async(array.address(1), 2, 2, kOwn), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(array.address(2), 3, 1, kOwn), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoDAsync(array.address(3), host, 4, kOwn), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemcpyDtoDAsync(array.address(4), array.address(3), 4, kOwn),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemcpyAsync(array.address(5), array.address(2), 4, kOwn), CUDA_SUCCESS);
  EXPECT_EQ(
      cuMemcpyPeerAsync(
          array.address(6), context, array.address(1), context, 4, kOwn),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, kOwn, arguments, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuLaunchCooperativeKernel(count, 1, 1, 1, 2, 1, 1, 0, kOwn, arguments),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuLaunchKernelEx(&configuration, count, arguments, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoHAsync(host + 1, counter, 4, kOwn), CUDA_SUCCESS);
  EXPECT_EQ(
      cuLaunchHostFunc(
          kOwn, [](void* data) { ++*static_cast<int*>(data); }, &calls),
      CUDA_SUCCESS);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_EQ(cuStreamIsCapturing(kOwn, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  std::size_t last = 0;
  EXPECT_EQ(
      cuStreamGetCaptureInfo(kOwn, &status, nullptr, nullptr, nullptr, &last),
      CUDA_SUCCESS);
  EXPECT_EQ(last, 1u);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(kOwn, &graph), CUDA_SUCCESS);
  std::size_t nodes = 0;
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &nodes), CUDA_SUCCESS);
  EXPECT_EQ(nodes, 12u);
  EXPECT_EQ(array.values(), std::vector<std::uint32_t>(8)) << "only captured";

  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphUpload(exec, kOwn), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, kOwn), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(kOwn), CUDA_SUCCESS);
  EXPECT_EQ(
      array.values(),
      (std::vector<std::uint32_t>{
          0x01010101, 0x00020002, 3, 11, 11, 3, 0x00020002, 7}));
  EXPECT_EQ(host[1], 7u);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing
