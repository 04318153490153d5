// Devices, primary contexts and the stack of contexts.
#include <cudaProfiler.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "runtime/api/driver/testing/context.h"

extern "C" {
int accelerator_driver_version();
// Of later headers.
CUresult cuCtxCreate_v4(CUcontext*, const void*, unsigned, CUdevice);
}

namespace accelerator::driver::testing {
namespace {

using Context = ContextTest;

// In a process of its own: the other tests have called cuInit.
TEST(ContextDeathTest, NothingIsAnsweredBeforeInit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        int value = 0;
        CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        void* place = &value;
        const bool refused =
            cuDeviceGetCount(&value) == CUDA_ERROR_NOT_INITIALIZED &&
            cuPointerGetAttributes(1, &attribute, &place, 0) ==
                CUDA_ERROR_NOT_INITIALIZED &&
            cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED;
        const bool answered = cuDriverGetVersion(&value) == CUDA_SUCCESS &&
            cuInit(0) == CUDA_SUCCESS &&
            cuDeviceGetCount(&value) == CUDA_SUCCESS;
        std::exit(refused && answered ? 0 : 1);
      },
      ::testing::ExitedWithCode(0),
      "");
}

TEST_F(Context, TheVersionIsThatOfTheHeader) {
  int version = 0;
  EXPECT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, 13050);
  EXPECT_EQ(accelerator_driver_version(), version);
  EXPECT_EQ(cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Context, DevicesAreCountedFromZero) {
  int count = 0;
  ASSERT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  ASSERT_EQ(count, 2) << "the tests need CUDASIM_DEVICES=2";
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Context, DevicesDifferInUuidAndBusId) {
  CUuuid uuids[2];
  char ids[2][16];
  for (const int device : {0, 1}) {
    ASSERT_EQ(cuDeviceGetUuid(&uuids[device], device), CUDA_SUCCESS);
    CUuuid second{};
    ASSERT_EQ(cuDeviceGetUuid_v2(&second, device), CUDA_SUCCESS);
    EXPECT_EQ(std::memcmp(&second, &uuids[device], sizeof(second)), 0);
    ASSERT_EQ(
        cuDeviceGetPCIBusId(ids[device], sizeof(ids[device]), device),
        CUDA_SUCCESS);
    unsigned domain = 9, bus = 9, slot = 9;
    ASSERT_EQ(
        std::sscanf(ids[device], "%4x:%2x:%2x.0", &domain, &bus, &slot), 3);
    int wanted = 0;
    ASSERT_EQ(
        cuDeviceGetAttribute(&wanted, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device),
        CUDA_SUCCESS);
    EXPECT_EQ(static_cast<int>(bus), wanted);
  }
  EXPECT_NE(std::memcmp(&uuids[0], &uuids[1], sizeof(CUuuid)), 0);
  EXPECT_STRNE(ids[0], ids[1]);
  EXPECT_EQ(cuDeviceGetUuid(&uuids[0], 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetUuid_v2(&uuids[0], 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetPCIBusId(nullptr, 16, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Context, NamesAreCutToTheRoomThatThereIs) {
  char name[100] = "";
  char start[4] = "";
  ASSERT_EQ(cuDeviceGetName(name, sizeof(name), 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetName(start, sizeof(start), 0), CUDA_SUCCESS);
  EXPECT_EQ(std::string(start), std::string(name).substr(0, 3));
  EXPECT_EQ(cuDeviceGetName(name, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetName(name, sizeof(name), 7), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Context, TheComputeCapabilityIsAnAttributeToo) {
  int major = 0, minor = -1, value = -1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  ASSERT_EQ(cuDeviceComputeCapability(&major, &minor, 0), CUDA_SUCCESS);
#pragma GCC diagnostic pop
  ASSERT_EQ(
      cuDeviceGetAttribute(
          &value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(value, major);
  ASSERT_EQ(
      cuDeviceGetAttribute(
          &value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(value, minor);
  EXPECT_GE(major, 8);
  ASSERT_EQ(
      cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(
      cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Context, FreeMemoryIsPartOfTheTotal) {
  std::size_t whole = 0, available = 0, total = 0, less = 0;
  ASSERT_EQ(cuDeviceTotalMem(&whole, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo(&available, &total), CUDA_SUCCESS);
  EXPECT_EQ(total, whole);
  EXPECT_LE(available, total);
  const Array<char> taken(1 << 20);
  ASSERT_EQ(cuMemGetInfo(&less, &total), CUDA_SUCCESS);
  EXPECT_LE(less + taken.bytes(), available);
}

TEST_F(Context, ThePrimaryContextIsActiveAndHasFlags) {
  unsigned flags = 99;
  int active = 0;
  ASSERT_EQ(
      cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_BLOCKING_SYNC});
  ASSERT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_BLOCKING_SYNC});
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags(0, 0x10000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags(0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags(2, 0), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(2), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Context, ResettingThePrimaryContextFreesItsMemory) {
  CUcontext other = nullptr;
  CUdeviceptr memory = 0;
  unsigned flags = 0;
  int active = 1;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(other), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxReset(1), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(
      cuMemGetAddressRange(nullptr, nullptr, memory), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Context, ContextsArePushedAndPopped) {
  CUcontext other = nullptr, current = nullptr, popped = nullptr;
  CUdevice device = -1;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  ASSERT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, other);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxGetFlags(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

// "Equivalent to popping the top of the calling CPU thread's stack".
TEST_F(Context, SettingNoContextPops) {
  CUcontext other = nullptr, current = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
}

TEST_F(Context, SettingAContextReplacesTheTop) {
  CUcontext other = nullptr, current = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(other), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPopCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, other);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
}

TEST_F(Context, AThreadStartsWithoutAContext) {
  CUcontext current = context;
  CUresult refused = CUDA_SUCCESS;
  CUdeviceptr memory = 0;
  std::thread([&] {
    cuCtxGetCurrent(&current);
    refused = cuMemAlloc(&memory, 16);
  }).join();
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(refused, CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Context, ANewContextIsCurrentUntilItIsDestroyed) {
  CUcontext made = nullptr, current = nullptr;
  CUdevice device = -1;
  unsigned flags = 0;
  ASSERT_EQ(cuCtxCreate(&made, CU_CTX_SCHED_SPIN, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, made);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_SPIN});
  EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);

  EXPECT_EQ(cuCtxCreate(&made, 0, 5), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuCtxCreate(&made, 0x10000, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxCreate(nullptr, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context) << "what failed must not change the stack";
}

TEST_F(Context, ANewContextIsNotThePrimaryOne) {
  CUcontext primary = nullptr, made = nullptr, other = nullptr, found = nullptr;
  unsigned flags = 0;
  unsigned long long ids[3] = {};
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate(&made, CU_CTX_SCHED_YIELD, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate(&other, 0, 1), CUDA_SUCCESS);
  EXPECT_NE(made, primary);
  EXPECT_NE(other, primary);
  EXPECT_NE(other, made);
  EXPECT_EQ(cuCtxGetId(primary, &ids[0]), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetId(made, &ids[1]), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetId(other, &ids[2]), CUDA_SUCCESS);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[0], ids[2]);
  EXPECT_NE(ids[1], ids[2]);
  // Beneath each other, and each with its flags.
  EXPECT_EQ(cuCtxSetFlags(CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(&found), CUDA_SUCCESS);
  EXPECT_EQ(found, other);
  EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_YIELD});
  EXPECT_EQ(cuCtxPopCurrent(&found), CUDA_SUCCESS);
  EXPECT_EQ(found, made);
  EXPECT_EQ(cuCtxGetCurrent(&found), CUDA_SUCCESS);
  EXPECT_EQ(found, context);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSetCurrent(other), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(made), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&found), CUDA_SUCCESS);
  EXPECT_EQ(found, context);
}

TEST_F(Context, ANewContextLeavesThePrimaryOneInactive) {
  CUcontext made = nullptr;
  CUdeviceptr memory = 0;
  unsigned flags = 0;
  int active = 1;
  ASSERT_EQ(cuDevicePrimaryCtxReset(1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate(&made, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS);
}

TEST_F(Context, ADestroyedContextTakesWhatIsInItAlong) {
  CUcontext made = nullptr, found = nullptr;
  CUdeviceptr memory = 0, freed = 0, others = 0;
  void* host = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule module = nullptr;
  ASSERT_EQ(cuMemAlloc(&others, 64), CUDA_SUCCESS); // in the primary context
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate(&made, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&memory, 1 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&freed, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(freed), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocHost(&host, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleLoadData(&module, kKernels), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetCtx(stream, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, made);
  EXPECT_EQ(
      cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_CONTEXT, memory),
      CUDA_SUCCESS);
  EXPECT_EQ(found, made);
  EXPECT_EQ(
      cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_CONTEXT, others),
      CUDA_SUCCESS);
  EXPECT_EQ(found, context);

  EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&found), CUDA_SUCCESS);
  EXPECT_EQ(found, context);
  EXPECT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(after, before);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(cuMemFreeHost(host), CUDA_SUCCESS);
  EXPECT_NE(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_NE(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_NE(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(others), CUDA_SUCCESS);
}

TEST_F(Context, ADestroyedContextIsOfNoUseToOtherThreads) {
  CUcontext made = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuCtxCreate(&made, 0, 0), CUDA_SUCCESS);
  std::thread([&] { EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS); }).join();
  EXPECT_EQ(cuMemAlloc(&memory, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxPopCurrent(&made), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&memory, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(Context, TheLaterFormsMakeOneWithoutParameters) {
  CUcontext made = nullptr, current = nullptr;
  CUdevice device = -1;
  CUexecAffinityParam share{};
  EXPECT_EQ(cuCtxCreate_v3(&made, &share, 1, 0, 1), CUDA_ERROR_NOT_SUPPORTED);
  ASSERT_EQ(cuCtxCreate_v3(&made, nullptr, 0, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate_v4(&made, nullptr, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, made);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS);
  struct {
    CUexecAffinityParam* shares = nullptr;
    int share_count = 0;
    void* graphics = nullptr;
  } parameters;
  ASSERT_EQ(cuCtxCreate_v4(&made, &parameters, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS);
  parameters.graphics = &made;
  EXPECT_EQ(cuCtxCreate_v4(&made, &parameters, 0, 1), CUDA_ERROR_NOT_SUPPORTED);
  parameters = {&share, 1, nullptr};
  EXPECT_EQ(cuCtxCreate_v4(&made, &parameters, 0, 1), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuCtxCreate_v4(&made, nullptr, 0, 5), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Context, ContextsHaveIdsAndAnApiVersion) {
  CUcontext other = nullptr;
  unsigned long long own = 0, same = 0, different = 0;
  unsigned version = 0;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetId(context, &own), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetId(nullptr, &same), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetId(other, &different), CUDA_SUCCESS);
  EXPECT_EQ(own, same);
  EXPECT_NE(own, different);
  EXPECT_EQ(cuCtxGetApiVersion(context, &version), CUDA_SUCCESS);
  EXPECT_GE(version, 3020u);
  const auto unknown = reinterpret_cast<CUcontext>(&version);
  EXPECT_EQ(cuCtxGetApiVersion(unknown, &version), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Context, LimitsAreKept) {
  std::size_t value = 0;
  ASSERT_EQ(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  const std::size_t before = value;
  ASSERT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  EXPECT_EQ(value, 4096u);
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, before), CUDA_SUCCESS);
  EXPECT_NE(cuCtxGetLimit(&value, static_cast<CUlimit>(99)), CUDA_SUCCESS);
}

// "This function does nothing on devices where the size of the L1 cache and
// shared memory are fixed", and answers that there is no preference.
TEST_F(Context, ThereIsNoChoiceOfCaches) {
  CUfunc_cache preference = CU_FUNC_CACHE_PREFER_L1;
  EXPECT_EQ(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCacheConfig(&preference), CUDA_SUCCESS);
  EXPECT_EQ(preference, CU_FUNC_CACHE_PREFER_NONE);
}

TEST_F(Context, GreaterPrioritiesAreLowerNumbers) {
  int least = 9, greatest = 9;
  EXPECT_EQ(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, least);
  EXPECT_EQ(cuCtxGetStreamPriorityRange(nullptr, nullptr), CUDA_SUCCESS);
}

// "If there exists no device pointer value through which kernels running in the
// current CUcontext may access ptr then CUDA_ERROR_INVALID_VALUE is returned."
TEST_F(Context, MemoryOfAnotherDeviceHasAnAddressForPeersAlone) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  const Array<int> array(10);
  const auto asked = [&] {
    CUdeviceptr answer = 0;
    const CUresult result = cuPointerGetAttribute(
        &answer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, array.address(3));
    EXPECT_EQ(answer, result == CUDA_SUCCESS ? array.address(3) : 0);
    return result;
  };
  EXPECT_EQ(asked(), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(other), CUDA_SUCCESS);
  EXPECT_EQ(asked(), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuCtxEnablePeerAccess(context, 0), CUDA_SUCCESS);
  EXPECT_EQ(asked(), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDisablePeerAccess(context), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(asked(), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(Context, PeerAccessIsEnabledOnce) {
  CUcontext other = nullptr;
  int can = -1;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_EQ(cuCtxEnablePeerAccess(other, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxEnablePeerAccess(other, 0), CUDA_SUCCESS);
  EXPECT_EQ(
      cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(cuCtxDisablePeerAccess(other), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Context, TheProfilerNeedsAContext) {
  EXPECT_EQ(cuProfilerStart(), CUDA_SUCCESS);
  EXPECT_EQ(cuProfilerStop(), CUDA_SUCCESS);
  CUresult started = CUDA_SUCCESS, stopped = CUDA_SUCCESS;
  std::thread([&] {
    started = cuProfilerStart();
    stopped = cuProfilerStop();
  }).join();
  EXPECT_EQ(started, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(stopped, CUDA_ERROR_INVALID_CONTEXT);
}

} // namespace
} // namespace accelerator::driver::testing
