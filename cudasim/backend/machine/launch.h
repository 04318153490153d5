// Runs kernels.
#pragma once

#include <cstddef>
#include <vector>

#include "cudasim/backend/machine/module.h"

namespace cudasim::backend {

/// A launch with all that it needs when its turn comes.
struct QueuedLaunch {
  accel_kernel_object kernel;
  accel_launch launch;
  std::vector<std::byte> parameters;
};

/// Runs a kernel to its end on the calling thread. Reports a fault on stderr.
/// @returns what the device's state is from then on.
accel_status run_kernel(const QueuedLaunch& work);

} // namespace cudasim::backend
