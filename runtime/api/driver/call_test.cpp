// What functions of the driver do besides their work: which context they make
// current, which captures they break, what they answer for a device at fault,
// which records they leave, and that the runtime's last error stays.
#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/driver/testing/context.h"
#include "runtime/core/machine/thread_state.h"
#include "runtime/core/tracing/tracing.h"

namespace accelerator::driver::testing {
namespace {

using namespace runtime::tracing;

struct Case {
  const char* name;
  std::function<CUresult()> call;
};

/// A stream, an event, memory and a graph of device 0.
class Calls : public ContextTest {
 protected:
  Calls() {
    EXPECT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAllocHost(&pinned, 8), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  }
  ~Calls() override {
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
    EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  }

  const Stream stream;
  const Array<int> array{2};
  CUevent event = nullptr;
  void* pinned = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  // What calls give.
  CUstream new_stream = nullptr;
  CUevent new_event = nullptr;
  CUdeviceptr memory = 0;
  void* host = nullptr;
  CUmemoryPool pool = nullptr;
  std::size_t free_bytes = 0, all_bytes = 0;
  unsigned flags = 0;
  int value = 0;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
};

// A thread without a context gets device 0's where the runtime would use its
// current device.
TEST_F(Calls, MakeAContextCurrentThatNeedOne) {
  const std::vector<Case> cases = {
      {"cuStreamCreate", [&] { return cuStreamCreate(&new_stream, 0); }},
      {"cuStreamDestroy", [&] { return cuStreamDestroy(new_stream); }},
      {"cuEventCreate", [&] { return cuEventCreate(&new_event, 0); }},
      {"cuEventDestroy", [&] { return cuEventDestroy(new_event); }},
      {"cuStreamQuery", [&] { return cuStreamQuery(nullptr); }},
      {"cuStreamGetFlags", [&] { return cuStreamGetFlags(nullptr, &flags); }},
      {"cuEventRecord", [&] { return cuEventRecord(event, nullptr); }},
      {"cuMemHostAlloc", [&] { return cuMemHostAlloc(&host, 8, 0); }},
      {"cuMemFreeHost", [&] { return cuMemFreeHost(host); }},
      {"cuMemAllocManaged",
       [&] { return cuMemAllocManaged(&memory, 8, CU_MEM_ATTACH_GLOBAL); }},
      {"cuMemFree", [&] { return cuMemFree(memory); }},
      {"cuMemHostRegister",
       [&] { return cuMemHostRegister(&value, sizeof(value), 0); }},
      {"cuMemHostUnregister", [&] { return cuMemHostUnregister(&value); }},
      {"cuMemGetInfo", [&] { return cuMemGetInfo(&free_bytes, &all_bytes); }},
      {"cuMemcpyDtoH",
       [&] { return cuMemcpyDtoH(&value, array.address(), sizeof(value)); }},
  };
  const std::vector<std::string> without = {
      "cuStreamDestroy", "cuEventDestroy", "cuMemFreeHost"};
  for (const Case& one : cases) {
    std::thread([&] {
      CUcontext current = nullptr;
      EXPECT_EQ(one.call(), CUDA_SUCCESS) << one.name;
      EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
      const bool makes_none =
          std::find(without.begin(), without.end(), one.name) != without.end();
      EXPECT_EQ(current, makes_none ? nullptr : context) << one.name;
    }).join();
  }
}

TEST_F(Calls, MakeNoContextCurrentThatAreToldWhereToWork) {
  const std::vector<Case> cases = {
      {"cuStreamQuery", [&] { return cuStreamQuery(stream); }},
      {"cuStreamSynchronize", [&] { return cuStreamSynchronize(stream); }},
      {"cuStreamGetFlags", [&] { return cuStreamGetFlags(stream, &flags); }},
      {"cuStreamIsCapturing",
       [&] { return cuStreamIsCapturing(stream, &status); }},
      {"cuEventRecord", [&] { return cuEventRecord(event, stream); }},
      {"cuEventSynchronize", [&] { return cuEventSynchronize(event); }},
      {"cuStreamWaitEvent",
       [&] { return cuStreamWaitEvent(stream, event, 0); }},
      {"cuMemAllocAsync", [&] { return cuMemAllocAsync(&memory, 8, stream); }},
      {"cuMemFreeAsync", [&] { return cuMemFreeAsync(memory, stream); }},
      {"cuMemcpyDtoHAsync",
       [&] { return cuMemcpyDtoHAsync(pinned, array.address(), 8, stream); }},
      {"cuDeviceGetMemPool", [&] { return cuDeviceGetMemPool(&pool, 0); }},
      {"cuMemPoolTrimTo", [&] { return cuMemPoolTrimTo(pool, 0); }},
      {"cuMemHostGetDevicePointer",
       [&] { return cuMemHostGetDevicePointer(&memory, pinned, 0); }},
      {"cuGraphLaunch", [&] { return cuGraphLaunch(exec, stream); }},
  };
  for (const Case& one : cases) {
    std::thread([&] {
      CUcontext current = context;
      EXPECT_EQ(one.call(), CUDA_SUCCESS) << one.name;
      EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
      EXPECT_EQ(current, nullptr) << one.name;
    }).join();
  }
}

TEST_F(Calls, OfAThreadWithoutAContextGiveNoMemory) {
  std::thread([&] {
    CUcontext current = context;
    EXPECT_EQ(cuMemAlloc(&memory, 8), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr);
  }).join();
}

TEST_F(Calls, WorkOnTheDeviceOfTheCurrentContext) {
  CUcontext other = nullptr, owner = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  {
    const Stream there;
    const Array<int> memory_there(1);
    EXPECT_EQ(cuStreamGetCtx(there, &owner), CUDA_SUCCESS);
    EXPECT_EQ(owner, other);
    EXPECT_EQ(
        cuPointerGetAttribute(
            &value,
            CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            memory_there.address()),
        CUDA_SUCCESS);
    EXPECT_EQ(value, 1);
  }
  ASSERT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
}

// By the thread's mode: what may wait for the device, or allocates at once.
TEST_F(Calls, BreakACaptureThatAreUnsafe) {
  const std::vector<Case> cases = {
      {"cuMemAlloc", [&] { return cuMemAlloc(&memory, 8); }},
      {"cuMemFree", [&] { return cuMemFree(array.address()); }},
      {"cuMemHostAlloc", [&] { return cuMemHostAlloc(&host, 8, 0); }},
      {"cuMemFreeHost", [&] { return cuMemFreeHost(pinned); }},
      {"cuMemAllocManaged",
       [&] { return cuMemAllocManaged(&memory, 8, CU_MEM_ATTACH_GLOBAL); }},
      {"cuMemHostRegister", [&] { return cuMemHostRegister(&value, 4, 0); }},
      {"cuMemHostUnregister", [&] { return cuMemHostUnregister(&value); }},
      {"cuIpcCloseMemHandle",
       [&] { return cuIpcCloseMemHandle(array.address()); }},
      {"cuStreamSynchronize", [&] { return cuStreamSynchronize(new_stream); }},
      {"cuStreamQuery", [&] { return cuStreamQuery(new_stream); }},
      {"cuEventSynchronize", [&] { return cuEventSynchronize(event); }},
      {"cuEventQuery", [&] { return cuEventQuery(event); }},
      {"cuMemcpyDtoH",
       [&] { return cuMemcpyDtoH(&value, array.address(), sizeof(value)); }},
  };
  ASSERT_EQ(cuStreamCreate(&new_stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  for (const Case& one : cases) {
    CUgraph captured = nullptr;
    ASSERT_EQ(
        cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
        CUDA_SUCCESS);
    EXPECT_EQ(one.call(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) << one.name;
    EXPECT_EQ(
        cuStreamEndCapture(stream, &captured),
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        << one.name;
  }
  EXPECT_EQ(cuStreamDestroy(new_stream), CUDA_SUCCESS);
}

TEST_F(Calls, LeaveACaptureAloneThatAreSafe) {
  CUgraph captured = nullptr;
  ASSERT_EQ(
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  EXPECT_EQ(cuStreamCreate(&new_stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&new_event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetInfo(&free_bytes, &all_bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostGetDevicePointer(&memory, pinned, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetMemPool(&pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(new_event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(new_stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(stream, &captured), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(captured), CUDA_SUCCESS);
}

// Device 1, which its reset makes well again.
TEST_F(Calls, AnswerTheFaultOfTheirDevice) {
  CUcontext other = nullptr;
  CUmodule module = nullptr;
  CUfunction store = nullptr;
  CUevent there = nullptr;
  CUdeviceptr nowhere = 8;
  unsigned written = 1;
  void* arguments[] = {&nowhere, &written};
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleLoadData(&module, kKernels), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&store, module, "store"), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&new_stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&there, 0), CUDA_SUCCESS);
  ASSERT_EQ(
      cuLaunchKernel(
          store, 1, 1, 1, 1, 1, 1, 0, new_stream, arguments, nullptr),
      CUDA_SUCCESS);
  const std::vector<Case> cases = {
      {"cuStreamSynchronize", [&] { return cuStreamSynchronize(new_stream); }},
      {"cuStreamQuery", [&] { return cuStreamQuery(new_stream); }},
      {"cuStreamCreate", [&] { return cuStreamCreate(&new_stream, 0); }},
      {"cuStreamGetFlags",
       [&] { return cuStreamGetFlags(new_stream, &flags); }},
      {"cuEventRecord", [&] { return cuEventRecord(there, new_stream); }},
      {"cuEventSynchronize", [&] { return cuEventSynchronize(there); }},
      {"cuEventQuery", [&] { return cuEventQuery(there); }},
      {"cuEventCreate", [&] { return cuEventCreate(&new_event, 0); }},
      {"cuMemAlloc", [&] { return cuMemAlloc(&memory, 8); }},
      {"cuMemFree", [&] { return cuMemFree(0); }},
      {"cuMemAllocAsync",
       [&] { return cuMemAllocAsync(&memory, 8, new_stream); }},
      {"cuMemHostAlloc", [&] { return cuMemHostAlloc(&host, 8, 0); }},
      {"cuMemGetInfo", [&] { return cuMemGetInfo(&free_bytes, &all_bytes); }},
      {"cuMemcpyDtoH",
       [&] { return cuMemcpyDtoH(&value, array.address(), sizeof(value)); }},
      {"cuGraphLaunch", [&] { return cuGraphLaunch(exec, new_stream); }},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(one.call(), CUDA_ERROR_ILLEGAL_ADDRESS) << one.name;
  }
  EXPECT_EQ(cuDeviceGetMemPool(&pool, 1), CUDA_SUCCESS) << "asks no device";
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS) << "of the other device";
  EXPECT_EQ(cuDevicePrimaryCtxReset(1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(new_stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(new_stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(there), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
}

// Statuses that the driver has no number for become the nearest one.
TEST_F(Calls, AnswerInTheDriversNumbers) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = array.address();
  copy.srcPitch = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = pinned;
  copy.dstPitch = 4;
  copy.WidthInBytes = 4;
  copy.Height = 2;
  EXPECT_EQ(cuMemcpy2DAsync(&copy, stream), CUDA_ERROR_INVALID_VALUE)
      << "cudaErrorInvalidPitchValue";
  EXPECT_EQ(cuMemHostUnregister(&value), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(Calls, LeaveTheRuntimesLastErrorAlone) {
  const std::vector<Case> cases = {
      {"cuStreamCreate", [&] { return cuStreamCreate(nullptr, 0); }},
      {"cuStreamDestroy", [&] { return cuStreamDestroy(nullptr); }},
      {"cuStreamQuery",
       [&] { return cuStreamQuery(reinterpret_cast<CUstream>(&value)); }},
      {"cuStreamWaitEvent",
       [&] { return cuStreamWaitEvent(stream, nullptr, 0); }},
      {"cuStreamEndCapture",
       [&] { return cuStreamEndCapture(stream, nullptr); }},
      {"cuEventCreate", [&] { return cuEventCreate(nullptr, 0); }},
      {"cuEventQuery", [&] { return cuEventQuery(nullptr); }},
      {"cuMemAlloc", [&] { return cuMemAlloc(&memory, std::size_t{1} << 60); }},
      {"cuMemFree", [&] { return cuMemFree(1); }},
      {"cuMemHostAlloc", [&] { return cuMemHostAlloc(nullptr, 8, 0); }},
      {"cuMemcpy", [&] { return cuMemcpy(array.address(), 1, 1 << 20); }},
      {"cuMemcpy2DAsync", [&] { return cuMemcpy2DAsync(nullptr, stream); }},
      {"cuMemsetD8", [&] { return cuMemsetD8(array.address(), 1, 1 << 20); }},
      {"cuMemPoolCreate", [&] { return cuMemPoolCreate(&pool, nullptr); }},
      {"cuGraphCreate", [&] { return cuGraphCreate(nullptr, 0); }},
      {"cuGraphLaunch", [&] { return cuGraphLaunch(nullptr, stream); }},
      {"cuUserObjectRetain", [&] { return cuUserObjectRetain(nullptr, 1); }},
      {"cuModuleUnload", [&] { return cuModuleUnload(nullptr); }},
  };
  runtime::Status& last_error = runtime::thread_state().last_error;
  last_error = cudaErrorAssert;
  for (const Case& one : cases) {
    EXPECT_NE(one.call(), CUDA_SUCCESS) << one.name;
    EXPECT_EQ(last_error, cudaErrorAssert) << one.name;
  }
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(last_error, cudaErrorAssert);
  last_error = cudaSuccess;
}

/// Keeps what it is told by the thread that made it; watches while it is new.
class Notes final : public Observer {
 public:
  std::vector<CallRecord> calls;
  std::vector<WaitRecord> waits;
  std::vector<EventRecord> events;
  std::vector<WorkRecord> works;

  std::uint64_t now() noexcept override {
    return 1;
  }
  void call(const CallRecord& record) noexcept override {
    calls.push_back(record);
  }
  void work(const WorkRecord& record) noexcept override {
    works.push_back(record);
  }
  void wait(const WaitRecord& record) noexcept override {
    waits.push_back(record);
  }
  void event(const EventRecord& record) noexcept override {
    events.push_back(record);
  }
};

// Each once, under the driver's name, with the driver's number.
TEST_F(Calls, AreRecordedAsTheDriversOwn) {
  static Notes& notes = *new Notes;
  unsigned long long id = 0;
  ASSERT_EQ(cuStreamGetId(stream, &id), CUDA_SUCCESS);
  set_observer(&notes);
  EXPECT_EQ(cuStreamCreate(&new_stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(new_stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(&value, array.address(), 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&memory, 8), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostUnregister(&value), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuDeviceGetMemPool(&pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  set_observer(nullptr);
  const std::vector<std::pair<std::string, int>> wanted = {
      {"cuStreamCreate", CUDA_SUCCESS},
      {"cuStreamDestroy_v2", CUDA_SUCCESS},
      {"cuEventRecord", CUDA_SUCCESS},
      {"cuStreamWaitEvent", CUDA_SUCCESS},
      {"cuEventSynchronize", CUDA_SUCCESS},
      {"cuStreamSynchronize", CUDA_SUCCESS},
      {"cuMemcpyDtoH_v2", CUDA_SUCCESS},
      {"cuMemAlloc_v2", CUDA_SUCCESS},
      {"cuMemFree_v2", CUDA_SUCCESS},
      {"cuMemFree_v2", CUDA_ERROR_INVALID_VALUE},
      {"cuMemHostUnregister", CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED},
      {"cuDeviceGetMemPool", CUDA_SUCCESS},
      {"cuGraphLaunch", CUDA_SUCCESS},
  };
  std::vector<std::pair<std::string, int>> calls;
  for (const CallRecord& call : notes.calls) {
    calls.emplace_back(call.function, call.result);
    EXPECT_EQ(call.interface, Interface::kDriver) << call.function;
  }
  ASSERT_EQ(calls, wanted);
  ASSERT_EQ(notes.events.size(), 1u);
  EXPECT_EQ(notes.events[0].stream, id);
  EXPECT_EQ(notes.events[0].correlation, notes.calls[2].correlation);
  ASSERT_EQ(notes.waits.size(), 3u);
  EXPECT_EQ(notes.waits[0].kind, WaitRecord::Kind::kStreamForEvent);
  EXPECT_EQ(notes.waits[0].correlation, notes.calls[3].correlation);
  EXPECT_EQ(notes.waits[1].kind, WaitRecord::Kind::kEvent);
  EXPECT_EQ(notes.waits[1].correlation, notes.calls[4].correlation);
  EXPECT_EQ(notes.waits[2].kind, WaitRecord::Kind::kStream);
  EXPECT_EQ(notes.waits[2].correlation, notes.calls[5].correlation);
  ASSERT_EQ(notes.works.size(), 1u);
  EXPECT_EQ(notes.works[0].origin.correlation, notes.calls[6].correlation);
}

} // namespace
} // namespace accelerator::driver::testing
