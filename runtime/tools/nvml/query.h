// How the queries of NVML are answered.
#pragma once

#include <nvml.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/machine/properties.h"
#include "runtime/core/machine/usage.h"
#include "runtime/core/status/status.h"

namespace accelerator::nvml {

/// Devices of the machine, whatever CUDA_VISIBLE_DEVICES says: NVML does not
/// look at it.
unsigned device_count();

/// Whether there are nvmlInit without nvmlShutdown.
bool in_use();

/// What every query answers when it cannot: before nvmlInit, or without a place
/// for the result.
nvmlReturn_t check(const void* place);

/// Handles are ordinals counted from 1.
inline nvmlDevice_t handle_of(unsigned index) {
  return reinterpret_cast<nvmlDevice_t>(static_cast<std::uintptr_t>(index) + 1);
}

/// What is known of a device, as cudaGetDeviceProperties tells it.
runtime::Properties properties_of(unsigned number);

/// The processes that use it.
std::vector<runtime::Usage> usages_of(unsigned number);

/// Its UUID as programs write it.
std::string uuid_of(const runtime::Properties& properties);

/// Writes a text where it fits.
nvmlReturn_t write(const std::string& text, char* place, unsigned length);

/// Tells a figure, where a device has it.
template <typename Figure>
nvmlReturn_t tell(Figure figure, unsigned* place) {
  if (figure <= 0) {
    return NVML_ERROR_NOT_SUPPORTED;
  }
  *place = static_cast<unsigned>(figure);
  return NVML_SUCCESS;
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
    return std::forward<Body>(body)(static_cast<unsigned>(number));
  } catch (const runtime::Failure& failure) {
    runtime::report(failure.message());
    return NVML_ERROR_UNKNOWN;
  }
}

} // namespace accelerator::nvml
