// NVML: how many devices the machine has, how to find one, and versions. What a
// device is like is in the other files. Every other function answers "not
// supported" (BUILD.bazel).
// Source: NVML API reference, device queries.
#include <nvml.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/core/backends/backends.h"
#include "runtime/core/machine/driver_version.h"
#include "runtime/tools/nvml/query.h"

using namespace accelerator::runtime;
using namespace accelerator::nvml;

namespace {

// Of the first driver of NVIDIA's that has CUDA 13.5, for programs that ask for
// a least one.
constexpr char kSystemDriverVersion[] = "615.71";
constexpr char kNvmlVersion[] = "13.615.71";

/// How many nvmlInit have no nvmlShutdown yet.
std::atomic<int> users{0};

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

} // namespace

unsigned accelerator::nvml::device_count() {
  try {
    return static_cast<unsigned>(all_devices().size());
  } catch (const Failure& failure) {
    report(failure.message());
    return 0;
  }
}

bool accelerator::nvml::in_use() {
  return users > 0;
}

nvmlReturn_t accelerator::nvml::check(const void* place) {
  if (users == 0) {
    return NVML_ERROR_UNINITIALIZED;
  }
  return place == nullptr ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

#undef nvmlInit
#undef nvmlDeviceGetCount
#undef nvmlDeviceGetHandleByIndex
#undef nvmlDeviceGetHandleByPciBusId

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
  switch (static_cast<int>(result)) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_UNINITIALIZED:
      return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
      return "Not Supported";
    case NVML_ERROR_NO_PERMISSION:
      return "Insufficient Permissions";
    case NVML_ERROR_ALREADY_INITIALIZED:
      return "Already Initialized";
    case NVML_ERROR_NOT_FOUND:
      return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "Insufficient Size";
    case NVML_ERROR_INSUFFICIENT_POWER:
      return "Insufficient External Power";
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    case NVML_ERROR_TIMEOUT:
      return "Timeout";
    case NVML_ERROR_IRQ_ISSUE:
      return "Interrupt Request Issue";
    case NVML_ERROR_LIBRARY_NOT_FOUND:
      return "NVML Shared Library Not Found";
    case NVML_ERROR_FUNCTION_NOT_FOUND:
      return "Function Not Found";
    case NVML_ERROR_CORRUPTED_INFOROM:
      return "Corrupted infoROM";
    case NVML_ERROR_GPU_IS_LOST:
      return "GPU is lost";
    case NVML_ERROR_RESET_REQUIRED:
      return "GPU requires reset";
    case NVML_ERROR_OPERATING_SYSTEM:
      return "GPU access blocked by the operating system";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return "Driver/library version mismatch";
    case NVML_ERROR_IN_USE:
      return "In use by another client";
    case NVML_ERROR_MEMORY:
      return "Insufficient Memory";
    case NVML_ERROR_NO_DATA:
      return "No data";
    case NVML_ERROR_VGPU_ECC_NOT_SUPPORTED:
      return "vGPU operation not available with ECC enabled";
    case NVML_ERROR_INSUFFICIENT_RESOURCES:
      return "Insufficient resources";
    case NVML_ERROR_FREQ_NOT_SUPPORTED:
      return "Frequency not supported";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
      return "Argument Version Mismatch";
    case NVML_ERROR_DEPRECATED:
      return "Deprecated";
    case NVML_ERROR_NOT_READY:
      return "Not ready";
    case NVML_ERROR_GPU_NOT_FOUND:
      return "GPU not found";
    case NVML_ERROR_INVALID_STATE:
      return "Invalid state";
    case 30: // NVML_ERROR_RESET_TYPE_NOT_SUPPORTED, of CUDA 13's header
      return "Reset type not supported";
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
  return find_device(
      device, [&](const Properties& p) { return id == uuid_of(p); });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  return ask(device, index, [&](unsigned number) {
    *index = number;
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

} // extern "C"
