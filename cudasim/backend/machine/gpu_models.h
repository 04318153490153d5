// The models of GPU that can be simulated, with their figures.
#pragma once

#include <cstdint>
#include <string>

#include "device/abi/device_api.h"

namespace cudasim::backend {

struct Settings;

/// What differs between models of GPU.
struct GpuModel {
  const char* name; // of the model: "sm_80"
  const char* device_name;
  /// The device's name where the environment asks for that of the GPU.
  const char* product_name;
  int major;
  int minor;
  int multiprocessors;
  int threads_per_multiprocessor;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
  int pcie_generation;
  int l2_bytes;
  int persisting_l2_bytes; // of these, what can be set aside
  int shared_per_multiprocessor; // bytes
  int shared_per_block_optin; // bytes
};

/// The model of that name; null when there is none.
const GpuModel* find_gpu_model(const std::string& name);

/// All names, for messages: "sm_80, sm_90 or sm_120".
std::string gpu_model_names();

/// The figures of a device.
/// @param ordinal on the machine, from which uuid and bus id come.
accel_properties make_properties(const Settings& settings, int ordinal);

} // namespace cudasim::backend
