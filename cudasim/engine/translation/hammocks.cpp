// Branches that some lanes take and others do not, and behind which they meet:
// one side is executed, then the other, each for its lanes, if there are any.
// Where the branch is back, to the begin of a loop, its lanes go round until
// there are none. All lanes compute, and what the instructions write counts for
// those of the side or the round. Loads, stores and handlers see these lanes
// alone.
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
  const std::uint32_t join = flow_.control_at(branch)->join;
  if (join == kNowhere || join <= branch || join - branch > kLongestHammock ||
      given_up_.count(branch) != 0 || flow_.is_entered(branch, join)) {
    return false;
  }
  return has_nodes(branch + 1, join) && has_plain_sides(branch);
}

/// Whether all instructions from one to before another are the region's.
bool Translator::has_nodes(std::uint32_t begin, std::uint32_t end) const {
  for (std::uint32_t pc = begin; pc < end;) {
    const auto node = nodes_.find(pc);
    if (node == nodes_.end() || node->second.ends) {
      return false;
    }
    pc = node->second.end;
  }
  return true;
}

/// Behind branches in the side that is taken, the interpreter may go on with
/// the other side first: such a side has none.
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
      is_plain_side(target, control.join) && !has_control(target, control.join);
}

bool Translator::has_control(std::uint32_t begin, std::uint32_t end) const {
  for (std::uint32_t pc = begin; pc < end; ++pc) {
    if (flow_.control_at(pc) != nullptr) {
      return true;
    }
  }
  return false;
}

bool Translator::is_plain_side(std::uint32_t begin, std::uint32_t end) const {
  std::uint32_t pc = begin;
  while (pc < end) {
    const Inst* const back = loop_at(pc, end);
    if (back != nullptr) {
      if (!is_plain_loop(back->index)) {
        return false;
      }
      pc = back->index + 1;
      continue;
    }
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

/// The branch at the end of a loop that begins at an instruction; null where
/// none does, or one that is left elsewhere, too.
/// @param end of the side that it is part of.
const Inst* Translator::loop_at(std::uint32_t begin, std::uint32_t end) const {
  const Inst* found = nullptr;
  for (std::uint32_t pc = begin; pc < end; ++pc) {
    const Control* const control = flow_.control_at(pc);
    if (control != nullptr && control->kind == ControlKind::kBranch &&
        control->target == begin) {
      if (found != nullptr || code_.instructions[pc].guard == kNoSlot ||
          control->join != pc + 1) {
        return nullptr;
      }
      found = &code_.instructions[pc];
    }
  }
  return found;
}

/// Whether native code has a form for a loop that lanes leave one by one. It
/// may have to be executed once more from its begin, by the interpreter, so
/// nothing in it stores.
/// @param branch at its end.
bool Translator::is_plain_loop(std::uint32_t branch) const {
  const std::uint32_t begin = flow_.control_at(branch)->target;
  if (begin > branch || branch - begin > kLongestHammock ||
      flow_.control_at(branch)->join != branch + 1 ||
      given_up_.count(branch) != 0 || !has_nodes(begin, branch + 1)) {
    return false;
  }
  for (std::uint32_t pc = begin; pc < branch; ++pc) {
    if (code_.texts[pc].rfind("st", 0) == 0) {
      return false;
    }
  }
  return is_plain_side(begin, branch);
}

/// Executes both sides of a branch that ends a node, or what is left of a loop,
/// and goes on behind.
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
  if (flow_.control_at(branch.index)->target > branch.index) {
    write_sides(branch);
  } else {
    const std::string taken = guard_mask(branch);
    count(branch, taken);
    leave_if_over(branch);
    write_loop(branch, taken);
  }
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
  // The side may be left out.
  const Variables results = keep(begin, end, flow_.live_at(join));
  const std::string side = ir_.label();
  const std::string behind = ir_.label();
  const std::map<Slot, Value> before = current_;
  const std::string outer = std::exchange(hammock_->mask, lanes);
  const std::uint64_t counted = counted_;
  ir_.branch(ir_.set("icmp ne i32 " + lanes + ", 0"), side, behind);
  ir_.begin(side);
  write_pieces(begin, end);
  leave_in(results);
  add_to("%beyond", std::to_string(counted_ - counted));
  leave_threads();
  ir_.jump(behind);
  ir_.begin(behind);
  counted_ = counted;
  hammock_->mask = outer;
  current_ = before;
  take_from(results);
}

/// A loop, for the lanes that execute it, until none of them does.
/// @param branch at its end. @param lanes as a word.
void Translator::write_loop(const Inst& branch, const std::string& lanes) {
  const std::uint32_t begin = flow_.control_at(branch.index)->target;
  Slots live = flow_.live_at(begin);
  live.merge(flow_.live_at(branch.index + 1));
  const Variables results = keep(begin, branch.index, live);
  const std::string left = ir_.name();
  ir_.variable(left, "i32");
  ir_.store("i32", lanes, left);
  leave_threads();
  const std::string round = ir_.label();
  const std::string behind = ir_.label();
  const std::map<Slot, Value> before = current_;
  const std::string outer = hammock_->mask;
  const std::uint64_t counted = counted_;
  ir_.jump(round);
  ir_.begin(round);
  hammock_->mask = ir_.load("i32", left);
  take_from(results);
  write_pieces(begin, branch.index);
  const std::string taken = guard_mask(branch);
  count(branch, taken);
  leave_in(results);
  add_to("%beyond", std::to_string(counted_ - counted));
  leave_threads();
  counted_ = counted;
  ir_.store("i32", taken, left);
  const std::string on = ir_.label();
  ir_.branch(ir_.set("icmp ne i32 " + taken + ", 0"), on, behind);
  ir_.begin(on);
  leave_if_over(branch);
  ir_.jump(round);
  ir_.begin(behind);
  hammock_->mask = outer;
  current_ = before;
  take_from(results);
}

/// Behind a branch back: where the interpreter looks whether others come first,
/// it executes the loop.
void Translator::leave_if_over(const Inst& branch) {
  leave_unless(branch, ir_.set("icmp ult i64 " + counted_now() + ", %limit"));
}

/// What lanes execute one behind the other.
void Translator::write_pieces(std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t pc = begin; pc < end;) {
    const Inst* const back = loop_at(pc, end);
    if (back != nullptr) {
      write_loop(*back, hammock_->mask);
      pc = back->index + 1;
      continue;
    }
    const Inst& inst = code_.instructions[pc];
    const Control* const control = flow_.control_at(pc);
    if (control == nullptr) {
      write_instruction(inst);
      ++pc;
    } else if (inst.guard == kNoSlot) {
      count(inst, hammock_->mask); // over the other side
      ++pc;
    } else {
      write_sides(inst);
      pc = control->join;
    }
  }
}

/// Gives registers that instructions write, and that are needed behind them,
/// variables with the values that they have now.
/// @param live those that are needed.
Translator::Variables Translator::keep(
    std::uint32_t begin,
    std::uint32_t end,
    const Slots& live) {
  Variables results;
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
  return results;
}

/// What lanes of the hammock have computed goes to the variables.
void Translator::leave_in(const Variables& results) {
  const Value mask{kVarying, 1, ir_.bits_of(hammock_->mask)};
  for (const auto& [slot, variable] : results) {
    const Value value = get(slot);
    const std::string type = type_of(value.bits, true);
    const Value old{kVarying, value.bits, ir_.load(type, variable)};
    ir_.store(type, blend(mask, value, old).text, variable);
  }
}

void Translator::take_from(const Variables& results) {
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
