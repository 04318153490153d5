// NVML: how many devices the machine has, what they are, and their memory.
// Every other function answers "not supported" (BUILD.bazel). Source: NVML API
// reference, device queries.
#include <nvml.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "accelerator/runtime/core/backends/backends.h"
#include "accelerator/runtime/core/machine/driver_version.h"
#include "accelerator/runtime/core/machine/machine.h"
#include "accelerator/runtime/core/machine/properties.h"
#include "accelerator/runtime/core/status/status.h"

using namespace accelerator::runtime;

namespace {

// Of the first driver of NVIDIA's that has CUDA 13.5, for programs that ask for
// a least one.
constexpr char kSystemDriverVersion[] = "615.71";
constexpr char kNvmlVersion[] = "13.615.71";

/// Devices of the machine, whatever CUDA_VISIBLE_DEVICES says: NVML does not
/// look at it.
unsigned device_count() {
  try {
    return static_cast<unsigned>(all_devices().size());
  } catch (const Failure& failure) {
    report(failure.message());
    return 0;
  }
}

/// Handles are ordinals counted from 1.
nvmlDevice_t handle_of(unsigned index) {
  return reinterpret_cast<nvmlDevice_t>(static_cast<std::uintptr_t>(index) + 1);
}

/// What is known of a device, as cudaGetDeviceProperties tells it.
Properties properties_of(unsigned number) {
  const Slot& slot = all_devices()[number];
  accel_properties figures{};
  figures.struct_size = sizeof figures;
  require(slot.api->device_properties(slot.index, &figures) == ACCEL_OK);
  return make_properties(figures, static_cast<int>(number));
}

/// nvmlGpuFabricInfo_v3, which the headers of CUDA 12 do not have.
constexpr unsigned kFabricInfoVersion3 =
    (sizeof(nvmlGpuFabricInfo_v2_t) + alignof(nvmlGpuFabricInfo_v2_t)) |
    (3u << 24);

/// How many nvmlInit have no nvmlShutdown yet.
std::atomic<int> users{0};

/// What every query answers when it cannot: before nvmlInit, or without a place
/// for the result.
nvmlReturn_t check(const void* place) {
  if (users == 0) {
    return NVML_ERROR_UNINITIALIZED;
  }
  return place == nullptr ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

/// Calls `body` with the number of a device, when NVML is in use, the device is
/// one, and there is a place for the result.
template <typename Body>
nvmlReturn_t ask(nvmlDevice_t device, const void* place, Body&& body) {
  const nvmlReturn_t result = check(place);
  if (result != NVML_SUCCESS) {
    return result;
  }
  const auto number = reinterpret_cast<std::uintptr_t>(device) - 1;
  if (number >= device_count()) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  try {
    return body(static_cast<unsigned>(number));
  } catch (const Failure& failure) {
    report(failure.message());
    return NVML_ERROR_UNKNOWN;
  }
}

/// The first device of which `is_it` says so of its properties.
template <typename IsIt>
nvmlReturn_t find_device(nvmlDevice_t* device, IsIt&& is_it) {
  for (unsigned number = 0; number < device_count(); ++number) {
    bool found = false;
    const nvmlReturn_t result = ask(handle_of(number), device, [&](unsigned) {
      found = is_it(properties_of(number));
      return NVML_SUCCESS;
    });
    if (found || result != NVML_SUCCESS) {
      *device = handle_of(number);
      return result;
    }
  }
  return NVML_ERROR_NOT_FOUND;
}

/// Writes a text where it fits.
nvmlReturn_t write(const std::string& text, char* place, unsigned length) {
  if (text.size() >= length) {
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  std::memcpy(place, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

using UuidBytes = unsigned char[16];

const UuidBytes& bytes_of(const cudaUUID_t& uuid) {
  return reinterpret_cast<const UuidBytes&>(uuid.bytes);
}

/// Whether this process has work on a device that is not done.
bool is_busy(unsigned number) {
  if (!machine_exists()) {
    return false;
  }
  const Slot& slot = all_devices()[number];
  for (int ordinal = 0; ordinal < machine().device_count(); ++ordinal) {
    Device& device = machine().device(ordinal);
    if (device.slot().api != slot.api || device.slot().index != slot.index ||
        !device.active()) {
      continue;
    }
    for (const auto& stream : device.streams()) {
      if (!stream->idle()) {
        return true;
      }
    }
  }
  return false;
}

/// What all versions of nvmlPciInfo_t begin with: the id as older programs read
/// it, and where the device is.
void write_place(const Properties& p, nvmlPciInfo_t* info) {
  info->domain = static_cast<unsigned>(p.pciDomainID);
  info->bus = static_cast<unsigned>(p.pciBusID);
  info->device = static_cast<unsigned>(p.pciDeviceID);
  std::snprintf(
      info->busIdLegacy,
      sizeof(info->busIdLegacy),
      "%04X:%02X:%02X.0",
      info->domain,
      info->bus,
      info->device);
}

} // namespace

#undef nvmlInit
#undef nvmlDeviceGetCount
#undef nvmlDeviceGetHandleByIndex
#undef nvmlDeviceGetHandleByPciBusId
#undef nvmlDeviceGetComputeRunningProcesses
#undef nvmlDeviceGetGraphicsRunningProcesses
#undef nvmlDeviceGetMPSComputeRunningProcesses
#undef nvmlDeviceGetPciInfo

extern "C" {

nvmlReturn_t nvmlInitWithFlags(unsigned) {
  ++users;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2() {
  return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlInit() {
  return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlShutdown() {
  for (int before = users; before > 0;) {
    if (users.compare_exchange_weak(before, before - 1)) {
      return NVML_SUCCESS;
    }
  }
  return NVML_ERROR_UNINITIALIZED;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_UNINITIALIZED:
      return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
      return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
      return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "Insufficient Size";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
      return "Argument Version Mismatch";
    default:
      return "Unknown Error";
  }
}

nvmlReturn_t nvmlDeviceGetCount(unsigned* count) {
  const nvmlReturn_t result = check(count);
  if (result == NVML_SUCCESS) {
    *count = device_count();
  }
  return result;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  return nvmlDeviceGetCount(count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  const nvmlReturn_t result = check(device);
  if (result != NVML_SUCCESS) {
    return result;
  }
  if (index >= device_count()) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  *device = handle_of(index);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(
    unsigned index,
    nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex(index, device);
}

/// The id is that of cudaDeviceGetPCIBusId.
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(
    const char* id,
    nvmlDevice_t* device) {
  const nvmlReturn_t result = check(device);
  if (result != NVML_SUCCESS) {
    return result;
  }
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  if (id == nullptr || std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  return find_device(device, [&](const Properties& p) {
    return domain == static_cast<unsigned>(p.pciDomainID) &&
        bus == static_cast<unsigned>(p.pciBusID) &&
        slot == static_cast<unsigned>(p.pciDeviceID);
  });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(
    const char* id,
    nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* id, nvmlDevice_t* device) {
  const nvmlReturn_t result = check(device);
  if (result != NVML_SUCCESS) {
    return result;
  }
  if (id == nullptr) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  return find_device(device, [&](const Properties& p) {
    return id == uuid_text(bytes_of(p.uuid));
  });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  return ask(device, index, [&](unsigned number) {
    *index = number;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetName(
    nvmlDevice_t device,
    char* name,
    unsigned length) {
  return ask(device, name, [&](unsigned number) {
    return write(properties_of(number).name, name, length);
  });
}

nvmlReturn_t nvmlDeviceGetUUID(
    nvmlDevice_t device,
    char* uuid,
    unsigned length) {
  return ask(device, uuid, [&](unsigned number) {
    return write(uuid_text(bytes_of(properties_of(number).uuid)), uuid, length);
  });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(
    nvmlDevice_t device,
    int* major,
    int* minor) {
  return ask(device, minor != nullptr ? major : nullptr, [&](unsigned number) {
    const Properties p = properties_of(number);
    *major = p.major;
    *minor = p.minor;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(
    nvmlDevice_t device,
    nvmlMemory_t* memory) {
  return ask(device, memory, [&](unsigned number) {
    const Slot& slot = all_devices()[number];
    std::uint64_t available = 0;
    std::uint64_t total = 0;
    if (slot.api->memory_info(slot.index, &available, &total) != ACCEL_OK) {
      return NVML_ERROR_UNKNOWN;
    }
    memory->total = total;
    memory->free = available;
    memory->used = total - available;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(
    nvmlDevice_t device,
    nvmlMemory_v2_t* memory) {
  if (users > 0 && memory != nullptr && memory->version != nvmlMemory_v2) {
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  }
  nvmlMemory_t plain{};
  const nvmlReturn_t result =
      nvmlDeviceGetMemoryInfo(device, memory != nullptr ? &plain : nullptr);
  if (result == NVML_SUCCESS) {
    memory->total = plain.total;
    memory->free = plain.free;
    memory->used = plain.used;
    memory->reserved = 0;
  }
  return result;
}

/// What this process does at the moment: that of others is not seen, nor how
/// much of a device is in use.
nvmlReturn_t nvmlDeviceGetUtilizationRates(
    nvmlDevice_t device,
    nvmlUtilization_t* rates) {
  return ask(device, rates, [&](unsigned number) {
    const unsigned percent = is_busy(number) ? 100 : 0;
    *rates = {percent, percent};
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return ask(device, info, [&](unsigned number) {
    *info = {};
    write_place(properties_of(number), info);
    std::snprintf(
        info->busId,
        sizeof(info->busId),
        "%08X:%02X:%02X.0",
        info->domain,
        info->bus,
        info->device);
    return NVML_SUCCESS;
  });
}

// Before version 3 there were four reserved numbers in place of the longer id.
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return ask(device, info, [&](unsigned number) {
    std::memset(
        static_cast<void*>(info),
        0,
        offsetof(nvmlPciInfo_t, busId) + 4 * sizeof(unsigned));
    write_place(properties_of(number), info);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return nvmlDeviceGetPciInfo_v2(device, info);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(
    nvmlDevice_t device,
    nvmlPciInfoExt_t* info) {
  if (users > 0 && info != nullptr && info->version != nvmlPciInfoExt_v1) {
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  }
  nvmlPciInfo_t plain{};
  const nvmlReturn_t result =
      nvmlDeviceGetPciInfo_v3(device, info != nullptr ? &plain : nullptr);
  if (result == NVML_SUCCESS) {
    *info = {};
    info->version = nvmlPciInfoExt_v1;
    info->domain = plain.domain;
    info->bus = plain.bus;
    info->device = plain.device;
    std::memcpy(info->busId, plain.busId, sizeof(info->busId));
  }
  return result;
}

nvmlReturn_t nvmlDeviceGetArchitecture(
    nvmlDevice_t device,
    nvmlDeviceArchitecture_t* architecture) {
  return ask(device, architecture, [&](unsigned number) {
    const Properties p = properties_of(number);
    switch (p.major) {
      case 8:
        *architecture =
            p.minor == 9 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE;
        break;
      case 9:
        *architecture = NVML_DEVICE_ARCH_HOPPER;
        break;
      default:
        *architecture = NVML_DEVICE_ARCH_UNKNOWN;
    }
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
  const nvmlReturn_t result = check(version);
  return result == NVML_SUCCESS ? write(kSystemDriverVersion, version, length)
                                : result;
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  const nvmlReturn_t result = check(version);
  return result == NVML_SUCCESS ? write(kNvmlVersion, version, length) : result;
}

/// No process is known: those that use a device do not meet.
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(
    nvmlDevice_t device,
    unsigned* count,
    nvmlProcessInfo_v1_t*) {
  return ask(device, count, [&](unsigned) {
    *count = 0;
    return NVML_SUCCESS;
  });
}

#define NVML_NO_PROCESSES(name, type)                                    \
  nvmlReturn_t name(nvmlDevice_t device, unsigned* count, type*) {       \
    return nvmlDeviceGetComputeRunningProcesses(device, count, nullptr); \
  }

NVML_NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t)
NVML_NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t)
NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t)
NVML_NO_PROCESSES(
    nvmlDeviceGetGraphicsRunningProcesses_v2,
    nvmlProcessInfo_v2_t)
NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t)
NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t)
NVML_NO_PROCESSES(
    nvmlDeviceGetMPSComputeRunningProcesses_v2,
    nvmlProcessInfo_v2_t)
NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t)

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  if (version == nullptr) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  *version = kDriverVersion;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

/// No device here is in a fabric of NVLink, which is a state and no error.
/// CUDA 13 asks with version 3, which is version 2 and a byte.
nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(
    nvmlDevice_t,
    nvmlGpuFabricInfoV_t* info) {
  const nvmlReturn_t result = check(info);
  if (result != NVML_SUCCESS) {
    return result;
  }
  const unsigned version = info->version;
  if (version != nvmlGpuFabricInfo_v2 && version != kFabricInfoVersion3) {
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  }
  // A version holds the size of its structure in its lower bytes.
  std::memset(info, 0, version & 0xffffff);
  info->version = version;
  info->state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED;
  return NVML_SUCCESS;
}

} // extern "C"
