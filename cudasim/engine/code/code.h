// A lowered function: decoded instructions, constants, and what a warp needs to
// know about branches, calls and barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/code/memory_access.h"
#include "cudasim/engine/code/special_registers.h"
#include "cudasim/engine/state/instruction.h"

namespace cudasim::engine {

class Regions; // engine/translation/regions.h

/// Owned by its Kernel; does not move once made.
struct Code {
  std::string name;
  std::string source_name;
  std::vector<Inst> instructions;
  std::vector<Control> controls;
  /// Index into `controls` of each instruction that is one.
  std::vector<std::uint32_t> control_of;
  /// What an instruction does to memory, for those that do anything.
  struct Accesses {
    std::vector<MemoryAccess> list;
    /// What others did before is ordered before what this thread does next: a
    /// fence, an acquire, a wait for an mbarrier.
    bool orders = false;
  };
  std::unordered_map<std::uint32_t, Accesses> accesses;
  /// Stores, by their indices, before the first of which in its turn a warp
  /// lets the others of its block come as far; rising
  /// (lowering/first_stores.h).
  std::vector<std::uint32_t> first_stores;
  /// Slots of instructions with more than kOperands.
  std::vector<std::unique_ptr<Slot[]>> more;
  /// PTX text of each instruction, for reports: opcode and modifiers.
  std::vector<std::string> texts;
  /// Immediates, repeated for the lanes; aligned to 64 bytes.
  std::shared_ptr<std::byte> constants;
  std::size_t constant_bytes = 0;
  /// Those that are addresses of this process: of variables and functions.
  std::set<Slot> addresses;
  std::size_t frame_bytes = 0; // registers of one warp
  /// Where registers are and how many bytes they have, when the address
  /// sanitizer watches what is between them (kWatchRegisters).
  std::vector<std::pair<Slot, std::uint32_t>> places;
  std::vector<SpecialRegister> specials;
  /// Bytes of a lane's local frame: results, parameters, .local and .param
  /// variables.
  std::uint64_t local_bytes = 0;
  std::vector<Passed> parameters; // `to` and `size` in the local frame
  std::vector<Passed> results; // `from` and `size`
  bool calls = false; // whether it calls functions of the module
  bool allocates = false; // whether it has alloca
  /// Its native code; null where all of it is interpreted.
  std::shared_ptr<Regions> regions;

  /// Of an instruction for control.
  const Control& control_at(std::uint32_t pc) const {
    return controls[control_of[pc]];
  }
};

} // namespace cudasim::engine
