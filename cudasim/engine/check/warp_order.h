// Which accesses of a warp's lanes are ordered: vector clocks of its lanes.
#pragma once

#include <array>
#include <cstdint>

#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// What orders the lanes of a warp: bar.warp.sync, for the lanes that it names
/// (PTX ISA 9.7.13.2; `__syncwarp` in CUDA). Shuffles, votes, matches,
/// reductions and the accesses to matrices wait for lanes, and order no memory
/// but by what they need themselves (exchanges.h).
class WarpOrder {
 public:
  /// Who accesses memory: a lane, or the warp as a whole. ldmatrix, wmma.store
  /// and their like do not tell which lane accesses which byte.
  using Party = std::uint8_t;
  static constexpr Party kWholeWarp = kLanes;

  /// Lanes met at a bar.warp.sync.
  /// @param live lanes that have not exited. The others hold nobody up, so what
  /// they did counts as ordered.
  void synchronized(Mask members, Mask live);
  /// The time of a party's own clock.
  std::uint32_t time_of(Party party) const {
    return times_[party];
  }
  /// Whether what a party did at a time of its clock comes before what another
  /// one does now.
  bool is_before(Party earlier, std::uint32_t time, Party later, Mask live)
      const;

 private:
  static constexpr std::size_t kParties = kLanes + 1;
  std::array<std::uint32_t, kParties> times_ = first_times();
  /// Up to which time each lane has seen what each party did.
  std::array<std::array<std::uint32_t, kParties>, kLanes> seen_{};

  static std::array<std::uint32_t, kParties> first_times() {
    std::array<std::uint32_t, kParties> times{};
    times.fill(1);
    return times;
  }
};

} // namespace cudasim::engine
