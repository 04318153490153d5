// At what rate a device runs. A device here runs at the rate that it names, or
// names none. Source: NVML API reference, device queries.
#include <nvml.h>

#include "runtime/tools/nvml/query.h"

using namespace accelerator::runtime;
using namespace accelerator::nvml;

namespace {

/// The rate of a clock in MHz; 0 when the device has none to tell.
unsigned rate(const Properties& p, nvmlClockType_t type) {
  switch (type) {
    case NVML_CLOCK_GRAPHICS:
    case NVML_CLOCK_SM:
      return static_cast<unsigned>(p.clockRate) / 1000;
    case NVML_CLOCK_MEM:
      return static_cast<unsigned>(p.memoryClockRate) / 1000;
    default:
      return 0;
  }
}

/// A list of that one rate, where it fits.
nvmlReturn_t write_rate(unsigned rate, unsigned* count, unsigned* rates) {
  if (rate == 0) {
    return NVML_ERROR_NOT_SUPPORTED;
  }
  const bool fits = *count >= 1 && rates != nullptr;
  *count = 1;
  if (!fits) {
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  *rates = rate;
  return NVML_SUCCESS;
}

} // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetMaxClockInfo(
    nvmlDevice_t device,
    nvmlClockType_t type,
    unsigned* megahertz) {
  return ask(device, megahertz, [&](unsigned number) {
    if (type >= NVML_CLOCK_COUNT) {
      return NVML_ERROR_INVALID_ARGUMENT;
    }
    return tell(rate(properties_of(number), type), megahertz);
  });
}

nvmlReturn_t nvmlDeviceGetClockInfo(
    nvmlDevice_t device,
    nvmlClockType_t type,
    unsigned* megahertz) {
  return nvmlDeviceGetMaxClockInfo(device, type, megahertz);
}

nvmlReturn_t nvmlDeviceGetClock(
    nvmlDevice_t device,
    nvmlClockType_t type,
    nvmlClockId_t which,
    unsigned* megahertz) {
  return ask(device, megahertz, [&](unsigned) {
    if (which >= NVML_CLOCK_ID_COUNT) {
      return NVML_ERROR_INVALID_ARGUMENT;
    }
    return which == NVML_CLOCK_ID_CURRENT
        ? nvmlDeviceGetMaxClockInfo(device, type, megahertz)
        : NVML_ERROR_NOT_SUPPORTED;
  });
}

nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(
    nvmlDevice_t device,
    unsigned* count,
    unsigned* megahertz) {
  return ask(device, count, [&](unsigned number) {
    const unsigned its = rate(properties_of(number), NVML_CLOCK_MEM);
    return write_rate(its, count, megahertz);
  });
}

nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(
    nvmlDevice_t device,
    unsigned memory_megahertz,
    unsigned* count,
    unsigned* megahertz) {
  return ask(device, count, [&](unsigned number) {
    const Properties p = properties_of(number);
    if (memory_megahertz != rate(p, NVML_CLOCK_MEM)) {
      return NVML_ERROR_NOT_FOUND;
    }
    return write_rate(rate(p, NVML_CLOCK_GRAPHICS), count, megahertz);
  });
}

/// That of the highest rate.
nvmlReturn_t nvmlDeviceGetPerformanceState(
    nvmlDevice_t device,
    nvmlPstates_t* state) {
  return ask(device, state, [&](unsigned) {
    *state = NVML_PSTATE_0;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetPowerState(
    nvmlDevice_t device,
    nvmlPstates_t* state) {
  return nvmlDeviceGetPerformanceState(device, state);
}

/// Nothing makes a clock slower.
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(
    nvmlDevice_t device,
    unsigned long long* reasons) {
  return ask(device, reasons, [&](unsigned) {
    *reasons = nvmlClocksEventReasonNone;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(
    nvmlDevice_t device,
    unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(
    nvmlDevice_t device,
    unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(
    nvmlDevice_t device,
    unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

} // extern "C"
