// Launches of the tests with the memory before and after, written to a file so
// that a GPU can be asked for the same (tools/gpu/launches.py).
#pragma once

#include <map>
#include <string>

#include "cudasim/engine/launch/launch.h"
#include "cudasim/engine/memory/range.h"

namespace cudasim::engine::testing {

/// One launch. Does nothing unless the environment variable CUDASIM_LAUNCHES
/// names a file, to which each launch adds a line of JSON.
class LaunchRecord {
 public:
  /// What a launch may read and write.
  struct Memory {
    const std::map<std::uint64_t, Range>& ranges;
    /// Names of the module's variables by address.
    const std::map<std::uint64_t, std::string>& variables;
  };

  /// Copies the memory as it is before the launch.
  /// @param text of the module, @param kernel its name, @param parameter_bytes
  /// of Launch::parameters.
  LaunchRecord(
      const std::string& text,
      const std::string& kernel,
      const Launch& launch,
      std::size_t parameter_bytes,
      const Memory& memory);

  /// Writes the launch and the memory after it, if it ended without a fault.
  void finish(const Outcome& outcome);

 private:
  const std::string& text_;
  const std::string& kernel_;
  const Launch& launch_;
  std::size_t parameter_bytes_;
  Memory memory_;
  std::map<std::uint64_t, std::string> before_;
};

} // namespace cudasim::engine::testing
