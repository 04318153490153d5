// Devices: choosing one, their figures and limits, and peers. The machine of
// these tests has two (CUDASIM_DEVICES=2 in BUILD.bazel).
#include <cuda_profiler_api.h>

#include <cstring>
#include <string>

#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

int attribute(cudaDeviceAttr which, int device = 0) {
  int value = -1;
  EXPECT_OK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

class Devices : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    int count = 0;
    ASSERT_OK(cudaGetDeviceCount(&count));
    ASSERT_EQ(count, 2) << "set CUDASIM_DEVICES=2";
  }
};

TEST_F(Devices, AreChosenByEachThreadForItself) {
  int device = -1;
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  const int elsewhere = std::async(std::launch::async, [] {
                          int other = -1;
                          EXPECT_OK(cudaGetDevice(&other));
                          return other;
                        }).get();
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaGetDevice(nullptr), cudaErrorInvalidValue);
}

TEST_F(Devices, AreInitializedWithoutBeingChosen) {
  int device = -1;
  unsigned flags = 0;
  EXPECT_OK(cudaInitDevice(
      1, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid));
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(
      flags & cudaDeviceScheduleMask,
      static_cast<unsigned>(cudaDeviceScheduleBlockingSync));
  // Flags count only when the third argument says so.
  EXPECT_OK(cudaInitDevice(1, cudaDeviceScheduleSpin, 0));
  EXPECT_OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(
      flags & cudaDeviceScheduleMask,
      static_cast<unsigned>(cudaDeviceScheduleBlockingSync));
  EXPECT_EQ(cudaInitDevice(2, 0, 0), cudaErrorInvalidDevice);
}

TEST_F(Devices, KeepTheirFlags) {
  unsigned flags = 0;
  ASSERT_OK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
  EXPECT_OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(
      flags & cudaDeviceScheduleMask,
      static_cast<unsigned>(cudaDeviceScheduleYield));
  EXPECT_EQ(cudaSetDeviceFlags(1u << 20), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDeviceFlags(nullptr), cudaErrorInvalidValue);
  EXPECT_OK(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
}

TEST_F(Devices, AreChosenFromAListInItsOrder) {
  int order[] = {1, 0};
  int device = -1;
  ASSERT_OK(cudaSetValidDevices(order, 2));
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  int wrong[] = {0, 2};
  EXPECT_EQ(cudaSetValidDevices(wrong, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetValidDevices(nullptr, 1), cudaErrorInvalidValue);
}

TEST_F(Devices, HaveTheSameFiguresAsPropertiesAndAsAttributes) {
  for (int device = 0; device < 2; ++device) {
    cudaDeviceProp p{};
    ASSERT_OK(cudaGetDeviceProperties(&p, device));
    EXPECT_EQ(p.major * 10 + p.minor, 80);
    EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMajor, device), p.major);
    EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMinor, device), p.minor);
    EXPECT_EQ(attribute(cudaDevAttrWarpSize, device), p.warpSize);
    EXPECT_EQ(
        attribute(cudaDevAttrMultiProcessorCount, device),
        p.multiProcessorCount);
    EXPECT_EQ(
        attribute(cudaDevAttrMaxThreadsPerBlock, device), p.maxThreadsPerBlock);
    EXPECT_EQ(attribute(cudaDevAttrMaxGridDimX, device), p.maxGridSize[0]);
    EXPECT_EQ(
        attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        static_cast<int>(p.sharedMemPerBlockOptin));
    EXPECT_EQ(attribute(cudaDevAttrPciBusId, device), p.pciBusID);
    EXPECT_EQ(attribute(cudaDevAttrUnifiedAddressing, device), 1);
  }
  cudaDeviceProp p{};
  int value = 0;
  EXPECT_EQ(cudaGetDeviceProperties(&p, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 2),
      cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0),
      cudaErrorInvalidValue);
}

// An A100's, which programs size what they set aside by.
TEST_F(Devices, TellHowMuchCanStayInTheCache) {
  cudaDeviceProp p{};
  ASSERT_OK(cudaGetDeviceProperties(&p, 0));
  ASSERT_EQ(p.l2CacheSize, 40 << 20);
  EXPECT_EQ(p.persistingL2CacheMaxSize, 30 << 20);
  EXPECT_EQ(p.accessPolicyMaxWindowSize, 134213632);
  int value = 0;
  EXPECT_OK(
      cudaDeviceGetAttribute(&value, cudaDevAttrMaxPersistingL2CacheSize, 0));
  EXPECT_EQ(value, p.persistingL2CacheMaxSize);
  EXPECT_OK(
      cudaDeviceGetAttribute(&value, cudaDevAttrMaxAccessPolicyWindowSize, 0));
  EXPECT_EQ(value, p.accessPolicyMaxWindowSize);
  EXPECT_OK(cudaDeviceSetLimit(
      cudaLimitPersistingL2CacheSize,
      static_cast<std::size_t>(p.persistingL2CacheMaxSize)));
  std::size_t limit = 0;
  EXPECT_OK(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
  EXPECT_EQ(limit, static_cast<std::size_t>(p.persistingL2CacheMaxSize));
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
}

TEST_F(Devices, AreFoundByWhatIsWanted) {
  cudaDeviceProp wanted{};
  int device = -1;
  ASSERT_OK(cudaGetDeviceProperties(&wanted, 0));
  EXPECT_OK(cudaChooseDevice(&device, &wanted));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaChooseDevice(&device, nullptr), cudaErrorInvalidValue);
}

