// Streams and events.
#include <atomic>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

using Streams = ContextTest;

/// An event that ends with the test.
class Event {
 public:
  explicit Event(unsigned flags = CU_EVENT_DEFAULT) {
    EXPECT_EQ(cuEventCreate(&handle_, flags), CUDA_SUCCESS);
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

TEST_F(Streams, FlagsPriorityAndContextAreThoseItWasMadeWith) {
  CUstream stream = nullptr;
  unsigned flags = 99;
  int priority = 99;
  CUcontext owner = nullptr;
  ASSERT_EQ(
      cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -2),
      CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetFlags(stream, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, -2);
  EXPECT_EQ(cuStreamGetCtx(stream, &owner), CUDA_SUCCESS);
  EXPECT_EQ(owner, context);
  EXPECT_EQ(cuStreamGetFlags(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamGetPriority(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamGetFlags(stream, &flags), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
}

// "If the specified priority is outside the numerical range, it will
// automatically be clamped".
TEST_F(Streams, PrioritiesStayInTheirRange) {
  int least = 0, greatest = 0, priority = 0;
  ASSERT_EQ(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  for (const int asked : {-1000, 1000}) {
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreateWithPriority(&stream, 0, asked), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
    EXPECT_EQ(priority, asked < 0 ? greatest : least);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  }
  CUstream stream = nullptr;
  EXPECT_EQ(cuStreamCreate(&stream, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Streams, IdsAreDifferent) {
  const Stream first, second;
  unsigned long long a = 0, b = 0, legacy = 0, same = 1;
  EXPECT_EQ(cuStreamGetId(first, &a), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetId(second, &b), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetId(nullptr, &legacy), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetId(CU_STREAM_LEGACY, &same), CUDA_SUCCESS);
  EXPECT_NE(a, b);
  EXPECT_NE(a, legacy);
  EXPECT_EQ(legacy, same);
}

TEST_F(Streams, AStreamIsReadyWhenItsWorkIsDone) {
  const Stream stream;
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
  Gate gate(stream);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
}

TEST_F(Streams, AnEventIsReachedWithTheWorkBeforeIt) {
  const Stream stream;
  const Event event;
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS) << "never recorded";
  Gate gate(stream);
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
}

TEST_F(Streams, AStreamWaitsForAnEventOfAnother) {
  const Array<int> array(1);
  {
    const Stream first, second;
    const Event event(CU_EVENT_DISABLE_TIMING);
    Gate gate(first);
    ASSERT_EQ(cuMemsetD32Async(array.address(), 1, 1, first), CUDA_SUCCESS);
    ASSERT_EQ(
        cuEventRecordWithFlags(event, first, CU_EVENT_RECORD_DEFAULT),
        CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32Async(array.address(), 2, 1, second), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    gate.open();
    ASSERT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamWaitEvent(second, event, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(
        cuEventRecordWithFlags(event, first, 4), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(array.values()[0], 2);
}

TEST_F(Streams, TimePassesBetweenEvents) {
  const Stream stream;
  const Event start, end, untimed(CU_EVENT_DISABLE_TIMING), never;
  float milliseconds = -1;
  ASSERT_EQ(cuEventRecord(start, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(untimed, stream), CUDA_SUCCESS);
  Gate gate(stream);
  ASSERT_EQ(cuEventRecord(end, stream), CUDA_SUCCESS);
  EXPECT_EQ(
      cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
  gate.open();
  ASSERT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(
      cuEventElapsedTime(&milliseconds, start, untimed),
      CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuEventElapsedTime(&milliseconds, start, never),
      CUDA_ERROR_INVALID_HANDLE);
}

// A callback knows its stream, and that all went well.
TEST_F(Streams, CallbacksAreCalledInOrder) {
  struct Seen {
    CUstream stream = nullptr;
    CUresult status = CUDA_ERROR_UNKNOWN;
  } seen;
  const Stream stream;
  Gate gate(stream);
  const auto note = [](CUstream where, CUresult status, void* data) {
    *static_cast<Seen*>(data) = {where, status};
  };
  ASSERT_EQ(cuStreamAddCallback(stream, note, &seen, 0), CUDA_SUCCESS);
  EXPECT_EQ(seen.stream, nullptr);
  gate.open();
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(seen.stream, static_cast<CUstream>(stream));
  EXPECT_EQ(seen.status, CUDA_SUCCESS);
  EXPECT_EQ(
      cuStreamAddCallback(stream, nullptr, nullptr, 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuStreamAddCallback(stream, note, &seen, 1), CUDA_ERROR_INVALID_VALUE);
}

// Each way to compare: a value that holds the stream, and one that does not.
TEST_F(Streams, AStreamWaitsForAValue) {
  void* pinned = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&pinned, sizeof(unsigned), 0), CUDA_SUCCESS);
  auto* place = static_cast<std::atomic<unsigned>*>(pinned);
  const auto address = reinterpret_cast<CUdeviceptr>(pinned);
  struct Case {
    unsigned flags, value, held, passed;
  };
  const Case cases[] = {
      {CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 6},
      {CU_STREAM_WAIT_VALUE_GEQ, 1, 0xffffffff, 1},
      {CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5},
      {CU_STREAM_WAIT_VALUE_AND, 6, 9, 2},
      {CU_STREAM_WAIT_VALUE_NOR, 0xffff0000, 0xffff, 0xff}};
  for (const Case& one : cases) {
    const Stream stream;
    place->store(one.held);
    ASSERT_EQ(
        cuStreamWaitValue32(stream, address, one.value, one.flags),
        CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY) << one.flags;
    place->store(one.passed);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS) << one.flags;
  }
  const Stream stream;
  EXPECT_EQ(
      cuStreamWaitValue32(stream, address + 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitValue32(stream, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuStreamWaitValue32(stream, 0x1234, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuStreamWaitValue32(stream, address, 0, 99), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
}

TEST_F(Streams, EventsOfNoneOrWithUnknownFlagsAreRefused) {
  CUevent event = nullptr;
  EXPECT_EQ(cuEventCreate(&event, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuEventCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuEventDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventSynchronize(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

} // namespace
} // namespace accelerator::driver::testing
