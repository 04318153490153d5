// What NVML says about the devices of the machine: there are twelve, of which
// CUDA_VISIBLE_DEVICES shows CUDA the last (BUILD.bazel). No other test has
// that one: processes of the machine meet.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nvml.h>

#include <chrono>
#include <cstdio>
#include <future>
#include <set>
#include <string>

#include <unistd.h>

namespace {

constexpr unsigned kDevices = 12;
constexpr unsigned kOurs = kDevices - 1;

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
  EXPECT_EQ(all, kDevices);
  EXPECT_EQ(cudaGetDeviceCount(&visible), cudaSuccess);
  EXPECT_EQ(visible, 1);
  EXPECT_EQ(nvmlDeviceGetCount(nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Nvml, ADeviceIsFoundByIndexAndByBusId) {
  nvmlDevice_t first = nullptr, second = nullptr, found = nullptr;
  ASSERT_EQ(nvmlDeviceGetHandleByIndex(0, &first), NVML_SUCCESS);
  ASSERT_EQ(nvmlDeviceGetHandleByIndex(kOurs, &second), NVML_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_EQ(
      nvmlDeviceGetHandleByIndex(kDevices, &found),
      NVML_ERROR_INVALID_ARGUMENT);
  // The one that CUDA calls device 0 is the machine's last.
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

// CUDA's device 0 is the machine's last.
TEST_F(Nvml, ADeviceIsWhatCudaSaysOfIt) {
  cudaDeviceProp p{};
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = "";
  EXPECT_EQ(nvmlDeviceGetName(device(kOurs), text, sizeof(text)), NVML_SUCCESS);
  EXPECT_STREQ(text, p.name);
  EXPECT_EQ(
      nvmlDeviceGetName(device(kOurs), text, 4), NVML_ERROR_INSUFFICIENT_SIZE);
  int major = 0, minor = -1;
  EXPECT_EQ(
      nvmlDeviceGetCudaComputeCapability(device(kOurs), &major, &minor),
      NVML_SUCCESS);
  EXPECT_EQ(major, p.major);
  EXPECT_EQ(minor, p.minor);
  unsigned index = 9;
  EXPECT_EQ(nvmlDeviceGetIndex(device(kOurs), &index), NVML_SUCCESS);
  EXPECT_EQ(index, kOurs);
  EXPECT_EQ(
      nvmlDeviceGetName(nullptr, text, sizeof(text)),
      NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(
      nvmlDeviceGetName(device(kOurs), nullptr, 9),
      NVML_ERROR_INVALID_ARGUMENT);
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
      EXPECT_EQ(function(device(kOurs), type, &megahertz), NVML_SUCCESS);
      EXPECT_EQ(megahertz, static_cast<unsigned>(kilohertz) / 1000);
    }
    EXPECT_EQ(
        function(device(kOurs), NVML_CLOCK_MEM, &megahertz), NVML_SUCCESS);
    EXPECT_EQ(megahertz, static_cast<unsigned>(memory_kilohertz) / 1000);
    EXPECT_GT(megahertz, 0u);
    EXPECT_EQ(
        function(device(kOurs), NVML_CLOCK_VIDEO, &megahertz),
        NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(
        function(device(kOurs), NVML_CLOCK_COUNT, &megahertz),
        NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(
        function(device(kOurs), NVML_CLOCK_SM, nullptr),
        NVML_ERROR_INVALID_ARGUMENT);
  }
  unsigned megahertz = 0;
  EXPECT_EQ(
      nvmlDeviceGetClock(
          device(kOurs), NVML_CLOCK_SM, NVML_CLOCK_ID_CURRENT, &megahertz),
      NVML_SUCCESS);
  EXPECT_EQ(megahertz, static_cast<unsigned>(kilohertz) / 1000);
  unsigned count = 0;
  EXPECT_EQ(
      nvmlDeviceGetSupportedMemoryClocks(device(kOurs), &count, nullptr),
      NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(
      nvmlDeviceGetSupportedMemoryClocks(device(kOurs), &count, &megahertz),
      NVML_SUCCESS);
  EXPECT_EQ(megahertz, static_cast<unsigned>(memory_kilohertz) / 1000);
  EXPECT_EQ(
      nvmlDeviceGetSupportedGraphicsClocks(
          device(kOurs), megahertz, &count, &megahertz),
      NVML_SUCCESS);
  EXPECT_EQ(megahertz, static_cast<unsigned>(kilohertz) / 1000);
  EXPECT_EQ(
      nvmlDeviceGetSupportedGraphicsClocks(
          device(kOurs), 1, &count, &megahertz),
      NVML_ERROR_NOT_FOUND);
  unsigned bits = 0;
  EXPECT_EQ(nvmlDeviceGetMemoryBusWidth(device(kOurs), &bits), NVML_SUCCESS);
  EXPECT_EQ(bits, static_cast<unsigned>(bus));
}

TEST_F(Nvml, ADeviceIsFoundByItsUuid) {
  cudaDeviceProp p{};
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE] = "";
  ASSERT_EQ(nvmlDeviceGetUUID(device(kOurs), uuid, sizeof(uuid)), NVML_SUCCESS);
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
  EXPECT_EQ(found, device(kOurs));
  EXPECT_EQ(
      nvmlDeviceGetHandleByUUID("GPU-none", &found), NVML_ERROR_NOT_FOUND);
}

TEST_F(Nvml, MemoryIsTheDevices) {
  std::size_t available = 0, total = 0;
  void* taken = nullptr;
  ASSERT_EQ(cudaMalloc(&taken, 5 << 20), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&available, &total), cudaSuccess);
  nvmlMemory_t memory{};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(device(kOurs), &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.total, total);
  EXPECT_EQ(memory.free, available);
  EXPECT_EQ(memory.used, total - available);
  EXPECT_GE(memory.used, 5u << 20);
  nvmlMemory_v2_t later{};
  later.version = nvmlMemory_v2;
  ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(device(kOurs), &later), NVML_SUCCESS);
  EXPECT_EQ(later.used, memory.used);
  EXPECT_EQ(later.total, memory.total);
  later.version = 7;
  EXPECT_EQ(
      nvmlDeviceGetMemoryInfo_v2(device(kOurs), &later),
      NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  EXPECT_EQ(cudaFree(taken), cudaSuccess);
}

TEST_F(Nvml, ADeviceIsBusyWhileItHasWork) {
  nvmlUtilization_t rates{9, 9};
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device(kOurs), &rates), NVML_SUCCESS);
  EXPECT_EQ(rates.gpu, 0u);
  std::promise<void> done;
  const auto wait = [](void* data) {
    static_cast<std::promise<void>*>(data)->get_future().wait_for(
        std::chrono::seconds(30));
  };
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, wait, &done), cudaSuccess);
  EXPECT_EQ(nvmlDeviceGetUtilizationRates(device(kOurs), &rates), NVML_SUCCESS);
  EXPECT_EQ(rates.gpu, 100u);
  EXPECT_EQ(
      nvmlDeviceGetUtilizationRates(device(kOurs - 1), &rates), NVML_SUCCESS);
  EXPECT_EQ(rates.gpu, 0u); // the other one
  done.set_value();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Nvml, APlaceOnTheBusIsWhereCudaSeesIt) {
  char id[16] = "";
  ASSERT_EQ(cudaDeviceGetPCIBusId(id, sizeof(id), 0), cudaSuccess);
  nvmlPciInfo_t info{};
  ASSERT_EQ(nvmlDeviceGetPciInfo(device(kOurs), &info), NVML_SUCCESS);
  for (const char* text : {info.busId, info.busIdLegacy}) {
    nvmlDevice_t found = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId(text, &found), NVML_SUCCESS);
    EXPECT_EQ(found, device(kOurs)) << text;
  }
  unsigned domain = 0, bus = 0, slot = 0;
  ASSERT_EQ(std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot), 3);
  EXPECT_EQ(info.domain, domain);
  EXPECT_EQ(info.bus, bus);
  EXPECT_EQ(info.device, slot);
  nvmlPciInfoExt_t longer{};
  longer.version = nvmlPciInfoExt_v1;
  ASSERT_EQ(nvmlDeviceGetPciInfoExt(device(kOurs), &longer), NVML_SUCCESS);
  EXPECT_EQ(longer.bus, bus);
  EXPECT_STREQ(longer.busId, info.busId);
  longer.version = 3;
  EXPECT_EQ(
      nvmlDeviceGetPciInfoExt(device(kOurs), &longer),
      NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

TEST_F(Nvml, AnArchitectureGoesWithTheComputeCapability) {
  int major = 0, minor = 0;
  nvmlDeviceArchitecture_t architecture = 0;
  ASSERT_EQ(
      nvmlDeviceGetCudaComputeCapability(device(kOurs), &major, &minor),
      NVML_SUCCESS);
  ASSERT_EQ(
      nvmlDeviceGetArchitecture(device(kOurs), &architecture), NVML_SUCCESS);
  EXPECT_EQ(
      architecture,
      major == 9 ? unsigned{NVML_DEVICE_ARCH_HOPPER}
                 : unsigned{NVML_DEVICE_ARCH_AMPERE});
}

TEST_F(Nvml, ThisProcessIsListedUntilItResetsTheDevice) {
  void* taken = nullptr;
  ASSERT_EQ(cudaMalloc(&taken, 3 << 20), cudaSuccess);
  unsigned count = 3;
  nvmlProcessInfo_t processes[3];
  ASSERT_EQ(
      nvmlDeviceGetComputeRunningProcesses(device(kOurs), &count, processes),
      NVML_SUCCESS);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(processes[0].pid, static_cast<unsigned>(getpid()));
  EXPECT_EQ(processes[0].usedGpuMemory, 3u << 20);
  count = 3;
  EXPECT_EQ(
      nvmlDeviceGetGraphicsRunningProcesses(device(kOurs), &count, processes),
      NVML_SUCCESS);
  EXPECT_EQ(count, 0u);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(
      nvmlDeviceGetComputeRunningProcesses(device(kOurs), &count, processes),
      NVML_SUCCESS);
  EXPECT_EQ(count, 0u);
}

TEST_F(Nvml, MemoryOfAllKindsCounts) {
  const auto used = [&] {
    nvmlMemory_t memory{};
    EXPECT_EQ(nvmlDeviceGetMemoryInfo(device(kOurs), &memory), NVML_SUCCESS);
    return memory.used;
  };
  const auto listed = [&] {
    unsigned count = 1;
    nvmlProcessInfo_t process{};
    EXPECT_EQ(
        nvmlDeviceGetComputeRunningProcesses(device(kOurs), &count, &process),
        NVML_SUCCESS);
    return process.usedGpuMemory;
  };
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto before = used();
  EXPECT_EQ(listed(), before);
  void* ordered = nullptr;
  cudaArray_t array = nullptr;
  const auto description =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  ASSERT_EQ(cudaMallocAsync(&ordered, 1 << 20, nullptr), cudaSuccess);
  EXPECT_EQ(used(), before + (1 << 20));
  ASSERT_EQ(cudaMallocArray(&array, &description, 512, 512, 0), cudaSuccess);
  EXPECT_EQ(used(), before + (2 << 20));
  EXPECT_EQ(listed(), used());
  EXPECT_EQ(cudaFree(ordered), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(used(), before);
}

TEST_F(Nvml, CoresAreThoseOfTheMultiprocessors) {
  cudaDeviceProp p{};
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  unsigned cores = 0;
  ASSERT_EQ(nvmlDeviceGetNumGpuCores(device(kOurs), &cores), NVML_SUCCESS);
  EXPECT_EQ(cores, 64u * static_cast<unsigned>(p.multiProcessorCount)); // 8.0
}

// "nvmlReturn: return code for retrieving this value".
TEST_F(Nvml, EachFieldSaysThatItHasNoValue) {
  nvmlFieldValue_t fields[2] = {};
  EXPECT_EQ(nvmlDeviceGetFieldValues(device(0), 2, fields), NVML_SUCCESS);
  for (const nvmlFieldValue_t& field : fields) {
    EXPECT_EQ(field.nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
  }
  EXPECT_EQ(
      nvmlDeviceGetFieldValues(device(0), 2, nullptr),
      NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Nvml, ModesAreThoseOfADeviceThatComputes) {
  nvmlComputeMode_t mode = NVML_COMPUTEMODE_PROHIBITED;
  EXPECT_EQ(nvmlDeviceGetComputeMode(device(0), &mode), NVML_SUCCESS);
  EXPECT_EQ(mode, NVML_COMPUTEMODE_DEFAULT);
  for (const auto function :
       {nvmlDeviceGetDisplayMode,
        nvmlDeviceGetDisplayActive,
        nvmlDeviceGetPersistenceMode}) {
    nvmlEnableState_t state = NVML_FEATURE_ENABLED;
    EXPECT_EQ(function(device(0), &state), NVML_SUCCESS);
    EXPECT_EQ(state, NVML_FEATURE_DISABLED);
  }
  nvmlPstates_t state = NVML_PSTATE_UNKNOWN;
  EXPECT_EQ(nvmlDeviceGetPerformanceState(device(0), &state), NVML_SUCCESS);
  EXPECT_EQ(state, NVML_PSTATE_0);
  unsigned is_mig = 9;
  EXPECT_EQ(nvmlDeviceIsMigDeviceHandle(device(0), &is_mig), NVML_SUCCESS);
  EXPECT_EQ(is_mig, 0u);
}

TEST_F(Nvml, NoEventComes) {
  unsigned long long types = 9;
  nvmlEventSet_t set = nullptr;
  nvmlEventData_t event{};
  EXPECT_EQ(nvmlDeviceGetSupportedEventTypes(device(0), &types), NVML_SUCCESS);
  EXPECT_EQ(types, 0u);
  ASSERT_EQ(nvmlEventSetCreate(&set), NVML_SUCCESS);
  EXPECT_EQ(
      nvmlDeviceRegisterEvents(device(0), nvmlEventTypeXidCriticalError, set),
      NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvmlEventSetWait(set, &event, 1), NVML_ERROR_TIMEOUT);
  EXPECT_EQ(nvmlEventSetWait(nullptr, &event, 1), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlEventSetFree(set), NVML_SUCCESS);
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
