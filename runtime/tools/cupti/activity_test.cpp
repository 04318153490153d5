// Records of kernels, copies, fills, calls, waits and events.
#include <cuda.h>

#include <map>
#include <string>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"
#include "runtime/api/driver/testing/context.h"
#include "runtime/tools/cupti/testing/trace.h"

namespace accelerator::cupti::testing {
namespace {

using namespace accelerator::cudart::testing;

class Activities : public Runtime {};

std::uint32_t id_of(cudaStream_t stream) {
  std::uint32_t id = 0;
  EXPECT_CUPTI(cuptiGetStreamId(nullptr, stream, &id));
  return id;
}

cudaError_t launch_add_on(
    cudaStream_t stream,
    int* values,
    dim3 grid,
    dim3 block,
    std::size_t shared = 0) {
  int amount = 1;
  int count = 1;
  void* arguments[] = {&values, &amount, &count};
  return cudaLaunchKernel(symbol(add), grid, block, arguments, shared, stream);
}

TEST_F(Activities, RecordEachKernelOnceWithItsLaunch) {
  OnDevice values(std::size_t{4});
  OwnStream stream;
  cudaFuncAttributes attributes{};
  ASSERT_OK(cudaFuncGetAttributes(&attributes, symbol(add)));
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  ASSERT_OK(
      launch_add_on(stream, values.data(), dim3(2, 3, 4), dim3(8, 2, 1), 128));
  const Records records = trace.records();
  ASSERT_EQ(records.kernels.size(), 1u);
  EXPECT_EQ(records.count(), 1u);
  const CUpti_ActivityKernel9& kernel = records.kernels[0];
  EXPECT_EQ(kernel.kind, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_NE(std::string(kernel.name).find("add"), std::string::npos);
  EXPECT_EQ(kernel.gridX, 2);
  EXPECT_EQ(kernel.gridY, 3);
  EXPECT_EQ(kernel.gridZ, 4);
  EXPECT_EQ(kernel.blockX, 8);
  EXPECT_EQ(kernel.blockY, 2);
  EXPECT_EQ(kernel.blockZ, 1);
  EXPECT_EQ(kernel.dynamicSharedMemory, 128);
  EXPECT_EQ(kernel.staticSharedMemory, 0);
  EXPECT_EQ(kernel.registersPerThread, attributes.numRegs);
  EXPECT_EQ(kernel.deviceId, 0u);
  EXPECT_EQ(kernel.streamId, id_of(stream));
  EXPECT_EQ(kernel.graphId, 0u);
  EXPECT_LT(kernel.start, kernel.end);
}

TEST_F(Activities, RecordStaticSharedMemory) {
  OnDevice values(std::size_t{kMostThreads});
  int* data = values.data();
  void* arguments[] = {&data};
  Trace trace({CUPTI_ACTIVITY_KIND_KERNEL});
  ASSERT_OK(cudaLaunchKernel(
      symbol(bounded), 1, kMostThreads, arguments, 0, nullptr));
  const Records records = trace.records();
  ASSERT_EQ(records.kernels.size(), 1u);
  EXPECT_EQ(records.kernels[0].kind, CUPTI_ACTIVITY_KIND_KERNEL);
  EXPECT_EQ(
      records.kernels[0].staticSharedMemory,
      static_cast<int>(kStaticInts * sizeof(int)));
}

TEST_F(Activities, CorrelateKernelsWithTheCallsThatLaunchThem) {
  OnDevice values(std::size_t{4});
  Trace trace(
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME});
  constexpr std::size_t kLaunches = 50;
  for (std::size_t i = 0; i < kLaunches; ++i) {
    ASSERT_OK(launch_add_on(
        nullptr, values.data(), dim3(static_cast<unsigned>(i) + 1), 1));
  }
  const Records records = trace.records();
  ASSERT_EQ(records.kernels.size(), kLaunches);
  const auto launches = calls_of(records.calls, "cudaLaunchKernel");
  ASSERT_EQ(launches.size(), kLaunches);
  std::map<std::uint32_t, CUpti_ActivityAPI> by_correlation;
  for (const CUpti_ActivityAPI& call : launches) {
    EXPECT_LE(call.start, call.end);
    EXPECT_EQ(call.returnValue, 0u);
    by_correlation[call.correlationId] = call;
  }
  ASSERT_EQ(by_correlation.size(), kLaunches);
  std::uint64_t before = 0;
  int number = 0;
  for (const CUpti_ActivityKernel9& kernel : records.kernels) {
    EXPECT_EQ(kernel.gridX, ++number); // in the order of the stream
    EXPECT_GE(kernel.start, before);
    before = kernel.end;
    ASSERT_EQ(by_correlation.count(kernel.correlationId), 1u);
    EXPECT_GE(kernel.start, by_correlation.at(kernel.correlationId).start);
  }
}

TEST_F(Activities, ShowStreamsThatOverlap) {
  // Two host functions meet, so the kernels in front of and behind them on one
  // stream lie around those on the other.
  OnDevice values(std::size_t{4});
  OwnStream first;
  OwnStream second;
  Gate gate;
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  ASSERT_OK(launch_add_on(first, values.data(), 1, 1));
  ASSERT_OK(cudaLaunchHostFunc(first, Gate::wait, &gate));
  ASSERT_OK(launch_add_on(first, values.data(), 3, 1));
  ASSERT_OK(launch_add_on(second, values.data(), 2, 1));
  ASSERT_OK(cudaStreamSynchronize(second));
  gate.open();
  const Records records = trace.records();
  std::map<int, CUpti_ActivityKernel9> kernels;
  for (const CUpti_ActivityKernel9& kernel : records.kernels) {
    kernels[kernel.gridX] = kernel;
  }
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[1].streamId, kernels[3].streamId);
  EXPECT_NE(kernels[1].streamId, kernels[2].streamId);
  EXPECT_GE(kernels[3].start, kernels[2].end);
}

TEST_F(Activities, RecordCopiesOfAllKinds) {
  OnDevice device(std::size_t{256});
  OnDevice other(std::size_t{256});
  Pinned pinned(256);
  std::vector<int> pageable(256);
  int* managed = nullptr;
  ASSERT_OK(cudaMallocManaged(reinterpret_cast<void**>(&managed), 1024));
  struct Case {
    void* to;
    const void* from;
    std::size_t bytes;
    int kind;
    int from_kind;
    int to_kind;
  };
  const std::vector<Case> cases = {
      {device.data(), pageable.data(), 1024, 1, 1, 3}, // HtoD
      {pageable.data(), device.data(), 1000, 2, 3, 1}, // DtoH
      {device.data(), pinned.data(), 512, 1, 2, 3},
      {pinned.data(), device.data(), 8, 2, 3, 2},
      {other.data(), device.data(), 64, 8, 3, 3}, // DtoD
      {pinned.data(), pageable.data(), 16, 9, 1, 2}, // HtoH
      {managed, device.data(), 128, 8, 3, 5},
  };
  Trace trace({CUPTI_ACTIVITY_KIND_MEMCPY});
  for (const Case& copy : cases) {
    ASSERT_OK(cudaMemcpy(copy.to, copy.from, copy.bytes, cudaMemcpyDefault));
  }
  ASSERT_OK(cudaMemcpy2D(
      device.data(), 64, pinned.data(), 32, 16, 8, cudaMemcpyHostToDevice));
  ASSERT_OK(cudaMemcpy(
      device.data(), pageable.data(), 0, cudaMemcpyHostToDevice)); // nothing
  const Records records = trace.records();
  ASSERT_EQ(records.copies.size(), cases.size() + 1);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CUpti_ActivityMemcpy5& copy = records.copies[i];
    EXPECT_EQ(copy.bytes, cases[i].bytes) << i;
    EXPECT_EQ(copy.srcKind, cases[i].from_kind) << i;
    EXPECT_EQ(copy.dstKind, cases[i].to_kind) << i;
    EXPECT_EQ(copy.copyKind, cases[i].kind) << i;
    EXPECT_LE(copy.start, copy.end);
  }
  EXPECT_EQ(records.copies.back().bytes, 16u * 8);
  ASSERT_OK(cudaFree(managed));
}

