// What the environment asks of the simulated machine.
#pragma once

#include <cstdint>
#include <string>

namespace cudasim::backend {

struct Settings {
  /// CUDASIM_PROFILE: one of gpu_models.h; default "sm_80".
  std::string gpu_model = "sm_80";
  /// CUDASIM_NAME: the devices' name, "model" for that of the GPU which the
  /// model is named after; default empty, for one that tells what it is.
  std::string device_name;
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
  /// CUDASIM_PADDING=read: kernels may read, and it is reported, what is behind
  /// the end of an allocation in its last 512 bytes; default fault.
  bool padding = false;
  /// CUDASIM_COUNT: file for the counts of executed instructions, "%p" for the
  /// process's number; default none. Not with CUDASIM_CHECK=1.
  std::string count_file;
  /// TORCH_CUDA_TIMEOUT: seconds after which a kernel is taken for hung; 0
  /// never.
  double timeout_seconds = 600;
};

/// Reads the environment. CUDASIM_NATIVE, which the engine reads, is checked.
/// @param options as initialize() is given them: "count=N" in place of
/// CUDASIM_DEVICES, or nothing.
/// @throws std::invalid_argument with a message that names variable or option,
/// value and what is allowed.
Settings read_settings(const std::string& options);

} // namespace cudasim::backend
