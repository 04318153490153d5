// Ids, names, versions and errors.
#include <cuda.h>

#include <string>

#include "runtime/api/cudart/testing/support.h"
#include "runtime/tools/cupti/testing/trace.h"

namespace accelerator::cupti::testing {
namespace {

using namespace accelerator::cudart::testing;

class Identity : public Runtime {};

TEST_F(Identity, OfContextsAndDevices) {
  for (int device = 0; device < 2; ++device) {
    ASSERT_OK(cudaSetDevice(device));
    ASSERT_OK(cudaFree(nullptr));
    CUcontext context = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    std::uint32_t id = 99;
    ASSERT_CUPTI(cuptiGetDeviceId(context, &id));
    EXPECT_EQ(id, static_cast<std::uint32_t>(device));
    std::uint32_t by_context = 0;
    std::uint32_t by_thread = 1;
    ASSERT_CUPTI(cuptiGetContextId(context, &by_context));
    ASSERT_CUPTI(cuptiGetContextId(nullptr, &by_thread));
    EXPECT_EQ(by_context, by_thread);
  }
  int no_context = 0;
  std::uint32_t id = 0;
  EXPECT_EQ(
      cuptiGetDeviceId(reinterpret_cast<CUcontext>(&no_context), &id),
      CUPTI_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuptiGetContextId(nullptr, nullptr), CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_F(Identity, OfStreams) {
  OwnStream one;
  OwnStream other;
  std::set<std::uint32_t> ids;
  for (const cudaStream_t stream :
       {cudaStream_t{nullptr}, cudaStream_t{one}, cudaStream_t{other}}) {
    std::uint32_t id = 0;
    ASSERT_CUPTI(cuptiGetStreamId(nullptr, stream, &id));
    ids.insert(id);
  }
  std::uint32_t per_thread = *ids.begin(); // which it is not
  ASSERT_CUPTI(cuptiGetStreamIdEx(nullptr, nullptr, 1, &per_thread));
  ids.insert(per_thread);
  EXPECT_EQ(ids.size(), 4u);
  int no_stream = 0;
  std::uint32_t id = 0;
  EXPECT_EQ(
      cuptiGetStreamId(
          nullptr, reinterpret_cast<cudaStream_t>(&no_stream), &id),
      CUPTI_ERROR_INVALID_STREAM);
}

TEST_F(Identity, OfGraphsThatAreNone) {
  std::uint32_t graph = 0;
  std::uint64_t node = 0;
  EXPECT_EQ(cuptiGetGraphId(nullptr, &graph), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(cuptiGetGraphNodeId(nullptr, &node), CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_F(Identity, OfThreads) {
  CUpti_ActivityThreadIdType type = CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  ASSERT_CUPTI(cuptiGetThreadIdType(&type));
  EXPECT_EQ(type, CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
  ASSERT_CUPTI(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  Trace trace({CUPTI_ACTIVITY_KIND_RUNTIME});
  const Records records = trace.records();
  ASSERT_CUPTI(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT));
  ASSERT_EQ(records.calls.size(), 1u);
  // The main thread has the process's number.
  EXPECT_EQ(records.calls[0].threadId, records.calls[0].processId);
  EXPECT_EQ(
      cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE),
      CUPTI_ERROR_NOT_SUPPORTED);
}

TEST_F(Identity, OfFunctions) {
  const char* name = nullptr;
  ASSERT_CUPTI(cuptiGetCallbackName(
      CUPTI_CB_DOMAIN_RUNTIME_API,
      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
      &name));
  EXPECT_STREQ(name, "cudaLaunchKernel_v7000");
  ASSERT_CUPTI(cuptiGetCallbackName(
      CUPTI_CB_DOMAIN_DRIVER_API,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
      &name));
  EXPECT_STREQ(name, "cuLaunchKernel");
  EXPECT_EQ(
      cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, 99999, &name),
      CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(
      cuptiGetCallbackName(CUPTI_CB_DOMAIN_NVTX, 1, &name),
      CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_F(Identity, OfVersionsAndResults) {
  std::uint32_t version = 0;
  ASSERT_CUPTI(cuptiGetVersion(&version));
  EXPECT_EQ(version, static_cast<std::uint32_t>(CUPTI_API_VERSION));
  EXPECT_EQ(cuptiGetVersion(nullptr), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(cuptiGetLastError(), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(cuptiGetLastError(), CUPTI_SUCCESS);
  const char* text = nullptr;
  ASSERT_CUPTI(cuptiGetResultString(CUPTI_ERROR_NOT_READY, &text));
  EXPECT_STREQ(text, "CUPTI_ERROR_NOT_READY");
  EXPECT_EQ(
      cuptiGetResultString(static_cast<CUptiResult>(12345), &text),
      CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_F(Identity, OfKindsThatAreNone) {
  EXPECT_EQ(
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING),
      CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(
      cuptiActivityEnable(static_cast<CUpti_ActivityKind>(4711)),
      CUPTI_ERROR_INVALID_KIND);
  EXPECT_EQ(
      cuptiActivityDisable(CUPTI_ACTIVITY_KIND_INVALID),
      CUPTI_ERROR_INVALID_KIND);
  EXPECT_EQ(
      cuptiActivityPushExternalCorrelationId(
          CUPTI_EXTERNAL_CORRELATION_KIND_SIZE, 1),
      CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_F(Identity, OfAttributesIsKept) {
  std::size_t size = sizeof(std::size_t);
  std::size_t value = 12345;
  ASSERT_CUPTI(cuptiActivitySetAttribute(
      CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
  value = 0;
  ASSERT_CUPTI(cuptiActivityGetAttribute(
      CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
  EXPECT_EQ(value, 12345u);
  size = 1;
  EXPECT_EQ(
      cuptiActivityGetAttribute(
          CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value),
      CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
}

} // namespace
} // namespace accelerator::cupti::testing