TEST_F(Activities, RecordCopiesBetweenDevices) {
  OnDevice here(std::size_t{16});
  ASSERT_OK(cudaSetDevice(1));
  OnDevice there(std::size_t{16});
  Trace trace({CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2});
  ASSERT_OK(cudaMemcpyPeer(there.data(), 1, here.data(), 0, 64));
  const Records records = trace.records();
  EXPECT_TRUE(records.copies.empty());
  ASSERT_EQ(records.peer_copies.size(), 1u);
  const CUpti_ActivityMemcpyPtoP4& copy = records.peer_copies[0];
  EXPECT_EQ(copy.copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
  EXPECT_EQ(copy.srcDeviceId, 0u);
  EXPECT_EQ(copy.dstDeviceId, 1u);
  EXPECT_EQ(copy.bytes, 64u);
}

TEST_F(Activities, RecordCopiesOfArrays) {
  const cudaChannelFormatDesc format = {
      32, 0, 0, 0, cudaChannelFormatKindFloat};
  cudaArray_t one = nullptr;
  cudaArray_t other = nullptr;
  ASSERT_OK(cudaMallocArray(&one, &format, 16, 0, 0));
  ASSERT_OK(cudaMallocArray(&other, &format, 16, 0, 0));
  OnDevice device(std::size_t{16});
  std::vector<int> host(16);
  Trace trace({CUPTI_ACTIVITY_KIND_MEMCPY});
  constexpr auto kDefault = cudaMemcpyDefault;
  ASSERT_OK(cudaMemcpy2DToArray(one, 0, 0, host.data(), 64, 64, 1, kDefault));
  ASSERT_OK(cudaMemcpy2DFromArray(host.data(), 64, one, 0, 0, 60, 1, kDefault));
  ASSERT_OK(cudaMemcpy2DToArray(one, 0, 0, device.data(), 64, 56, 1, kDefault));
  ASSERT_OK(
      cudaMemcpy2DFromArray(device.data(), 64, one, 0, 0, 52, 1, kDefault));
  ASSERT_OK(cudaMemcpy2DArrayToArray(other, 0, 0, one, 0, 0, 48, 1, kDefault));
  const Records records = trace.records();
  const std::vector<int> kinds = {
      CUPTI_ACTIVITY_MEMCPY_KIND_HTOA,
      CUPTI_ACTIVITY_MEMCPY_KIND_ATOH,
      CUPTI_ACTIVITY_MEMCPY_KIND_DTOA,
      CUPTI_ACTIVITY_MEMCPY_KIND_ATOD,
      CUPTI_ACTIVITY_MEMCPY_KIND_ATOA};
  ASSERT_EQ(records.copies.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(records.copies[i].copyKind, kinds[i]) << i;
    EXPECT_EQ(records.copies[i].bytes, 64 - 4 * i);
  }
  EXPECT_EQ(records.copies[4].srcKind, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
  EXPECT_EQ(records.copies[4].dstKind, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
  ASSERT_OK(cudaFreeArray(one));
  ASSERT_OK(cudaFreeArray(other));
}

TEST_F(Activities, RecordFills) {
  OnDevice values(std::size_t{64});
  Trace trace({CUPTI_ACTIVITY_KIND_MEMSET});
  ASSERT_OK(cudaMemset(values.data(), 7, 100));
  ASSERT_OK(cudaMemset2DAsync(values.data(), 32, 1, 8, 4, nullptr));
  const Records records = trace.records();
  ASSERT_EQ(records.fills.size(), 2u);
  EXPECT_EQ(records.fills[0].bytes, 100u);
  EXPECT_EQ(records.fills[0].value, 7u);
  EXPECT_EQ(records.fills[0].memoryKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  EXPECT_EQ(records.fills[1].bytes, 32u);
}

TEST_F(Activities, RecordWorkOfTheOtherDeviceAsTheOthers) {
  ASSERT_OK(cudaSetDevice(1));
  OnDevice values(std::size_t{4});
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  ASSERT_OK(launch_add_on(nullptr, values.data(), 1, 1));
  const Records records = trace.records();
  ASSERT_EQ(records.kernels.size(), 1u);
  EXPECT_EQ(records.kernels[0].deviceId, 1u);
  std::uint32_t context = 0;
  ASSERT_CUPTI(cuptiGetContextId(nullptr, &context));
  EXPECT_EQ(records.kernels[0].contextId, context);
}

TEST_F(Activities, RecordCallsThatFailWithWhatTheyAnswer) {
  Trace trace({CUPTI_ACTIVITY_KIND_RUNTIME});
  void* memory = nullptr;
  EXPECT_EQ(cudaHostAlloc(&memory, 16, 0x1234), cudaErrorInvalidValue);
  const Records records = trace.records();
  const auto calls = calls_of(records.calls, "cudaHostAlloc");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(
      calls[0].returnValue, static_cast<std::uint32_t>(cudaErrorInvalidValue));
}

TEST_F(Activities, RecordACallOnceThatMakesOthers) {
  OnDevice values(std::size_t{4});
  Trace trace({CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER});
  ASSERT_EQ(
      cuMemsetD32(reinterpret_cast<CUdeviceptr>(values.data()), 3, 4),
      CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  const Records records = trace.records();
  EXPECT_EQ(records.calls.size(), 1u); // cudaDeviceSynchronize
  std::vector<std::string> names;
  for (const CUpti_ActivityAPI& call : records.driver_calls) {
    names.push_back(name_of(call));
  }
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "cuMemsetD32_v2", "cuMemAlloc_v2", "cuMemFree_v2"}));
}

TEST_F(Activities, CarryTheIdsThatTheThreadPushed) {
  OnDevice values(std::size_t{4});
  Trace trace(
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
       CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION});
  ASSERT_CUPTI(cuptiActivityPushExternalCorrelationId(
      CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 100));
  ASSERT_CUPTI(cuptiActivityPushExternalCorrelationId(
      CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 7));
  ASSERT_OK(launch_add_on(nullptr, values.data(), 1, 1));
  ASSERT_CUPTI(cuptiActivityPushExternalCorrelationId(
      CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 200));
  ASSERT_OK(launch_add_on(nullptr, values.data(), 2, 1));
  std::uint64_t last = 0;
  ASSERT_CUPTI(cuptiActivityPopExternalCorrelationId(
      CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
  EXPECT_EQ(last, 200u);
  ASSERT_OK(launch_add_on(nullptr, values.data(), 3, 1));
  for (const auto kind :
       {CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
        CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1}) {
    ASSERT_CUPTI(cuptiActivityPopExternalCorrelationId(kind, nullptr));
    EXPECT_EQ(
        cuptiActivityPopExternalCorrelationId(kind, &last),
        CUPTI_ERROR_QUEUE_EMPTY);
  }
  ASSERT_OK(launch_add_on(nullptr, values.data(), 4, 1));
  const Records records = trace.records();
  std::map<std::pair<std::uint32_t, int>, std::uint64_t> ids;
  for (const CUpti_ActivityExternalCorrelation& record : records.external) {
    ids[{record.correlationId, record.externalKind}] = record.externalId;
  }
  ASSERT_EQ(records.kernels.size(), 4u);
  const std::uint64_t expected[] = {100, 200, 100};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t correlation = records.kernels[i].correlationId;
    EXPECT_EQ(
        (ids[{correlation, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0}]),
        expected[i]);
    EXPECT_EQ(
        (ids[{correlation, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1}]), 7u);
  }
  EXPECT_EQ(
      (ids.count(
          {records.kernels[3].correlationId,
           CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0})),
      0u);
}

TEST_F(Activities, RecordWaitsAndEvents) {
  OwnStream stream;
  OwnStream other;
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreate(&event));
  Trace trace(
      {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CUDA_EVENT});
  ASSERT_OK(cudaEventRecord(event, stream));
  ASSERT_OK(cudaStreamWaitEvent(other, event, 0));
  ASSERT_OK(cudaEventSynchronize(event));
  ASSERT_OK(cudaStreamSynchronize(other));
  const Records records = trace.records();
  ASSERT_EQ(records.events.size(), 1u);
  EXPECT_EQ(records.events[0].streamId, id_of(stream));
  ASSERT_EQ(records.waits.size(), 4u);
  EXPECT_EQ(
      records.waits[0].type,
      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
  EXPECT_EQ(records.waits[0].streamId, id_of(other));
  EXPECT_EQ(records.waits[0].cudaEventId, records.events[0].eventId);
  EXPECT_EQ(
      records.waits[1].type,
      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
  EXPECT_EQ(records.waits[1].cudaEventId, records.events[0].eventId);
  EXPECT_EQ(records.waits[1].streamId, ~0u);
  EXPECT_EQ(
      records.waits[2].type,
      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
  EXPECT_EQ(records.waits[2].streamId, id_of(other));
  EXPECT_EQ(records.waits[2].cudaEventId, ~0u);
  EXPECT_EQ(
      records.waits[3].type,
      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
  for (const CUpti_ActivitySynchronization& wait : records.waits) {
    EXPECT_LE(wait.start, wait.end);
  }
  ASSERT_OK(cudaEventDestroy(event));
}

TEST_F(Activities, UseTheClockThatTheProfilerGives) {
  static std::atomic<std::uint64_t> ticks{0};
  OnDevice values(std::size_t{4});
  ticks = 1000;
  ASSERT_CUPTI(cuptiActivityRegisterTimestampCallback(
      []() -> std::uint64_t { return ++ticks; }));
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  ASSERT_OK(launch_add_on(nullptr, values.data(), 1, 1));
  const Records records = trace.records();
  std::uint64_t now = 0;
  ASSERT_CUPTI(cuptiGetTimestamp(&now));
  ASSERT_CUPTI(cuptiActivityRegisterTimestampCallback(nullptr));
  ASSERT_EQ(records.kernels.size(), 1u);
  EXPECT_GT(records.kernels[0].start, 1000u);
  // The launching thread may look at it in between.
  EXPECT_GT(records.kernels[0].end, records.kernels[0].start);
  EXPECT_LT(records.kernels[0].end, now);
  EXPECT_EQ(now, ticks);
}

TEST_F(Activities, RecordGraphsNodeByNode) {
  OnDevice values(std::size_t{4});
  OwnStream stream;
  cudaGraph_t graph = nullptr;
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_OK(launch_add_on(stream, values.data(), 1, 1));
  ASSERT_OK(cudaMemsetAsync(values.data(), 0, 8, stream));
  ASSERT_OK(launch_add_on(stream, values.data(), 2, 1));
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  std::size_t count = 3;
  cudaGraphNode_t nodes[3];
  ASSERT_OK(cudaGraphGetNodes(graph, nodes, &count));
  std::uint32_t graph_id = 0;
  ASSERT_CUPTI(cuptiGetGraphId(graph, &graph_id));
  std::set<std::uint64_t> node_ids;
  for (const cudaGraphNode_t node : nodes) {
    std::uint64_t id = 0;
    ASSERT_CUPTI(cuptiGetGraphNodeId(node, &id));
    node_ids.insert(id);
  }
  ASSERT_EQ(node_ids.size(), 3u);
  Trace trace(
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
       CUPTI_ACTIVITY_KIND_MEMSET,
       CUPTI_ACTIVITY_KIND_RUNTIME});
  ASSERT_OK(cudaGraphLaunch(exec, stream));
  ASSERT_OK(cudaGraphLaunch(exec, stream));
  const Records records = trace.records();
  const auto launches = calls_of(records.calls, "cudaGraphLaunch");
  ASSERT_EQ(launches.size(), 2u);
  ASSERT_EQ(records.kernels.size(), 4u);
  ASSERT_EQ(records.fills.size(), 2u);
  std::multiset<std::uint64_t> seen;
  for (std::size_t i = 0; i < 4; ++i) {
    const CUpti_ActivityKernel9& kernel = records.kernels[i];
    EXPECT_EQ(kernel.graphId, graph_id);
    EXPECT_EQ(kernel.correlationId, launches[i / 2].correlationId);
    EXPECT_EQ(kernel.streamId, id_of(stream));
    seen.insert(kernel.graphNodeId);
  }
  for (const CUpti_ActivityMemset4& fill : records.fills) {
    EXPECT_EQ(fill.graphId, graph_id);
    seen.insert(fill.graphNodeId);
  }
  for (const std::uint64_t id : node_ids) {
    EXPECT_EQ(seen.count(id), 2u);
  }
  ASSERT_OK(cudaGraphExecDestroy(exec));
  ASSERT_OK(cudaGraphDestroy(graph));
}

TEST_F(Activities, RecordNothingOfWhatIsCaptured) {
  OnDevice values(std::size_t{4});
  OwnStream stream;
  cudaGraph_t graph = nullptr;
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_OK(launch_add_on(stream, values.data(), 1, 1));
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(trace.records().count(), 0u);
  ASSERT_OK(cudaGraphDestroy(graph));
}

TEST_F(Activities, RecordNothingOfKindsThatAreOff) {
  OnDevice values(std::size_t{4});
  Trace trace({CUPTI_ACTIVITY_KIND_MEMSET});
  ASSERT_OK(launch_add_on(nullptr, values.data(), 1, 1));
  ASSERT_OK(cudaMemset(values.data(), 0, 4));
  const Records records = trace.records();
  EXPECT_EQ(records.fills.size(), 1u);
  EXPECT_EQ(records.count(), 1u);
}

} // namespace
} // namespace accelerator::cupti::testing
