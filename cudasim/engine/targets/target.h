// Targets of PTX (".target sm_90a"): their names, the PTX that knows them, and
// the devices that run them. Source: PTX ISA 9.5, chapter 11, "PTX Module
// Directives: .target"; ptxas 13.5 (ptxas_test.py).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cudasim::engine {

/// Of PTX, as its text has it: 8.4 is {8, 4}.
struct PtxVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;

  bool operator<(const PtxVersion& other) const {
    return major != other.major ? major < other.major : minor < other.minor;
  }
  std::string text() const {
    return std::to_string(major) + "." + std::to_string(minor);
  }
};

/// The newest that is known.
inline constexpr PtxVersion kNewestPtx{9, 5};

/// Whether there is such a version: there is no 6.9.
bool is_version(PtxVersion version);

struct Target {
  /// What its code may use beyond that of its number: nothing, what the devices
  /// of its family have, or what those of its number alone have.
  enum class Reach : std::uint8_t { kAll, kFamily, kOwn };
  std::uint32_t number = 0; // 90 for compute capability 9.0
  Reach reach = Reach::kAll;
  PtxVersion least; // the first PTX that has it

  /// Whether a device compiles its code.
  /// @param capability 90 for 9.0.
  bool runs_on(std::uint32_t capability) const;
};

/// The target of that name, "sm_90a"; null when there is none.
const Target* find_target(std::string_view name);

/// Whether PTX has to be for its target and its version
/// (CUDASIM_PTX_TARGETS=strict, the default), or may have all that the engine
/// executes (lenient). Read each time.
bool targets_are_strict();

} // namespace cudasim::engine
