// NVML as PyTorch uses it: how many devices the machine has, and who uses them.
// Source: NVML API reference, device queries.
#include <nvml.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "accelerator/runtime/core/backends/backends.h"
#include "accelerator/runtime/core/machine/driver_version.h"
#include "accelerator/runtime/core/status/status.h"

namespace {

/// Devices of the machine, whatever CUDA_VISIBLE_DEVICES says: NVML does not
/// look at it.
unsigned device_count() {
  try {
    return static_cast<unsigned>(accelerator::runtime::all_devices().size());
  } catch (const accelerator::runtime::Failure& failure) {
    accelerator::runtime::report(failure.message());
    return 0;
  }
}

/// Handles are ordinals counted from 1.
nvmlDevice_t handle_of(unsigned index) {
  return reinterpret_cast<nvmlDevice_t>(static_cast<std::uintptr_t>(index) + 1);
}

/// Whether a device is at that place on the bus. Those that have none are
/// counted in a domain of their own, cudaDeviceProp says which.
bool is_at(
    const accelerator::runtime::Slot& slot,
    unsigned number,
    unsigned domain,
    unsigned bus,
    unsigned device) {
  accel_properties figures{};
  figures.struct_size = sizeof figures;
  if (slot.api->device_properties(slot.index, &figures) != ACCEL_OK) {
    return false;
  }
  if ((figures.pci_domain | figures.pci_bus | figures.pci_device) == 0) {
    return domain != 0 && bus == number + 1 && device == 0;
  }
  return domain == static_cast<unsigned>(figures.pci_domain) &&
      bus == static_cast<unsigned>(figures.pci_bus) &&
      device == static_cast<unsigned>(figures.pci_device);
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

} // namespace

#undef nvmlInit
#undef nvmlDeviceGetCount
#undef nvmlDeviceGetHandleByIndex
#undef nvmlDeviceGetHandleByPciBusId
#undef nvmlDeviceGetComputeRunningProcesses

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
  for (unsigned number = 0; number < device_count(); ++number) {
    const auto& candidate = accelerator::runtime::all_devices()[number];
    if (is_at(candidate, number, domain, bus, slot)) {
      *device = handle_of(number);
      return NVML_SUCCESS;
    }
  }
  return NVML_ERROR_NOT_FOUND;
}

/// No process is known: those that use a device do not meet.
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(
    nvmlDevice_t,
    unsigned* count,
    nvmlProcessInfo_v1_t*) {
  const nvmlReturn_t result = check(count);
  if (result == NVML_SUCCESS) {
    *count = 0;
  }
  return result;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(
    nvmlDevice_t,
    unsigned,
    nvmlIntNvLinkDeviceType_t*) {
  return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(
    nvmlDevice_t,
    unsigned,
    nvmlPciInfo_t*) {
  return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  if (version == nullptr) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  *version = accelerator::runtime::kDriverVersion;
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

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t, char*, unsigned) {
  return NVML_ERROR_NOT_SUPPORTED;
}

} // extern "C"
