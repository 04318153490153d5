// What came into the driver's API with CUDA 12.5 and later, with CUDA 13's
// header.
#include <cuda.h>

#include <chrono>
#include <thread>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

using Cuda13 = ContextTest;

class Event {
 public:
  Event() {
    EXPECT_EQ(cuEventCreate(&handle_, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  }
  ~Event() {
    EXPECT_EQ(cuEventDestroy(handle_), CUDA_SUCCESS);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator CUevent() const {
    return handle_;
  }

 private:
  CUevent handle_ = nullptr;
};

TEST_F(Cuda13, AContextIsAskedForItsDevice) {
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice_v2(&device, context), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  CUcontext other = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetDevice_v2(&device, other), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuCtxGetDevice_v2(&device, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(device, 0); // the current one
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetDevice_v2(&device, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSynchronize_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(Cuda13, AContextIsWaitedForThatIsNotCurrent) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  bool done = false;
  const auto finish = [](void* data) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *static_cast<bool*>(data) = true;
  };
  {
    const Stream stream;
    ASSERT_EQ(
        cuLaunchHostFunc_v2(stream, finish, &done, CU_HOST_TASK_SPINWAIT),
        CUDA_SUCCESS);
    EXPECT_EQ(
        cuLaunchHostFunc_v2(stream, finish, &done, 9),
        CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize_v2(other), CUDA_SUCCESS);
    EXPECT_TRUE(done);
  }
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(Cuda13, AnEventOfAContextMarksTheWorkOfAllStreams) {
  const Stream first;
  const Stream second;
  const Event event;
  {
    Gate gate(second);
    ASSERT_EQ(cuCtxRecordEvent(context, event), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(first), CUDA_SUCCESS); // is not held up
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate.open();
    EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  }
  // What is given later is not meant.
  ASSERT_EQ(cuCtxRecordEvent(context, event), CUDA_SUCCESS);
  Gate later(first);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
}

TEST_F(Cuda13, AContextWaitsForAnEventWithStreamsOfLaterToo) {
  const Stream held;
  const Stream old;
  const Event event;
  Gate gate(held);
  ASSERT_EQ(cuEventRecord(event, held), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxWaitEvent(context, event), CUDA_SUCCESS);
  const Stream young;
  bool done[2] = {false, false};
  const auto finish = [](void* data) { *static_cast<bool*>(data) = true; };
  ASSERT_EQ(cuLaunchHostFunc(old, finish, &done[0]), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(young, finish, &done[1]), CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(cuStreamQuery(old), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(young), CUDA_ERROR_NOT_READY);
  EXPECT_FALSE(done[0] || done[1]);
  // Recorded again, it is not what is waited for.
  ASSERT_EQ(cuEventRecord(event, old), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(old), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(young), CUDA_SUCCESS);
  EXPECT_TRUE(done[0] && done[1]);
}

TEST_F(Cuda13, AnEventOfAContextIsNotForCaptures) {
  const Stream stream;
  const Event event;
  ASSERT_EQ(
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
      CUDA_SUCCESS);
  EXPECT_EQ(
      cuCtxRecordEvent(context, event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  EXPECT_NE(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS); // broken
  EXPECT_EQ(cuCtxRecordEvent(context, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuCtxRecordEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Cuda13, AStreamKnowsItsDeviceAndContext) {
  const Stream stream;
  CUdevice device = -1;
  EXPECT_EQ(cuStreamGetDevice(stream, &device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuStreamGetDevice(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUcontext found = nullptr;
  auto green = reinterpret_cast<CUgreenCtx>(&found);
  EXPECT_EQ(cuStreamGetCtx_v2(stream, &found, &green), CUDA_SUCCESS);
  EXPECT_EQ(found, context);
  EXPECT_EQ(green, nullptr);
}

TEST_F(Cuda13, EventsMeasureTime) {
  const Stream stream;
  const Event first;
  const Event last;
  const auto sleep = [](void*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  ASSERT_EQ(cuEventRecord(first, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(stream, sleep, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(last, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  float milliseconds = 0;
  // A macro of the header: cuEventElapsedTime_v2.
  ASSERT_EQ(cuEventElapsedTime(&milliseconds, first, last), CUDA_SUCCESS);
  EXPECT_GT(milliseconds, 10);
}

TEST_F(Cuda13, APoolBelongsToAPlace) {
  CUmemLocation place{};
  place.type = CU_MEM_LOCATION_TYPE_DEVICE;
  place.id = 0;
  constexpr auto kPinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  CUmemoryPool expected = nullptr;
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&expected, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &place, kPinned), CUDA_SUCCESS);
  EXPECT_EQ(pool, expected);
  CUmemPoolProps properties{};
  properties.allocType = kPinned;
  properties.location = place;
  CUmemoryPool own = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&own, &properties), CUDA_SUCCESS);
  EXPECT_EQ(cuMemSetMemPool(&place, kPinned, own), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetMemPool(&pool, &place, kPinned), CUDA_SUCCESS);
  EXPECT_EQ(pool, own);
  EXPECT_EQ(cuDeviceGetMemPool(&pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(pool, own);
  place.id = 1; // not its device
  EXPECT_EQ(cuMemSetMemPool(&place, kPinned, own), CUDA_ERROR_INVALID_VALUE);
  place.id = 2;
  EXPECT_EQ(cuMemGetMemPool(&pool, &place, kPinned), CUDA_ERROR_INVALID_DEVICE);
  place.type = CU_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(cuMemGetMemPool(&pool, &place, kPinned), CUDA_ERROR_NOT_SUPPORTED);
  place.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
  EXPECT_EQ(cuMemGetMemPool(&pool, &place, kPinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemGetMemPool(&pool, nullptr, kPinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolDestroy(own), CUDA_SUCCESS);
}

TEST_F(Cuda13, AKernelKnowsItsParametersAndItsLibrary) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(
      cuLibraryLoadData(
          &library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
  ASSERT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  std::size_t count = 0;
  EXPECT_EQ(cuKernelGetParamCount(kernel, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  count = 0;
  EXPECT_EQ(cuFuncGetParamCount(function, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(cuFuncGetParamCount(function, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetParamCount(nullptr, &count), CUDA_ERROR_INVALID_HANDLE);
  CUlibrary found = nullptr;
  EXPECT_EQ(cuKernelGetLibrary(&found, kernel), CUDA_SUCCESS);
  EXPECT_EQ(found, library);
  EXPECT_EQ(cuKernelGetLibrary(&found, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(Cuda13, TheLogIsEmpty) {
  const auto listen = [](void*, CUlogLevel, char*, size_t) {};
  CUlogsCallbackHandle one = nullptr;
  CUlogsCallbackHandle other = nullptr;
  ASSERT_EQ(cuLogsRegisterCallback(listen, nullptr, &one), CUDA_SUCCESS);
  ASSERT_EQ(cuLogsRegisterCallback(listen, nullptr, &other), CUDA_SUCCESS);
  EXPECT_NE(one, other);
  EXPECT_EQ(
      cuLogsRegisterCallback(nullptr, nullptr, &one), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsUnregisterCallback(one), CUDA_SUCCESS);
  EXPECT_EQ(cuLogsUnregisterCallback(one), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsUnregisterCallback(other), CUDA_SUCCESS);
  CUlogIterator end = 7;
  EXPECT_EQ(cuLogsCurrent(&end, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsCurrent(&end, 0), CUDA_SUCCESS);
  char text[8] = "before";
  size_t size = sizeof(text);
  EXPECT_EQ(cuLogsDumpToMemory(&end, text, &size, 0), CUDA_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_STREQ(text, "");
}

TEST_F(Cuda13, FunctionsAreFoundInTheFormOfTheVersion) {
  const auto find = [](const char* name, int version) {
    void* function = nullptr;
    EXPECT_EQ(
        cuGetProcAddress(
            name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr),
        CUDA_SUCCESS);
    return function;
  };
  EXPECT_EQ(
      find("cuEventElapsedTime", 13000),
      reinterpret_cast<void*>(&cuEventElapsedTime_v2));
  EXPECT_EQ(
      find("cuCtxGetDevice", 13000),
      reinterpret_cast<void*>(&cuCtxGetDevice_v2));
  EXPECT_EQ(
      find("cuLaunchHostFunc", 13010),
      reinterpret_cast<void*>(&cuLaunchHostFunc_v2));
  EXPECT_EQ(find("cuStreamGetDevice", 12070), nullptr);
}

} // namespace
} // namespace accelerator::driver::testing