TEST_F(Devices, AreFoundByTheirPlaceOnTheBus) {
  char first[13] = {};
  char second[13] = {};
  int device = -1;
  ASSERT_OK(cudaDeviceGetPCIBusId(first, sizeof(first), 0));
  ASSERT_OK(cudaDeviceGetPCIBusId(second, sizeof(second), 1));
  EXPECT_EQ(std::strlen(first), 12u); // domain:bus:device.function
  EXPECT_STRNE(first, second);
  EXPECT_OK(cudaDeviceGetByPCIBusId(&device, second));
  EXPECT_EQ(device, 1);
  // The domain and the function may be left out.
  EXPECT_OK(
      cudaDeviceGetByPCIBusId(&device, std::string(first + 5, 5).c_str()));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(
      cudaDeviceGetByPCIBusId(&device, "0000:ee:00.0"), cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaDeviceGetByPCIBusId(&device, "nonsense"), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetPCIBusId(nullptr, 13, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetPCIBusId(first, 13, 2), cudaErrorInvalidDevice);
}

TEST_F(Devices, HaveLimitsThatCanBeSet) {
  std::size_t before = 0;
  std::size_t value = 0;
  ASSERT_OK(cudaDeviceGetLimit(&before, cudaLimitStackSize));
  EXPECT_GT(before, 0u);
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  EXPECT_OK(cudaThreadGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, 4096u);
  // Each device has its own.
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, before);
  ASSERT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaThreadSetLimit(cudaLimitStackSize, before));
  EXPECT_OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, before);
  const auto none = static_cast<cudaLimit>(99);
  EXPECT_EQ(cudaDeviceGetLimit(&value, none), cudaErrorUnsupportedLimit);
  EXPECT_EQ(cudaDeviceSetLimit(none, 1), cudaErrorUnsupportedLimit);
  EXPECT_EQ(
      cudaDeviceGetLimit(nullptr, cudaLimitStackSize), cudaErrorInvalidValue);
}

TEST_F(Devices, TakePreferencesForCaches) {
  cudaFuncCache cache = cudaFuncCachePreferL1;
  EXPECT_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  EXPECT_OK(cudaDeviceGetCacheConfig(&cache));
  // A device that cannot choose answers that nothing is preferred.
  EXPECT_EQ(cache, cudaFuncCachePreferNone);
  cache = cudaFuncCachePreferL1;
  EXPECT_OK(cudaThreadSetCacheConfig(cudaFuncCachePreferEqual));
  EXPECT_OK(cudaThreadGetCacheConfig(&cache));
  EXPECT_EQ(cache, cudaFuncCachePreferNone);
  cudaSharedMemConfig banks = cudaSharedMemBankSizeDefault;
  EXPECT_OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  EXPECT_OK(cudaDeviceGetSharedMemConfig(&banks));
  EXPECT_EQ(banks, cudaSharedMemBankSizeFourByte); // fixed since 5.0
  EXPECT_EQ(cudaDeviceGetCacheConfig(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetSharedMemConfig(nullptr), cudaErrorInvalidValue);
  EXPECT_OK(cudaCtxResetPersistingL2Cache());
}

TEST_F(Devices, GiveLowerNumbersToGreaterPriorities) {
  int least = -1;
  int greatest = 1;
  ASSERT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, least);
  EXPECT_OK(cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
}

TEST_F(Devices, AreOfOneVersionWithTheRuntime) {
  int runtime = 0;
  int driver = 0;
  ASSERT_OK(cudaRuntimeGetVersion(&runtime));
  ASSERT_OK(cudaDriverGetVersion(&driver));
  EXPECT_EQ(runtime, CUDART_VERSION);
  EXPECT_GE(driver, runtime);
  EXPECT_EQ(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDriverGetVersion(nullptr), cudaErrorInvalidValue);
}

TEST_F(Devices, WaitForAllStreams) {
  OwnStream stream;
  Gate gate;
  int count = 0;
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &count));
  gate.open();
  EXPECT_OK(cudaThreadSynchronize());
  EXPECT_EQ(count, 1);
}

TEST_F(Devices, LetProfilersStartAndStop) {
  EXPECT_OK(cudaProfilerStart());
  EXPECT_OK(cudaProfilerStop());
  EXPECT_OK(cudaDeviceFlushGPUDirectRDMAWrites(
      cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
      cudaFlushGPUDirectRDMAWritesToOwner));
}

TEST_F(Devices, DescribeChannelsByTheirBits) {
  const cudaChannelFormatDesc channel =
      cudaCreateChannelDesc(8, 16, 32, 0, cudaChannelFormatKindFloat);
  EXPECT_EQ(channel.x, 8);
  EXPECT_EQ(channel.y, 16);
  EXPECT_EQ(channel.z, 32);
  EXPECT_EQ(channel.w, 0);
  EXPECT_EQ(channel.f, cudaChannelFormatKindFloat);
}

TEST_F(Devices, BecomePeersInOneDirectionAtATime) {
  int can = -1;
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 1, 1));
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  EXPECT_OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(
      cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  ASSERT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaDeviceDisablePeerAccess(1));
  EXPECT_EQ(cudaDeviceDisablePeerAccess(2), cudaErrorInvalidDevice);
}

TEST_F(Devices, TellHowTheyReachEachOther) {
  int value = -1;
  EXPECT_OK(
      cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  EXPECT_EQ(value, 1);
  EXPECT_OK(cudaDeviceGetP2PAttribute(
      &value, cudaDevP2PAttrCudaArrayAccessSupported, 0, 1));
  EXPECT_EQ(value, 0);
  EXPECT_EQ(
      cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0),
      cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 2),
      cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaDeviceGetP2PAttribute(nullptr, cudaDevP2PAttrAccessSupported, 0, 1),
      cudaErrorInvalidValue);
}

} // namespace
} // namespace accelerator::cudart::testing
