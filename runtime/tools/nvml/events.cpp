// Events that a program waits for: no device here has any, so waiting ends when
// its time is over. Source: NVML API reference, event handling.
#include <nvml.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "runtime/tools/nvml/query.h"

using namespace accelerator::nvml;

#undef nvmlEventSetWait

namespace {

/// All sets are alike: nothing is in them.
const nvmlEventSet_t kEmptySet =
    reinterpret_cast<nvmlEventSet_t>(std::uintptr_t{1});

} // namespace

extern "C" {

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  const nvmlReturn_t result = check(set);
  if (result == NVML_SUCCESS) {
    *set = kEmptySet;
  }
  return result;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  return check(set);
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(
    nvmlDevice_t device,
    unsigned long long* types) {
  return ask(device, types, [&](unsigned) {
    *types = nvmlEventTypeNone;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceRegisterEvents(
    nvmlDevice_t device,
    unsigned long long types,
    nvmlEventSet_t set) {
  return ask(device, set, [&](unsigned) {
    return types == nvmlEventTypeNone ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  });
}

nvmlReturn_t nvmlEventSetWait_v2(
    nvmlEventSet_t set,
    nvmlEventData_t* data,
    unsigned milliseconds) {
  const nvmlReturn_t result = check(set != nullptr ? data : nullptr);
  if (result != NVML_SUCCESS) {
    return result;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return NVML_ERROR_TIMEOUT;
}

nvmlReturn_t nvmlEventSetWait(
    nvmlEventSet_t set,
    nvmlEventData_t* data,
    unsigned milliseconds) {
  return nvmlEventSetWait_v2(set, data, milliseconds);
}

} // extern "C"
