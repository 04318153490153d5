// Control flow of lowered code, and which registers are needed where.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/lowering/control_flow_graph.h"

namespace cudasim::engine {

/// Registers of a function, by their slots.
using Slots = std::set<Slot>;

/// What an instruction reads and writes of registers.
struct SlotAccess {
  std::vector<Slot> reads;
  std::vector<Slot> writes;
};

/// Of a lowered function.
class CodeFlow {
 public:
  explicit CodeFlow(const Code& code);

  const ControlFlowGraph& graph() const {
    return graph_;
  }
  /// Null where the instruction is none for control.
  const Control* control_at(std::uint32_t pc) const;
  const SlotAccess& access(std::uint32_t pc) const {
    return accesses_[pc];
  }
  /// Registers whose values are read by what begins at an instruction, before
  /// anything writes them.
  Slots live_at(std::uint32_t pc) const;
  /// Bytes of a lane's value in a register: 2, 4, 8, 16; 0: a predicate; -1
  /// where that is not known.
  int width_of(Slot slot) const;

 private:
  void step_back(Slots& live, std::uint32_t pc) const;

  const Code& code_;
  ControlFlowGraph graph_;
  std::vector<SlotAccess> accesses_;
  std::vector<Slots> live_in_; // of each block
  std::map<Slot, int> widths_;
};

} // namespace cudasim::engine
