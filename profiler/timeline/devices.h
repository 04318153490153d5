// What a trace says about the devices, and how much of one a kernel uses.
#pragma once

#include <cupti.h>

#include <optional>
#include <string>

namespace torch_cuda::profiler {

/// All devices as JSON objects, one behind the other; empty when there is none.
std::string device_properties_json();

/// How a kernel's grid lies on its device.
struct Load {
  float blocks = 0; // for each multiprocessor
  float warps = 0; // the same
  int occupancy_percent = -1; // of its threads; -1: not known
};

/// Nothing for a kernel of a device that is not known.
std::optional<Load> load_of(const CUpti_ActivityKernel9& kernel);

} // namespace torch_cuda::profiler
