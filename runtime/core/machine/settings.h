// What the environment asks of the runtime.
#pragma once

#include <string>
#include <vector>

namespace accelerator::runtime {

struct Settings {
  /// TORCH_CUDA_TIMEOUT: seconds after which a wait for others is given up.
  double timeout_seconds = 600;
  /// CUDA_LAUNCH_BLOCKING=1: a launch returns when the kernel has ended.
  bool launch_blocking = false;
  /// CUDA_VISIBLE_DEVICES: numbers of devices on the machine in the order in
  /// which the program sees them.
  std::vector<int> visible;
};

/// What CUDA_VISIBLE_DEVICES means: the list ends at the first entry that names
/// no device (CUDA programming guide, environment variables).
/// @param text the variable's value, @param devices how many there are,
/// @param uuids of the devices in the form "GPU-xxxxxxxx-…".
std::vector<int> parse_visible_devices(
    const std::string& text,
    int devices,
    const std::vector<std::string>& uuids);

/// Reads the environment.
/// @throws Failure with cudaErrorInitializationError and a message that names
/// variable, value and what is allowed.
Settings read_settings();

} // namespace accelerator::runtime
