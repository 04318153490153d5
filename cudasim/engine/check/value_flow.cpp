#include "cudasim/engine/check/value_flow.h"

#include <string>
#include <unordered_set>
#include <utility>

namespace cudasim::engine {
namespace {

/// A register whose value before an instruction is needed.
using Need = std::pair<std::uint32_t, Slot>;

std::size_t operand_count(const Inst& inst) {
  return inst.more != nullptr ? inst.more_count : kOperands;
}

bool writes(const Inst& inst, Slot slot) {
  for (std::size_t i = 0; i < inst.destinations; ++i) {
    if (operand_of(inst, i) == slot) {
      return true;
    }
  }
  return false;
}

/// Whether an instruction loads what other instructions may have stored: a
/// local variable, whose address is generic where nothing is optimized, or the
/// result of a function.
bool loads_local(const Code& code, std::uint32_t index) {
  const std::string& text = code.texts[index];
  if (text.rfind("ld.", 0) != 0) {
    return false;
  }
  for (const char* space : {".global", ".shared", ".const"}) {
    if (text.find(space) != std::string::npos) {
      return false;
    }
  }
  return code.calls || text.find(".param") == std::string::npos;
}

/// Goes back from an instruction over all paths that lead to it.
class Search {
 public:
  /// @param predecessors of each instruction.
  Search(
      const Code& code,
      const std::vector<std::vector<std::uint32_t>>& predecessors)
      : code_(code), predecessors_(predecessors) {}

  bool finds(std::uint32_t from, std::uint32_t to, bool again) {
    need_operands(to);
    need(to, kNoSlot);
    while (!left_.empty()) {
      const auto [at, slot] = left_.back();
      left_.pop_back();
      for (const std::uint32_t before : predecessors_[at]) {
        if (before == to && !again) {
          continue;
        }
        const Inst& inst = code_.instructions[before];
        if (slot != kNoSlot && writes(inst, slot)) {
          if (before == from || loads_local(code_, before)) {
            return true;
          }
          need_operands(before);
          if (inst.guard == kNoSlot) {
            continue;
          }
        } else if (slot == kNoSlot && inst.run == control_instruction) {
          need_operands(before);
        }
        need(before, slot);
      }
    }
    return false;
  }

 private:
  /// @param slot kNoSlot: none; it stands for being on the way.
  void need(std::uint32_t at, Slot slot) {
    if (seen_.insert(std::uint64_t{at} << 32 | slot).second) {
      left_.push_back({at, slot});
    }
  }
  void need_operands(std::uint32_t at) {
    const Inst& inst = code_.instructions[at];
    for (std::size_t i = inst.destinations; i < operand_count(inst); ++i) {
      need_register(at, operand_of(inst, i));
    }
    need_register(at, inst.guard);
  }
  void need_register(std::uint32_t at, Slot slot) {
    if ((slot & kConstantBit) == 0) { // which kNoSlot has, too
      need(at, slot);
    }
  }

  const Code& code_;
  const std::vector<std::vector<std::uint32_t>>& predecessors_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<Need> left_;
};

} // namespace

const ValueFlow::Predecessors& ValueFlow::predecessors(const Code& code) {
  const auto [found, is_new] = predecessors_.try_emplace(&code);
  if (is_new) {
    Predecessors& all = found->second;
    all.resize(code.instructions.size());
    for (const Inst& inst : code.instructions) {
      bool goes_on = true;
      if (inst.run == control_instruction) {
        const Control& control = code.control_at(inst.index);
        std::vector<std::uint32_t> targets = control.targets;
        if (control.kind == ControlKind::kBranch) {
          targets.push_back(control.target);
        }
        for (const std::uint32_t target : targets) {
          all[target].push_back(inst.index);
        }
        goes_on = inst.guard != kNoSlot ||
            (targets.empty() && control.kind != ControlKind::kReturn &&
             control.kind != ControlKind::kExit &&
             control.kind != ControlKind::kTrap);
      }
      if (goes_on && inst.index + 1 < all.size()) {
        all[inst.index + 1].push_back(inst.index);
      }
    }
  }
  return found->second;
}

bool ValueFlow::reaches(
    const Code& code,
    std::uint32_t from,
    std::uint32_t to,
    bool again) {
  const auto [found, is_new] =
      known_.try_emplace({&code, from, to, again}, false);
  if (is_new) {
    found->second = Search(code, predecessors(code)).finds(from, to, again);
  }
  return found->second;
}

} // namespace cudasim::engine
