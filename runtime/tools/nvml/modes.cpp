// In which modes a device is, and what it is not: no device here drives a
// display, is divided, is in a fabric of NVLink or is part of a unit.
// Source: NVML API reference, device queries and unit queries.
#include <nvml.h>

#include <cstring>

#include "runtime/tools/nvml/query.h"

using namespace accelerator::runtime;
using namespace accelerator::nvml;

namespace {

/// nvmlGpuFabricInfo_v3, which the headers of CUDA 12 do not have.
constexpr unsigned kFabricInfoVersion3 =
    (sizeof(nvmlGpuFabricInfo_v2_t) + alignof(nvmlGpuFabricInfo_v2_t)) |
    (3u << 24);

template <typename Value>
nvmlReturn_t always(nvmlDevice_t device, Value* place, Value value) {
  return ask(device, place, [&](unsigned) {
    *place = value;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t none(unsigned* count) {
  const nvmlReturn_t result = check(count);
  if (result == NVML_SUCCESS) {
    *count = 0;
  }
  return result;
}

} // namespace

extern "C" {

/// As cudaDevAttrComputeMode.
nvmlReturn_t nvmlDeviceGetComputeMode(
    nvmlDevice_t device,
    nvmlComputeMode_t* mode) {
  return always(device, mode, NVML_COMPUTEMODE_DEFAULT);
}

/// A device ends with the process that uses it.
nvmlReturn_t nvmlDeviceGetPersistenceMode(
    nvmlDevice_t device,
    nvmlEnableState_t* mode) {
  return always(device, mode, NVML_FEATURE_DISABLED);
}

nvmlReturn_t nvmlDeviceGetDisplayMode(
    nvmlDevice_t device,
    nvmlEnableState_t* mode) {
  return always(device, mode, NVML_FEATURE_DISABLED);
}

nvmlReturn_t nvmlDeviceGetDisplayActive(
    nvmlDevice_t device,
    nvmlEnableState_t* active) {
  return always(device, active, NVML_FEATURE_DISABLED);
}

nvmlReturn_t nvmlDeviceGetVirtualizationMode(
    nvmlDevice_t device,
    nvmlGpuVirtualizationMode_t* mode) {
  return always(device, mode, NVML_GPU_VIRTUALIZATION_MODE_NONE);
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned* multi) {
  return always(device, multi, 0u);
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned* is) {
  return always(device, is, 0u);
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(
    nvmlDevice_t device,
    unsigned* count) {
  return always(device, count, 0u);
}

nvmlReturn_t nvmlUnitGetCount(unsigned* count) {
  return none(count);
}

nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned* count) {
  return none(count);
}

/// Whether there is a value is said of each; here is none.
nvmlReturn_t nvmlDeviceGetFieldValues(
    nvmlDevice_t device,
    int count,
    nvmlFieldValue_t* values) {
  return ask(device, count > 0 ? values : nullptr, [&](unsigned) {
    for (int i = 0; i < count; ++i) {
      values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    }
    return NVML_SUCCESS;
  });
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
