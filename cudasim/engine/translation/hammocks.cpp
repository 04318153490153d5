// Branches that some lanes take and others do not, and behind which they meet:
// one side is executed, then the other, each for its lanes, if there are any.
// Where the branch is back, to the begin of a loop, its lanes go round until
// there are none. All lanes compute, and what the instructions write counts for
// those of the side or the round. Loads, stores and handlers see these lanes
// alone. Where the region ends in between, the interpreter is told how the
// lanes have parted (PartedLanes).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {
namespace {

/// Instructions that do nothing but compute, load, store or add to memory: they
/// neither wait nor let other lanes go first.
bool is_plain(const std::string& text) {
  static const char* const kPlain[] = {
      "abs",   "add", "and",      "atom", "bfe",  "bfi", "brev", "clz",
      "cnot",  "cos", "copysign", "cvt",  "cvta", "div", "ex2",  "fma",
      "ld",    "lg2", "lop3",     "mad",  "max",  "min", "mov",  "mul",
      "neg",   "not", "or",       "popc", "prmt", "rcp", "red",  "rem",
      "rsqrt", "sad", "selp",     "setp", "shf",  "shl", "shr",  "sin",
      "sqrt",  "st",  "sub",      "tanh", "xor"};
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
  return may_be_hammock(branch) &&
      has_nodes(branch + 1, flow_.control_at(branch)->join);
}

/// The same, if the region has all of it.
/// @param branch with a guard.
bool Translator::may_be_hammock(std::uint32_t branch) const {
  const std::uint32_t join = flow_.control_at(branch)->join;
  return lanes_ != WarpLanes::kSome && join != kNowhere && join > branch &&
      join - branch <= kLongestHammock && !flow_.is_entered(branch, join) &&
      has_plain_sides(branch, 0);
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

/// Whether to hope that lanes do not part at a hammock: in a loop for some of
/// the lanes, and behind it, no address is known to rise from lane to lane.
bool Translator::may_go_together(const Inst& branch) const {
  const std::uint32_t begin = branch.index + 1;
  const std::uint32_t join = flow_.control_at(branch.index)->join;
  bool loops = false;
  for (std::uint32_t pc = begin; pc < join; ++pc) {
    const Control* const control = flow_.control_at(pc);
    loops = loops || (control != nullptr && control->target <= pc);
  }
  return loops && join - begin < kMostInstructions && !was_left_at(branch);
}

/// Whether to hope that lanes leave a loop together: the code for those that go
/// on slows down that for all, where it stores.
/// @param branch at its end.
bool Translator::may_end_together(const Inst& branch) const {
  const std::uint32_t begin = flow_.control_at(branch.index)->target;
  bool stores = false;
  for (std::uint32_t pc = begin; pc < branch.index; ++pc) {
    stores = stores || code_.texts[pc].rfind("st", 0) == 0;
  }
  return stores && !was_left_at(branch);
}

/// What the lanes execute that take a branch, and the others, up to where they
/// meet. A side may end with a jump over the other one; nvcc begins with one
/// over the side that is taken, too.
/// @param branch with a guard. @returns false where there is more than that.
bool Translator::sides_of(std::uint32_t branch, Sides* sides) const {
  const Control& control = *flow_.control_at(branch);
  const std::uint32_t target = control.target;
  const std::uint32_t join = control.join;
  if (join == kNowhere || target <= branch + 1 || join < target) {
    return false;
  }
  if (target == join) {
    sides->other = {{branch + 1, join}};
    return true;
  }
  if (!is_jump(target - 1)) {
    return false;
  }
  const std::uint32_t behind = flow_.control_at(target - 1)->target;
  sides->taken = {{target, join}};
  sides->other = {{branch + 1, target}};
  if (behind == join) {
    return true;
  }
  sides->taken = {{target, behind}};
  sides->other.emplace_back(behind, join);
  return target < behind && behind < join && is_jump(behind - 1) &&
      flow_.control_at(behind - 1)->target == join;
}

/// Whether an instruction is a branch without a guard.
bool Translator::is_jump(std::uint32_t pc) const {
  const Control* const control = flow_.control_at(pc);
  return control != nullptr && control->kind == ControlKind::kBranch &&
      code_.instructions[pc].guard == kNoSlot;
}

/// @param level how many branches the lanes have parted at before.
bool Translator::has_plain_sides(std::uint32_t branch, int level) const {
  const std::uint32_t join = flow_.control_at(branch)->join;
  Sides sides;
  return level < RegionState::kMostLevels && sides_of(branch, &sides) &&
      are_plain(sides.taken, join, level + 1) &&
      are_plain(sides.other, join, level + 1);
}

/// @param join where a jump at the end of the last may lead; that of another
/// leads to the next.
bool Translator::are_plain(const Ranges& ranges, std::uint32_t join, int level)
    const {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto [begin, end] = ranges[i];
    if (is_jump(end - 1)) {
      --end;
      const std::uint32_t next =
          i + 1 < ranges.size() ? ranges[i + 1].first : join;
      if (flow_.control_at(end)->target != next) {
        return false;
      }
    }
    if (!is_plain_side(begin, end, level)) {
      return false;
    }
  }
  return true;
}

bool Translator::is_plain_side(
    std::uint32_t begin,
    std::uint32_t end,
    int level) const {
  std::uint32_t pc = begin;
  while (pc < end) {
    const Inst* const back = loop_at(pc, end);
    if (back != nullptr) {
      if (!is_plain_loop(back->index, level)) {
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
    if (control->kind != ControlKind::kBranch || is_jump(pc) ||
        control->join == kNowhere || control->join > end ||
        !has_plain_sides(pc, level)) {
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

/// Whether native code has a form for a loop that lanes leave one by one.
/// @param branch at its end.
bool Translator::is_plain_loop(std::uint32_t branch, int level) const {
  const std::uint32_t begin = flow_.control_at(branch)->target;
  return lanes_ != WarpLanes::kSome && level < RegionState::kMostLevels &&
      begin <= branch && branch - begin <= kLongestHammock &&
      flow_.control_at(branch)->join == branch + 1 &&
      is_plain_side(begin, branch, level + 1);
}

/// Executes both sides of a branch that ends a node, or what is left of a loop,
/// and goes on behind.
void Translator::write_hammock(const Inst& branch) {
  Hammock* const outer = hammock_;
  Hammock here{everyone(), {}};
  hammock_ = &here;
  allowed_.clear();
  if (flow_.control_at(branch.index)->target > branch.index) {
    write_sides(branch);
  } else {
    const std::string taken = guard_mask(branch);
    count(branch, taken);
    write_loop(branch, taken, everyone());
  }
  leave_threads();
  hammock_ = outer;
  is_behind_hammock_ = true;
  const std::uint32_t join = flow_.control_at(branch.index)->join;
  write_edge(join - 1, join);
  is_behind_hammock_ = false;
}

/// Both sides of a branch, for the lanes that execute it.
void Translator::write_sides(const Inst& branch) {
  Sides sides;
  sides_of(branch.index, &sides);
  Level level;
  level.branch = branch.index;
  level.taken = guard_mask(branch);
  const std::string stay =
      ir_.set("xor i32 " + level.taken + ", " + hammock_->mask);
  count(branch, level.taken);
  leave_threads();
  level.since = ir_.name();
  ir_.variable(level.since, "i64");
  ir_.store("i64", counted_now(), level.since);
  // The interpreter goes on with the lanes that take it, too.
  if (!sides.taken.empty()) {
    level.mask = level.taken;
    write_side(sides.taken, level);
  }
  level.is_second = true;
  level.mask = stay;
  write_side(sides.other, level);
}

/// One side, if any lanes execute it.
void Translator::write_side(const Ranges& ranges, Level level) {
  // The side may be left out.
  const std::uint32_t join = flow_.control_at(level.branch)->join;
  const Variables results = keep(ranges, flow_.live_at(join));
  const std::string side = ir_.label();
  const std::string behind = ir_.label();
  const std::map<Slot, Value> before = current_;
  level.others = &before;
  const std::string outer = std::exchange(hammock_->mask, level.mask);
  const std::uint64_t counted = counts_.instructions;
  ir_.branch(ir_.set("icmp ne i32 " + level.mask + ", 0"), side, behind);
  ir_.begin(side);
  hammock_->levels.push_back(level);
  for (const auto& [begin, end] : ranges) {
    write_pieces(begin, end);
  }
  hammock_->levels.pop_back();
  leave_in(results);
  add_to("%beyond", std::to_string(counts_.instructions - counted));
  leave_threads();
  counts_.instructions = counted;
  if (!level.is_second) {
    ir_.store("i64", counted_now(), level.since);
  }
  ir_.jump(behind);
  ir_.begin(behind);
  hammock_->mask = outer;
  current_ = before;
  take_from(results);
}

/// Behind a branch back: where the interpreter looks whether others come first.
/// @param begin of the loop.
void Translator::leave_if_over(std::uint32_t begin) {
  const std::string over =
      ir_.set("icmp uge i64 " + counted_now() + ", %limit");
  const std::string on = ir_.label();
  ir_.branch(over, cold_exit(begin, RegionEnd::kLimit), on);
  ir_.begin(on);
}

/// A loop, for the lanes that execute it, until none of them does.
/// @param branch at its end. @param lanes as a word: those of the first round.
/// @param all those that came to the loop.
void Translator::write_loop(
    const Inst& branch,
    const std::string& lanes,
    const std::string& all) {
  const std::uint32_t begin = flow_.control_at(branch.index)->target;
  Slots live = flow_.live_at(begin);
  live.merge(flow_.live_at(branch.index + 1));
  const Variables results = keep({{begin, branch.index}}, live);
  const std::string left = ir_.name();
  ir_.variable(left, "i32");
  ir_.store("i32", lanes, left);
  leave_threads();
  Level level;
  level.branch = branch.index;
  level.since = ir_.name();
  ir_.variable(level.since, "i64");
  const auto note_first = [&](const std::string& taken) {
    const std::string before = ir_.load("i64", level.since);
    const std::string apart = ir_.set("icmp ne i32 " + taken + ", " + all);
    const std::string first = ir_.set("icmp eq i64 " + before + ", 0");
    const std::string now = ir_.set(
        "select i1 " + ir_.set("and i1 " + apart + ", " + first) + ", i64 " +
        counted_now() + ", i64 " + before);
    ir_.store("i64", now, level.since);
  };
  ir_.store("i64", "0", level.since);
  note_first(lanes);
  const std::string round = ir_.label();
  const std::string behind = ir_.label();
  const std::map<Slot, Value> before = current_;
  const std::string outer = hammock_->mask;
  const std::uint64_t counted = counts_.instructions;
  level.taken = level.mask = lanes;
  level.others = &before;
  hammock_->levels.push_back(level);
  if (lanes != all) {
    leave_if_over(begin); // some have left it already
  }
  ir_.jump(round);
  ir_.begin(round);
  hammock_->mask = ir_.load("i32", left);
  take_from(results);
  const std::map<Slot, Value> others = current_;
  level.taken = level.mask = hammock_->mask;
  level.others = &others;
  hammock_->levels.back() = level;
  write_pieces(begin, branch.index);
  const std::string taken = guard_mask(branch);
  count(branch, taken);
  leave_in(results);
  add_to("%beyond", std::to_string(counts_.instructions - counted));
  leave_threads();
  counts_.instructions = counted;
  note_first(taken);
  ir_.store("i32", taken, left);
  const std::string on = ir_.label();
  ir_.branch(ir_.set("icmp ne i32 " + taken + ", 0"), on, behind);
  ir_.begin(on);
  hammock_->levels.back().taken = taken;
  leave_if_over(begin);
  ir_.jump(round);
  hammock_->levels.pop_back();
  ir_.begin(behind);
  hammock_->mask = outer;
  current_ = before;
  take_from(results);
}

/// What lanes execute one behind the other.
void Translator::write_pieces(std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t pc = begin; pc < end;) {
    const Inst* const back = loop_at(pc, end);
    if (back != nullptr) {
      write_loop(*back, hammock_->mask, hammock_->mask);
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
    const Ranges& ranges,
    const Slots& live) {
  Variables results;
  for (const auto& [begin, end] : ranges) {
    for (std::uint32_t pc = begin; pc < end; ++pc) {
      for (const Slot slot : flow_.access(pc).writes) {
        if (live.count(slot) != 0 && tracked_.count(slot) != 0) {
          results.emplace(slot, "");
        }
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
    const int bits = flow_.bits_of(slot);
    current_[slot] = {kVarying, bits, ir_.load(type_of(bits, true), variable)};
  }
}

/// What lanes of a hammock have executed so far is counted where the code may
/// come to on several ways.
void Translator::leave_threads() {
  add_to("%threads_beyond", threads_apart());
  counts_.apart = "0";
  counts_.of_mask = 0;
}

/// What they have executed that no variable has.
std::string Translator::threads_apart() {
  if (counts_.of_mask == 0) {
    return counts_.apart;
  }
  const std::string together = ir_.set(
      "mul i64 " + lanes_in(hammock_->mask) + ", " +
      std::to_string(counts_.of_mask));
  return ir_.set("add i64 " + counts_.apart + ", " + together);
}

void Translator::add_to(const std::string& variable, const std::string& more) {
  const std::string before = ir_.load("i64", variable);
  ir_.store("i64", ir_.set("add i64 " + before + ", " + more), variable);
}

} // namespace cudasim::engine
