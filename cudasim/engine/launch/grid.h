// A launch as its blocks need it.
#pragma once

#include <cstdint>

#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/code/kernel.h"
#include "cudasim/engine/device_runtime/grid_queue.h"
#include "cudasim/engine/launch/launch.h"

namespace cudasim::engine {

struct Grid {
  const Launch* launch = nullptr;
  const Kernel* kernel = nullptr;
  std::uint64_t shared_bytes = 0; // static and dynamic
  std::uint64_t local_bytes = 0; // per lane, with room for calls
  std::uint64_t workspace = 0; // what cooperative groups share
  /// What is no allocation and may be touched all the same: the workspace, or
  /// the queue's buffers for parameters.
  std::uint64_t own_memory = 0;
  std::uint64_t own_bytes = 0; // 0: none
  GridQueue* queue = nullptr; // of a kernel that launches kernels
  LaunchFindings* findings = nullptr; // null: nothing is checked
};

} // namespace cudasim::engine
