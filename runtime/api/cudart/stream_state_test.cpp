// What streams and events know of themselves, and callbacks.
#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

class StreamState : public Runtime {
 protected:
  OwnStream stream;
};

TEST_F(StreamState, KnowsItsPriorityWithinTheRange) {
  int least = 0;
  int greatest = 0;
  int priority = 1;
  ASSERT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  for (const int asked : {least, greatest, greatest - 10, least + 10}) {
    cudaStream_t made = nullptr;
    ASSERT_OK(
        cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, asked));
    EXPECT_OK(cudaStreamGetPriority(made, &priority));
    EXPECT_EQ(priority, std::clamp(asked, greatest, least));
    cudaLaunchAttributeValue value{};
    EXPECT_OK(
        cudaStreamGetAttribute(made, cudaLaunchAttributePriority, &value));
    EXPECT_EQ(value.priority, priority);
    EXPECT_OK(cudaStreamDestroy(made));
    EXPECT_EQ(
        cudaStreamGetPriority(made, &priority), cudaErrorInvalidResourceHandle);
  }
  cudaStream_t made = nullptr;
  EXPECT_EQ(cudaStreamCreateWithPriority(&made, 64, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamGetPriority(stream, nullptr), cudaErrorInvalidValue);
}

TEST_F(StreamState, KnowsItsFlags) {
  unsigned flags = 99;
  EXPECT_OK(cudaStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
  EXPECT_OK(cudaStreamGetFlags(nullptr, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamDefault));
  EXPECT_EQ(cudaStreamGetFlags(stream, nullptr), cudaErrorInvalidValue);
}

TEST_F(StreamState, HasANumberOfItsOwn) {
  OwnStream other;
  unsigned long long first = 0;
  unsigned long long again = 0;
  unsigned long long second = 0;
  EXPECT_OK(cudaStreamGetId(stream, &first));
  EXPECT_OK(cudaStreamGetId(stream, &again));
  EXPECT_OK(cudaStreamGetId(other, &second));
  EXPECT_EQ(first, again);
  EXPECT_NE(first, second);
  EXPECT_OK(cudaStreamGetId(nullptr, &first));
  EXPECT_OK(cudaStreamGetId(cudaStreamLegacy, &second));
  EXPECT_EQ(first, second);
  EXPECT_EQ(cudaStreamGetId(stream, nullptr), cudaErrorInvalidValue);
}

TEST_F(StreamState, KeepsAttributesAndCopiesThem) {
  OwnStream other;
  cudaLaunchAttributeValue value{};
  value.syncPolicy = cudaSyncPolicyYield;
  ASSERT_OK(cudaStreamSetAttribute(
      stream, cudaLaunchAttributeSynchronizationPolicy, &value));
  ASSERT_OK(cudaStreamCopyAttributes(other, stream));
  value = {};
  ASSERT_OK(cudaStreamGetAttribute(
      other, cudaLaunchAttributeSynchronizationPolicy, &value));
  EXPECT_EQ(value.syncPolicy, cudaSyncPolicyYield);
  EXPECT_EQ(
      cudaStreamSetAttribute(
          stream, cudaLaunchAttributeSynchronizationPolicy, nullptr),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaStreamGetAttribute(stream, cudaLaunchAttributeIgnore, &value),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaStreamSetAttribute(stream, cudaLaunchAttributeIgnore, &value),
      cudaErrorInvalidValue);
}

TEST_F(StreamState, CallsBackInItsOrderWithItself) {
  struct Told {
    cudaStream_t stream;
    cudaError_t status;
    int before;
    int* count;
  };
  int count = 0;
  Told told{nullptr, cudaErrorUnknown, 0, &count};
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &count));
  ASSERT_OK(cudaStreamAddCallback(
      stream,
      [](cudaStream_t which, cudaError_t status, void* data) {
        auto& place = *static_cast<Told*>(data);
        place = {which, status, *place.count, place.count};
      },
      &told,
      0));
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &count));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(told.stream, stream);
  EXPECT_EQ(told.status, cudaSuccess);
  EXPECT_EQ(told.before, 1);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(
      cudaStreamAddCallback(stream, nullptr, nullptr, 0),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
}

TEST_F(StreamState, RecordsEventsWithFlags) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  Gate gate;
  EXPECT_OK(cudaEventQuery(event)); // one that was never recorded
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  gate.open();
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT_EQ(cudaEventRecordWithFlags(event, stream, 64), cudaErrorInvalidValue);
  float milliseconds = 0;
  EXPECT_EQ(
      cudaEventElapsedTime(&milliseconds, event, event),
      cudaErrorInvalidResourceHandle); // it takes no time
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(
      cudaEventCreateWithFlags(&event, cudaEventInterprocess),
      cudaErrorInvalidValue); // times are not for other processes
}

} // namespace
} // namespace accelerator::cudart::testing
