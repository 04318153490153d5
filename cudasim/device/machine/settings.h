// What the environment asks of the simulated machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudasim::device {

struct Settings {
  /// CUDASIM_PROFILE: "sm_80" (default) or "sm_90".
  std::string profile = "sm_80";
  /// CUDASIM_DEVICES: how many devices the machine has, 0 to 16; default 1.
  int devices = 1;
  /// CUDASIM_MEMORY: bytes of each device, with K, M, G or T behind the number
  /// for powers of 1024; default half of the host's memory.
  std::uint64_t memory = 0;
  /// CUDASIM_SYNC=1: everything runs inline, in order, on one thread.
  bool synchronous = false;
  /// CUDASIM_WORKERS: host threads for one launch; default all processors.
  unsigned workers = 1;
  /// CUDASIM_CHECK=1: the engine's checks of memory use.
  bool check = false;
  /// CUDASIM_TIMEOUT: seconds after which a kernel is taken for hung; 0 never.
  double timeout_seconds = 600;
  /// CUDA_LAUNCH_BLOCKING=1: a launch returns when the kernel has ended.
  bool launch_blocking = false;
  /// CUDA_VISIBLE_DEVICES: ordinals on the machine in the order in which the
  /// program sees them.
  std::vector<int> visible;
};

/// Reads a size such as "512M"; nothing when it is not one.
std::optional<std::uint64_t> parse_size(const std::string& text);

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

} // namespace cudasim::device
