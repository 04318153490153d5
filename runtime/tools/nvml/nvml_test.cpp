// What NVML says about the devices of the machine: there are two, of which
// CUDA_VISIBLE_DEVICES shows CUDA one (BUILD.bazel).
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nvml.h>

#include <chrono>
#include <cstdio>
#include <future>
#include <set>
#include <string>

namespace {

class Nvml : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  }
};

TEST(NvmlInit, NothingIsAnsweredBefore) {
  unsigned count = 9;
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
  ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
  ASSERT_EQ(nvmlInitWithFlags(0), NVML_SUCCESS);
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_SUCCESS) << "one user is left";
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_ERROR_UNINITIALIZED);
}

TEST_F(Nvml, AllDevicesAreCountedThoughCudaSeesOne) {
  unsigned all = 0;
  int visible = 0;
  EXPECT_EQ(nvmlDeviceGetCount(&all), NVML_SUCCESS);
  EXPECT_EQ(all, 2u);
  EXPECT_EQ(cudaGetDeviceCount(&visible), cudaSuccess);
  EXPECT_EQ(visible, 1);
  EXPECT_EQ(nvmlDeviceGetCount(nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Nvml, ADeviceIsFoundByIndexAndByBusId) {
  nvmlDevice_t first = nullptr, second = nullptr, found = nullptr;
  ASSERT_EQ(nvmlDeviceGetHandleByIndex(0, &first), NVML_SUCCESS);
  ASSERT_EQ(nvmlDeviceGetHandleByIndex(1, &second), NVML_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(2, &found), NVML_ERROR_INVALID_ARGUMENT);
  // The one that CUDA calls device 0 is the machine's device 1.
  char id[16] = "";
  ASSERT_EQ(cudaDeviceGetPCIBusId(id, sizeof(id), 0), cudaSuccess);
  ASSERT_EQ(nvmlDeviceGetHandleByPciBusId(id, &found), NVML_SUCCESS) << id;
  EXPECT_EQ(found, second);
  EXPECT_EQ(
      nvmlDeviceGetHandleByPciBusId("00000000:7F:00.0", &found),
      NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(
      nvmlDeviceGetHandleByPciBusId("nonsense", &found),
      NVML_ERROR_INVALID_ARGUMENT);
}

/// A fabric's description as CUDA 13 has it.
struct FabricInfo3 {
  nvmlGpuFabricInfo_v2_t before;
  unsigned char health_summary;
};

TEST_F(Nvml, NoDeviceIsInAFabric) {
  nvmlDevice_t device = nullptr;
  ASSERT_EQ(nvmlDeviceGetHandleByIndex(0, &device), NVML_SUCCESS);
  nvmlGpuFabricInfoV_t info{};
  info.version = nvmlGpuFabricInfo_v2;
  info.state = NVML_GPU_FABRIC_STATE_COMPLETED;
  EXPECT_EQ(nvmlDeviceGetGpuFabricInfoV(device, &info), NVML_SUCCESS);
  EXPECT_EQ(info.state, NVML_GPU_FABRIC_STATE_NOT_SUPPORTED);
  EXPECT_EQ(info.version, unsigned{nvmlGpuFabricInfo_v2});

  FabricInfo3 later{};
  later.before.version = sizeof later | 3u << 24;
  later.before.cliqueId = 7;
  later.health_summary = 9;
  ASSERT_EQ(nvmlDeviceGetGpuFabricInfoV(device, &later.before), NVML_SUCCESS);
  EXPECT_EQ(later.before.state, NVML_GPU_FABRIC_STATE_NOT_SUPPORTED);
  EXPECT_EQ(later.before.cliqueId, 0u);
  EXPECT_EQ(later.health_summary, 0);
}

TEST_F(Nvml, AFabricOfAnotherVersionIsRefused) {
  nvmlGpuFabricInfoV_t info{};
  info.version = sizeof info | 9u << 24;
  EXPECT_EQ(
      nvmlDeviceGetGpuFabricInfoV(nullptr, &info),
      NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  EXPECT_EQ(
      nvmlDeviceGetGpuFabricInfoV(nullptr, nullptr),
      NVML_ERROR_INVALID_ARGUMENT);
}

nvmlDevice_t device(unsigned index) {
  nvmlDevice_t found = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(index, &found), NVML_SUCCESS);
  return found;
}

// CUDA's device 0 is the machine's device 1.
TEST_F(Nvml, ADeviceIsWhatCudaSaysOfIt) {
  cudaDeviceProp p{};
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = "";
  EXPECT_EQ(nvmlDeviceGetName(device(1), text, sizeof(text)), NVML_SUCCESS);
  EXPECT_STREQ(text, p.name);
  EXPECT_EQ(
      nvmlDeviceGetName(device(1), text, 4), NVML_ERROR_INSUFFICIENT_SIZE);
  int major = 0, minor = -1;
  EXPECT_EQ(
      nvmlDeviceGetCudaComputeCapability(device(1), &major, &minor),
      NVML_SUCCESS);
  EXPECT_EQ(major, p.major);
  EXPECT_EQ(minor, p.minor);
  unsigned index = 9;
  EXPECT_EQ(nvmlDeviceGetIndex(device(1), &index), NVML_SUCCESS);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(
      nvmlDeviceGetName(nullptr, text, sizeof(text)),
      NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(
      nvmlDeviceGetName(device(1), nullptr, 9), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Nvml, ClocksAreThoseThatCudaSays) {
  int kilohertz = 0, memory_kilohertz = 0, bus = 0;
  ASSERT_EQ(
      cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0), cudaSuccess);
  ASSERT_EQ(
      cudaDeviceGetAttribute(&memory_kilohertz, cudaDevAttrMemoryClockRate, 0),
      cudaSuccess);
  ASSERT_EQ(
      cudaDeviceGetAttribute(&bus, cudaDevAttrGlobalMemoryBusWidth, 0),
      cudaSuccess);
  for (const auto function :
       {nvmlDeviceGetClockInfo, nvmlDeviceGetMaxClockInfo}) {
    unsigned megahertz = 0;
    for (const auto type : {NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM}) {
      EXPECT_EQ(function(device(1), type, &megahertz), NVML_SUCCESS);
      EXPECT_EQ(megahertz, static_cast<unsigned>(kilohertz) / 1000);
    }
    EXPECT_EQ(function(device(1), NVML_CLOCK_MEM, &megahertz), NVML_SUCCESS);
    EXPECT_EQ(megahertz, static_cast<unsigned>(memory_kilohertz) / 1000);
    EXPECT_GT(megahertz, 0u);
    EXPECT_EQ(
        function(device(1), NVML_CLOCK_VIDEO, &megahertz),
        NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(
        function(device(1), NVML_CLOCK_COUNT, &megahertz),
        NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(
        function(device(1), NVML_CLOCK_SM, nullptr),
        NVML_ERROR_INVALID_ARGUMENT);
  }
  unsigned bits = 0;
  EXPECT_EQ(nvmlDeviceGetMemoryBusWidth(device(1), &bits), NVML_SUCCESS);
  EXPECT_EQ(bits, static_cast<unsigned>(bus));
}

TEST_F(Nvml, ADeviceIsFoundByItsUuid) {
  cudaDeviceProp p{};
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE] = "";
  ASSERT_EQ(nvmlDeviceGetUUID(device(1), uuid, sizeof(uuid)), NVML_SUCCESS);
  char expected[64];
  const auto* b = reinterpret_cast<const unsigned char*>(p.uuid.bytes);
  std::snprintf(
      expected,
      sizeof(expected),
      "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
      b[0],
      b[1],
      b[2],
      b[3],
      b[4],
      b[5],
      b[6],
      b[7],
      b[8],
      b[9],
      b[10],
      b[11],
      b[12],
      b[13],
      b[14],
      b[15]);
  EXPECT_STREQ(uuid, expected);
  nvmlDevice_t found = nullptr;
  ASSERT_EQ(nvmlDeviceGetHandleByUUID(uuid, &found), NVML_SUCCESS);
  EXPECT_EQ(found, device(1));
  EXPECT_EQ(
      nvmlDeviceGetHandleByUUID("GPU-none", &found), NVML_ERROR_NOT_FOUND);
}

TEST_F(Nvml, MemoryIsTheDevices) {
  std::size_t available = 0, total = 0;
  void* taken = nullptr;
  ASSERT_EQ(cudaMalloc(&taken, 5 << 20), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&available, &total), cudaSuccess);
  nvmlMemory_t memory{};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(device(1), &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.total, total);
  EXPECT_EQ(memory.free, available);
  EXPECT_EQ(memory.used, total - available);
  EXPECT_GE(memory.used, 5u << 20);
  nvmlMemory_v2_t later{};
  later.version = nvmlMemory_v2;
  ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(device(1), &later), NVML_SUCCESS);
  EXPECT_EQ(later.used, memory.used);
  EXPECT_EQ(later.total, memory.total);
  later.version = 7;
  EXPECT_EQ(
      nvmlDeviceGetMemoryInfo_v2(device(1), &later),
      NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  EXPECT_EQ(cudaFree(taken), cudaSuccess);
}

TEST_F(Nvml, ADeviceIsBusyWhileItHasWork) {
  nvmlUtilization_t rates{9, 9};
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device(1), &rates), NVML_SUCCESS);
  EXPECT_EQ(rates.gpu, 0u);
  std::promise<void> done;
  const auto wait = [](void* data) {
    static_cast<std::promise<void>*>(data)->get_future().wait_for(
        std::chrono::seconds(30));
  };
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, wait, &done), cudaSuccess);
  EXPECT_EQ(nvmlDeviceGetUtilizationRates(device(1), &rates), NVML_SUCCESS);
  EXPECT_EQ(rates.gpu, 100u);
  EXPECT_EQ(nvmlDeviceGetUtilizationRates(device(0), &rates), NVML_SUCCESS);
  EXPECT_EQ(rates.gpu, 0u); // the other one
  done.set_value();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Nvml, APlaceOnTheBusIsWhereCudaSeesIt) {
  char id[16] = "";
  ASSERT_EQ(cudaDeviceGetPCIBusId(id, sizeof(id), 0), cudaSuccess);
  nvmlPciInfo_t info{};
  ASSERT_EQ(nvmlDeviceGetPciInfo(device(1), &info), NVML_SUCCESS);
  for (const char* text : {info.busId, info.busIdLegacy}) {
    nvmlDevice_t found = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId(text, &found), NVML_SUCCESS);
    EXPECT_EQ(found, device(1)) << text;
  }
  unsigned domain = 0, bus = 0, slot = 0;
  ASSERT_EQ(std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot), 3);
  EXPECT_EQ(info.domain, domain);
  EXPECT_EQ(info.bus, bus);
  EXPECT_EQ(info.device, slot);
  nvmlPciInfoExt_t longer{};
  longer.version = nvmlPciInfoExt_v1;
  ASSERT_EQ(nvmlDeviceGetPciInfoExt(device(1), &longer), NVML_SUCCESS);
  EXPECT_EQ(longer.bus, bus);
  EXPECT_STREQ(longer.busId, info.busId);
  longer.version = 3;
  EXPECT_EQ(
      nvmlDeviceGetPciInfoExt(device(1), &longer),
      NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

TEST_F(Nvml, AnArchitectureGoesWithTheComputeCapability) {
  int major = 0, minor = 0;
  nvmlDeviceArchitecture_t architecture = 0;
  ASSERT_EQ(
      nvmlDeviceGetCudaComputeCapability(device(1), &major, &minor),
      NVML_SUCCESS);
  ASSERT_EQ(nvmlDeviceGetArchitecture(device(1), &architecture), NVML_SUCCESS);
  EXPECT_EQ(
      architecture,
      major == 9 ? unsigned{NVML_DEVICE_ARCH_HOPPER}
                 : unsigned{NVML_DEVICE_ARCH_AMPERE});
}

TEST_F(Nvml, NoProcessIsKnownWhateverTheVersion) {
  unsigned count = 3;
  nvmlProcessInfo_t processes[3];
  EXPECT_EQ(
      nvmlDeviceGetComputeRunningProcesses(device(1), &count, processes),
      NVML_SUCCESS);
  EXPECT_EQ(count, 0u);
  count = 3;
  EXPECT_EQ(
      nvmlDeviceGetGraphicsRunningProcesses(device(1), &count, processes),
      NVML_SUCCESS);
  EXPECT_EQ(count, 0u);
}

TEST_F(Nvml, VersionsAreThoseOfTheDriver) {
  int cuda = 0, driver = 0;
  EXPECT_EQ(nvmlSystemGetCudaDriverVersion(&cuda), NVML_SUCCESS);
  EXPECT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  EXPECT_EQ(cuda, driver);
  char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE] = "";
  EXPECT_EQ(nvmlSystemGetDriverVersion(text, sizeof(text)), NVML_SUCCESS);
  EXPECT_GT(std::stod(text), 600.0); // the first of CUDA 13.5 is
  EXPECT_EQ(nvmlSystemGetNVMLVersion(text, sizeof(text)), NVML_SUCCESS);
  EXPECT_EQ(std::stoi(text), 13);
  EXPECT_EQ(nvmlSystemGetNVMLVersion(text, 2), NVML_ERROR_INSUFFICIENT_SIZE);
}

TEST_F(Nvml, ErrorsHaveNames) {
  EXPECT_STREQ(nvmlErrorString(NVML_SUCCESS), "Success");
  EXPECT_STREQ(nvmlErrorString(NVML_ERROR_NOT_FOUND), "Not Found");
  EXPECT_STREQ(
      nvmlErrorString(NVML_ERROR_DRIVER_NOT_LOADED), "Driver Not Loaded");
  // Each has one of its own.
  std::set<std::string> names;
  for (int code = 0; code <= 30; ++code) {
    names.insert(nvmlErrorString(static_cast<nvmlReturn_t>(code)));
  }
  EXPECT_EQ(names.size(), 31u);
  const std::string unknown = nvmlErrorString(NVML_ERROR_UNKNOWN);
  EXPECT_EQ(unknown, "Unknown Error");
  EXPECT_EQ(names.count(unknown), 0u);
  EXPECT_EQ(nvmlErrorString(static_cast<nvmlReturn_t>(31)), unknown);
}

} // namespace
