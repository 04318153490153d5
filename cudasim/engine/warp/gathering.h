// How the lanes of a mask come together for an instruction that all of them
// execute: shfl.sync, bar.warp.sync and the like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/state/warp.h"
#include "cudasim/engine/warp/enclosing_block.h"
#include "cudasim/engine/warp/splits.h"

namespace cudasim::engine {

/// The instruction that faulted, for the report.
struct FaultingInstruction {
  const Code* code = nullptr; // null when nothing faulted
  std::string text;

  void note(const Inst& inst, const Code& its_code) {
    code = &its_code;
    text = its_code.texts[inst.index];
  }
};

/// The splits of a warp that wait for lanes of a mask.
class Gathering {
 public:
  enum class Outcome : std::uint8_t { kExecuted, kWaits, kFault };

  /// @param fault where a faulting instruction is noted.
  Gathering(
      Warp& warp,
      EnclosingBlock& block,
      Splits& splits,
      FaultingInstruction& fault)
      : warp_(warp), block_(block), splits_(splits), fault_(fault) {}

  /// Lanes come to an instruction for which all lanes of a mask have to be
  /// there. It is executed when they are; else the split waits.
  Outcome gather(
      std::size_t at,
      const Inst& inst,
      const Control& control,
      Mask active);
  /// Looks for gathering lanes that are complete, and lets them go on.
  /// @param partly whether they may do so without others at the same
  /// instruction that still wait for lanes of their own masks. Meeting them
  /// again is better, but those may come only after this.
  /// @returns whether there were any; a fault is in the warp's `fault`.
  bool release(bool partly);
  /// Lanes that wait for others of their mask go on without them.
  /// @returns as release().
  bool stop();

 private:
  /// Lanes at an instruction that waits for lanes of a mask.
  struct Lanes {
    Mask there = 0;
    Mask complete = 0; // those whose whole mask is there
  };
  Lanes gathered_with(const Split& leader);
  void release_lanes(std::size_t first, Mask released);
  void note_meeting(const std::vector<Split>& splits);

  Warp& warp_;
  EnclosingBlock& block_;
  Splits& splits_;
  FaultingInstruction& fault_;
};

} // namespace cudasim::engine
