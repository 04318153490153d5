// A kernel's launch as work of a stream.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "cudasim/backend/machine/module.h"
#include "cudasim/backend/machine/stream.h"
#include "cudasim/engine/launch/launch.h"

namespace cudasim::backend {

/// Runs a kernel to its end on the calling thread; reports a fault on stderr.
/// Has all that the launch needs when its turn comes: the kernel's module may
/// be unloaded and the caller's parameters gone then.
class LaunchWork final : public Work {
 public:
  explicit LaunchWork(const accel_launch& asked);
  accel_status run() override;

 private:
  std::shared_ptr<LoadedModule> module_;
  engine::Launch launch_;
  std::array<std::byte, 128> few_parameters_; // bytes
  std::unique_ptr<std::byte[]> many_parameters_;
};

} // namespace cudasim::backend
