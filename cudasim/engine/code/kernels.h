// The kernels that kernels can launch.
#pragma once

#include <cstdint>

namespace cudasim::engine {

class Kernel;

/// A module as its own kernels see it.
class Kernels {
 public:
  /// The kernel at an address that PTX has of it, which is made ready when it
  /// is asked for; null when there is none. Thread-safe.
  /// @throws std::runtime_error why it cannot be made ready.
  virtual const Kernel* kernel_at(std::uint64_t address) = 0;

 protected:
  ~Kernels() = default;
};

} // namespace cudasim::engine
