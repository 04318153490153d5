// NVML as PyTorch uses it: how many devices the machine has, and who uses them.
// Source: NVML API reference, device queries.
#include <nvml.h>

#include <cstdint>

#include "cudasim/device/settings.h"

namespace {

/// Devices of the machine, whatever CUDA_VISIBLE_DEVICES says: NVML does not
/// look at it.
unsigned device_count() {
  return static_cast<unsigned>(cudasim::device::read_settings().devices);
}

/// Handles are ordinals counted from 1.
nvmlDevice_t handle_of(unsigned index) {
  return reinterpret_cast<nvmlDevice_t>(static_cast<std::uintptr_t>(index) + 1);
}

} // namespace

#undef nvmlInit
#undef nvmlDeviceGetCount
#undef nvmlDeviceGetHandleByIndex
#undef nvmlDeviceGetHandleByPciBusId
#undef nvmlDeviceGetComputeRunningProcesses

extern "C" {

nvmlReturn_t nvmlInit() {
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2() {
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlInitWithFlags(unsigned) {
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown() {
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  return result == NVML_SUCCESS ? "Success" : "Not Supported";
}

nvmlReturn_t nvmlDeviceGetCount(unsigned* count) {
  *count = device_count();
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  return nvmlDeviceGetCount(count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
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

// All devices are on one bus, so any of them will do for what NVML can say
// here.
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(
    const char*,
    nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex(0, device);
}

/// No process is known: those that use a simulated device do not meet.
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(
    nvmlDevice_t,
    unsigned* count,
    nvmlProcessInfo_v1_t*) {
  *count = 0;
  return NVML_SUCCESS;
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

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t, char*, unsigned) {
  return NVML_ERROR_NOT_SUPPORTED;
}

} // extern "C"
