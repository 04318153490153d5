// What the lanes of a warp know of each other's reads by collectives.
#pragma once

#include <cstdint>
#include <vector>

#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/check/value_flow.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// The collectives of a warp since the block's last barrier. A shuffle or a
/// vote orders no memory (warp_order.h), but a lane cannot take part before it
/// has what it contributes: reads that this depends on are over for all lanes
/// that took part. Sums over a block rest on it: a warp's lanes load, shuffle,
/// and one of them stores to the same place.
class Exchanges {
 public:
  /// So many have been.
  std::uint32_t count() const {
    return count_;
  }
  /// Lanes met at a collective.
  /// @param epoch between which barriers of the block.
  /// @param lanes those that are at this instruction.
  /// @param members all that meet.
  void add(const Site& site, std::uint32_t epoch, Mask lanes, Mask members);
  /// Whether a read is over for lanes that write now. One in another function
  /// than the collective is taken to be.
  /// @param site of the read, @param since count() when it was made.
  /// @param readers those of its lanes that have not exited.
  bool read_is_over(
      const Site& site,
      std::uint32_t since,
      Mask readers,
      Mask writers,
      ValueFlow& flow) const;

 private:
  struct Exchange {
    Site site;
    Mask lanes = 0;
    Mask members = 0;
    std::uint32_t last = 0; // number of the latest one
    std::uint32_t last_but_one = 0;
  };

  std::uint32_t count_ = 0;
  std::uint32_t epoch_ = 0;
  std::vector<Exchange> all_;
};

} // namespace cudasim::engine
