// Control flow of lowered code, and which registers are needed, or are known to
// hold a constant, where.
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

/// The number that all lanes have in an operand that is an immediate.
/// @param bytes of a lane's value: 2, 4 or 8.
/// @returns false for a register, or where lanes differ.
bool immediate(const Code& code, Slot slot, int bytes, std::uint64_t* value);

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
  /// Whether a branch elsewhere leads between two instructions.
  /// @param first those behind it, before `end`.
  bool is_entered(std::uint32_t first, std::uint32_t end) const;
  /// Registers whose values are read by what begins at an instruction, before
  /// anything writes them.
  Slots live_at(std::uint32_t pc) const;
  /// Whether an instruction reads the same number from a register whichever way
  /// it was come to.
  bool constant_at(std::uint32_t pc, Slot slot, std::uint64_t* value) const;
  /// Bytes of a lane's value in a register: 2, 4, 8, 16; 0: a predicate; -1
  /// where that is not known.
  int width_of(Slot slot) const;
  /// Bits of a lane's value in a register whose width is known; 1: a predicate.
  int bits_of(Slot slot) const;

 private:
  using Constants = std::map<Slot, std::uint64_t>;

  void step_back(Slots& live, std::uint32_t pc) const;
  bool number_of(
      const Constants& constants,
      Slot slot,
      int bytes,
      std::uint64_t* value) const;
  bool result_of(
      const Constants& constants,
      std::uint32_t pc,
      std::uint64_t* value) const;
  void step(Constants& constants, std::uint32_t pc) const;
  void find_constants();

  const Code& code_;
  ControlFlowGraph graph_;
  std::vector<SlotAccess> accesses_;
  std::vector<Slots> live_in_; // of each block
  std::map<Slot, int> widths_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> branches_; // from, to
  std::vector<Constants> constants_; // that each instruction reads
};

} // namespace cudasim::engine
