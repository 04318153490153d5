// What is set and asked of streams, devices, contexts and events, as in the
// runtime.
#include <algorithm>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

using Attributes = ContextTest;

TEST_F(Attributes, OfAStreamAreSetAskedForAndCopied) {
  const Stream first;
  const Stream second;
  constexpr auto kPolicy = CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY;
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_SPIN;
  ASSERT_EQ(cuStreamSetAttribute(first, kPolicy, &value), CUDA_SUCCESS);
  value = {};
  ASSERT_EQ(cuStreamGetAttribute(first, kPolicy, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_SPIN);
  ASSERT_EQ(cuStreamGetAttribute(second, kPolicy, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_AUTO);
  ASSERT_EQ(cuStreamCopyAttributes(second, first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetAttribute(second, kPolicy, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_SPIN);
  CUstream urgent = nullptr;
  ASSERT_EQ(cuStreamCreateWithPriority(&urgent, 0, -2), CUDA_SUCCESS);
  ASSERT_EQ(
      cuStreamGetAttribute(urgent, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
      CUDA_SUCCESS);
  EXPECT_EQ(value.priority, -2);
  EXPECT_EQ(cuStreamDestroy(urgent), CUDA_SUCCESS);
  EXPECT_EQ(
      cuStreamGetAttribute(first, kPolicy, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuStreamSetAttribute(first, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Attributes, OfPeersAreThoseOfTheirMemory) {
  int value = -1;
  int can = -1;
  constexpr auto kAccess = CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
  ASSERT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetP2PAttribute(&value, kAccess, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(value, can);
  EXPECT_EQ(
      cuDeviceGetP2PAttribute(&value, kAccess, 0, 0),
      CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(
      cuDeviceGetP2PAttribute(&value, kAccess, 0, 2),
      CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(
      cuDeviceGetP2PAttribute(nullptr, kAccess, 0, 1),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Attributes, ADeviceIsFoundByItsPlaceOnTheBus) {
  char id[32] = "";
  CUdevice device = -1;
  ASSERT_EQ(cuDeviceGetPCIBusId(id, sizeof(id), 1), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetByPCIBusId(&device, id), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(
      cuDeviceGetByPCIBusId(&device, "0000:7f:00.0"),
      CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(
      cuDeviceGetByPCIBusId(&device, "nonsense"), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Attributes, OfAContextNeedAContext) {
  CUsharedconfig banks{};
  unsigned flags = 0;
  EXPECT_EQ(cuCtxGetSharedMemConfig(&banks), CUDA_SUCCESS);
  EXPECT_EQ(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  EXPECT_EQ(
      cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE),
      CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetFlags(CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(
      flags & CU_CTX_SCHED_MASK, static_cast<unsigned>(CU_CTX_SCHED_YIELD));
  EXPECT_EQ(cuCtxSetFlags(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetFlags(~0u), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxResetPersistingL2Cache(), CUDA_SUCCESS);
  EXPECT_EQ(
      cuFlushGPUDirectRDMAWrites(
          CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
          CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER),
      CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetSharedMemConfig(&banks), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSetFlags(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxResetPersistingL2Cache(), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Attributes, HostMemoryTellsHowItWasAllocated) {
  void* memory = nullptr;
  unsigned flags = 0;
  ASSERT_EQ(
      cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_WRITECOMBINED), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostGetFlags(&flags, memory), CUDA_SUCCESS);
  EXPECT_NE(flags & CU_MEMHOSTALLOC_WRITECOMBINED, 0u);
  EXPECT_EQ(cuMemFreeHost(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostGetFlags(&flags, &flags), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Attributes, AnEventIsForOtherProcessesIfItWasMadeSo) {
  CUevent event = nullptr;
  CUevent own = nullptr;
  CUipcEventHandle handle{};
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  EXPECT_EQ(cuIpcGetEventHandle(&handle, event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  ASSERT_EQ(
      cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS),
      CUDA_SUCCESS);
  ASSERT_EQ(cuIpcGetEventHandle(&handle, event), CUDA_SUCCESS);
  EXPECT_NE(cuIpcOpenEventHandle(&own, {}), CUDA_SUCCESS); // is none's
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

TEST_F(Attributes, PriorityCanBeChangedInItsRange) {
  int least = 0, greatest = 0, priority = 0;
  ASSERT_EQ(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  const Stream first, second;
  CUstreamAttrValue value{};
  for (const int asked : {greatest, least, least + 1, greatest - 1}) {
    value.priority = asked;
    ASSERT_EQ(
        cuStreamSetAttribute(first, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
        CUDA_SUCCESS);
    ASSERT_EQ(cuStreamGetPriority(first, &priority), CUDA_SUCCESS);
    EXPECT_EQ(priority, std::clamp(asked, greatest, least));
  }
  ASSERT_EQ(cuStreamCopyAttributes(second, first), CUDA_SUCCESS);
  ASSERT_EQ(
      cuStreamGetAttribute(second, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
      CUDA_SUCCESS);
  EXPECT_EQ(value.priority, greatest);
}

} // namespace
} // namespace accelerator::driver::testing
