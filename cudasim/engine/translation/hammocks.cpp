// Branches that some lanes take and others do not, and behind which they meet:
// one side is executed, then the other, each for its lanes, if there are any.
// All lanes compute, and what the instructions write counts for those of the
// side. Loads, stores and handlers see these lanes alone.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {
namespace {

/// Instructions that do nothing but compute, load or store: they neither wait
/// nor let other lanes go first.
bool is_plain(const std::string& text) {
  static const char* const kPlain[] = {
      "abs",      "add",  "and",  "bfe",  "bfi", "brev", "clz",  "cnot",
      "copysign", "cvt",  "cvta", "div",  "ex2", "fma",  "ld",   "lg2",
      "lop3",     "mad",  "max",  "min",  "mov", "mul",  "neg",  "not",
      "or",       "popc", "prmt", "rcp",  "rem", "sad",  "selp", "setp",
      "shf",      "shl",  "shr",  "sqrt", "st",  "sub",  "xor"};
  const std::string name = text.substr(0, text.find('.'));
  return std::any_of(
      std::begin(kPlain), std::end(kPlain), [&](const char* plain) {
        return name == plain;
      });
}

} // namespace

/// Whether native code executes both sides of a branch, up to where its lanes
/// meet: what is there are plain instructions, and branches of the same kind.
bool Translator::is_hammock(std::uint32_t branch) const {
  constexpr std::uint32_t kMost = 96; // instructions
  const std::uint32_t join = flow_.control_at(branch)->join;
  if (join == kNowhere || join <= branch || join - branch > kMost ||
      given_up_.count(branch) != 0 || flow_.is_entered(branch, join)) {
    return false;
  }
  // All of it is part of the region.
  for (std::uint32_t pc = branch + 1; pc < join;) {
    const auto node = nodes_.find(pc);
    if (node == nodes_.end() || node->second.ends) {
      return false;
    }
    pc = node->second.end;
  }
  return has_plain_sides(branch);
}

/// @param branch with a guard; it has a join behind it.
bool Translator::has_plain_sides(std::uint32_t branch) const {
  const Control& control = *flow_.control_at(branch);
  const std::uint32_t target = control.target;
  if (target <= branch + 1 || control.join < target) {
    return false;
  }
  if (target == control.join) {
    return is_plain_side(branch + 1, target);
  }
  // The first side ends with a jump over the second.
  const Control* const jump = flow_.control_at(target - 1);
  return jump != nullptr && jump->kind == ControlKind::kBranch &&
      code_.instructions[target - 1].guard == kNoSlot &&
      jump->target == control.join && is_plain_side(branch + 1, target - 1) &&
      is_plain_side(target, control.join);
}

bool Translator::is_plain_side(std::uint32_t begin, std::uint32_t end) const {
  std::uint32_t pc = begin;
  while (pc < end) {
    const Control* const control = flow_.control_at(pc);
    if (control == nullptr) {
      const std::string& text = code_.texts[pc];
      if (!is_plain(text) || is_ordered_access(text) || is_first_store(pc)) {
        return false;
      }
      ++pc;
      continue;
    }
    if (control->kind != ControlKind::kBranch ||
        code_.instructions[pc].guard == kNoSlot || control->join == kNowhere ||
        control->join <= pc || control->join > end || !has_plain_sides(pc)) {
      return false;
    }
    pc = control->join;
  }
  return pc == end;
}

/// Executes both sides of a branch that ends a node, and goes on behind them.
void Translator::write_hammock(const Inst& branch) {
  const std::map<Slot, Value> before = current_;
  Hammock here;
  here.branch = branch.index;
  here.before = &before;
  here.counted = counted_;
  here.counted_threads = counted_threads_;
  here.mask = "-1";
  here.threads = "0";
  ir_.store("i64", "0", "%beyond");
  ir_.store("i64", "0", "%threads_beyond");
  hammock_ = &here;
  write_sides(branch);
  leave_threads();
  hammock_ = nullptr;
  is_behind_hammock_ = true;
  const std::uint32_t join = flow_.control_at(branch.index)->join;
  write_edge(join - 1, join);
  is_behind_hammock_ = false;
}

/// Both sides of a branch, for the lanes that execute it.
void Translator::write_sides(const Inst& branch) {
  const Control& control = *flow_.control_at(branch.index);
  const std::string taken = guard_mask(branch);
  const std::string stay = ir_.set("xor i32 " + taken + ", " + hammock_->mask);
  count(branch, taken);
  leave_threads();
  const std::uint32_t target = control.target;
  // The interpreter goes on with the lanes that take it, too.
  if (target != control.join) {
    write_side(taken, target, control.join, control.join);
  }
  write_side(stay, branch.index + 1, target, control.join);
}

/// One side, if any lanes execute it.
/// @param lanes as a word. @param join where they meet the others.
void Translator::write_side(
    const std::string& lanes,
    std::uint32_t begin,
    std::uint32_t end,
    std::uint32_t join) {
  // Registers that are needed where lanes meet have variables: the side may be
  // left out.
  std::map<Slot, std::string> results;
  const Slots live = flow_.live_at(join);
  for (std::uint32_t pc = begin; pc < end; ++pc) {
    for (const Slot slot : flow_.access(pc).writes) {
      if (live.count(slot) != 0 && tracked_.count(slot) != 0) {
        results.emplace(slot, "");
      }
    }
  }
  for (auto& [slot, variable] : results) {
    const Value value = get(slot);
    variable = ir_.name();
    ir_.variable(variable, type_of(value.bits, true));
    ir_.store(type_of(value.bits, true), ir_.lanes_of(value), variable);
  }
  const std::string side = ir_.label();
  const std::string behind = ir_.label();
  const std::map<Slot, Value> before = current_;
  const std::string outer = std::exchange(hammock_->mask, lanes);
  const std::uint64_t counted = counted_;
  ir_.branch(ir_.set("icmp ne i32 " + lanes + ", 0"), side, behind);
  ir_.begin(side);
  for (std::uint32_t pc = begin; pc < end;) {
    const Inst& inst = code_.instructions[pc];
    const Control* const control = flow_.control_at(pc);
    if (control == nullptr) {
      write_instruction(inst);
      ++pc;
    } else if (inst.guard == kNoSlot) {
      count(inst, lanes); // over the other side
      ++pc;
    } else {
      write_sides(inst);
      pc = control->join;
    }
  }
  const Value mask{kVarying, 1, ir_.bits_of(lanes)};
  for (const auto& [slot, variable] : results) {
    const Value value = get(slot);
    const std::string type = type_of(value.bits, true);
    const Value old{kVarying, value.bits, ir_.load(type, variable)};
    ir_.store(type, blend(mask, value, old).text, variable);
  }
  add_to("%beyond", std::to_string(counted_ - counted));
  leave_threads();
  ir_.jump(behind);
  ir_.begin(behind);
  counted_ = counted;
  hammock_->mask = outer;
  current_ = before;
  for (const auto& [slot, variable] : results) {
    const int bits = flow_.width_of(slot) == 0 ? 1 : 8 * flow_.width_of(slot);
    current_[slot] = {kVarying, bits, ir_.load(type_of(bits, true), variable)};
  }
}

/// What lanes of a hammock have executed so far is counted where the code may
/// come to on several ways.
void Translator::leave_threads() {
  add_to("%threads_beyond", hammock_->threads);
  hammock_->threads = "0";
}

void Translator::add_to(const std::string& variable, const std::string& more) {
  const std::string before = ir_.load("i64", variable);
  ir_.store("i64", ir_.set("add i64 " + before + ", " + more), variable);
}

} // namespace cudasim::engine
