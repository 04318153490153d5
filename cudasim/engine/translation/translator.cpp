#include "cudasim/engine/translation/translator.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>

#include "cudasim/engine/translation/helpers.h"

namespace cudasim::engine {
namespace {

std::string node_label(std::uint32_t pc) {
  return "n" + std::to_string(pc);
}
std::string result_of(std::uint32_t pc, RegionEnd end) {
  return std::to_string(
      static_cast<std::uint64_t>(end) << 32 | static_cast<std::uint64_t>(pc));
}

} // namespace

Translator::Translator(
    const Code& code,
    const CodeFlow& flow,
    std::uint32_t entry,
    const Shapes& assumed)
    : code_(code), flow_(flow), entry_(entry), assumed_(assumed) {
  discover();
}

/// Whether the interpreter has to execute an instruction.
bool Translator::is_end(std::uint32_t pc) const {
  const Control* const control = flow_.control_at(pc);
  if (control == nullptr) {
    return false;
  }
  switch (control->kind) {
    case ControlKind::kBranch:
      return false;
    case ControlKind::kWarpBarrier:
    case ControlKind::kCollective: {
      if (code_.instructions[pc].guard != kNoSlot) {
        return true;
      }
      Value members;
      return control->members != kNoSlot &&
          !(constant(code_.instructions[pc], control->members, 4, &members) &&
            members.text == "4294967295");
  ir_.variable("%addresses", "[32 x i64]");
  ir_.variable("%numbers", "[64 x i64]"); // kMostScatteredBytes a lane
    }
    default:
      return true;
  }
}

void Translator::discover() {
  std::deque<std::uint32_t> next{entry_};
  std::size_t total = 0;
  const auto& graph = flow_.graph();
  while (!next.empty() && total < kMostInstructions) {
    const std::uint32_t begin = next.front();
    next.pop_front();
    if (nodes_.count(begin) != 0) {
      continue;
    }
    Node node;
    std::uint32_t pc = begin;
    while (true) {
      if (is_end(pc) || pc - begin >= kLongestNode) {
        node.ends = true; // what is longer goes on with the next region
        break;
      }
      const Control* const control = flow_.control_at(pc);
      ++pc;
      if (control != nullptr && control->kind == ControlKind::kBranch) {
        next.push_back(control->target);
        if (code_.instructions[pc - 1].guard != kNoSlot) {
          next.push_back(pc);
        }
        break;
      }
      if (graph.blocks[graph.block_of[pc]].begin == pc) {
        next.push_back(pc);
        break;
      }
    }
    node.end = pc;
    total += pc - begin;
    if (node.ends && pc == begin && begin != entry_) {
      continue; // nothing to execute: the edge ends the region
    }
    nodes_.emplace(begin, std::move(node));
  }
  find_loops();
  for (const auto& [begin, node] : nodes_) {
    for (std::uint32_t pc = begin; pc < node.end; ++pc) {
      const SlotAccess& access = flow_.access(pc);
      written_.insert(access.writes.begin(), access.writes.end());
      for (const auto* slots : {&access.reads, &access.writes}) {
        for (const Slot slot : *slots) {
          if (is_tracked(slot)) {
            tracked_.insert(slot);
          }
        }
      }
    }
  }
}

/// The nodes that may follow one.
std::vector<std::uint32_t> Translator::successors(std::uint32_t begin) const {
  const Node& node = nodes_.at(begin);
  if (node.ends) {
    return {};
  }
  const Control* const control = flow_.control_at(node.end - 1);
  if (control == nullptr || control->kind != ControlKind::kBranch) {
    return {node.end};
  }
  if (code_.instructions[node.end - 1].guard == kNoSlot) {
    return {control->target};
  }
  return {control->target, node.end};
}

/// A node repeats where it can be come to from itself.
void Translator::find_loops() {
  for (auto& [begin, node] : nodes_) {
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> next = successors(begin);
    while (!next.empty() && !node.repeats) {
      const std::uint32_t at = next.back();
      next.pop_back();
      node.repeats = at == begin;
      if (nodes_.count(at) != 0 && seen.insert(at).second) {
        for (const std::uint32_t successor : successors(at)) {
          next.push_back(successor);
        }
      }
    }
  }
}

bool Translator::is_tracked(Slot slot) const {
  const int width = flow_.width_of(slot);
  return width == 0 || width == 2 || width == 4 || width == 8;
}

Slots Translator::inputs() const {
  Slots found;
  const Slots live = flow_.live_at(entry_);
  std::set_intersection(
      live.begin(),
      live.end(),
      tracked_.begin(),
      tracked_.end(),
      std::inserter(found, found.end()));
  return found;
}

bool Translator::is_short() const {
  constexpr std::size_t kFew = 12;
  return written_instructions_ < kFew &&
      std::none_of(
             nodes_.begin(),
             nodes_.end(),
             [](const auto& node) { return node.second.repeats; });
}

std::vector<std::uint32_t> Translator::pcs() const {
  std::vector<std::uint32_t> all;
  for (const auto& [begin, node] : nodes_) {
    for (std::uint32_t pc = begin; node.reached && pc < node.end; ++pc) {
      all.push_back(pc);
    }
  }
  return all;
}

std::string Translator::translate() {
  if (nodes_.at(entry_).end == entry_) {
    return {};
  }
  for (const Slot slot : inputs()) {
    const auto found = assumed_.find(slot);
    nodes_[entry_].in[slot] =
        found == assumed_.end() ? kVarying : found->second;
  }
  nodes_[entry_].reached = true;
  // Shapes only become more general, so this ends.
  std::string text;
  do {
    changed_ = false;
    text = write_function();
  } while (changed_);
  return text;
}

std::string Translator::write_function() {
  ir_.clear();
  written_instructions_ = called_ = 0;
  body_.clear();
  cold_.clear();
  remembered_.clear();
  table_.clear();
  for (const Slot slot : tracked_) {
    const int bits = flow_.width_of(slot) == 0 ? 1 : 8 * flow_.width_of(slot);
    ir_.variable(scalar_variable(slot), type_of(bits, false));
    ir_.variable(vector_variable(slot), type_of(bits, true));
  }
  ir_.variable("%count", "i64");
  ir_.variable("%threads", "i64");
  const std::string entry = write_entry();
  for (auto& [begin, node] : nodes_) {
    if (node.reached) {
      write_node(begin, node);
    }
  }
  std::string zeros;
  for (const std::string& variable : remembered_) {
    zeros += "  store i64 0, ptr " + variable + "\n";
  }
  // The entry's block is written last: it has all variables.
  return "define i64 @region(ptr %state, ptr %registers) nounwind {\n" +
      ir_.variables() + zeros + entry + body_ + cold_ + "}\n";
}

/// Reads the state and the registers that the region needs, and looks whether
/// these are as assumed.
std::string Translator::write_entry() {
  std::string text;
  ir_.to(&text);
  const auto field =
      [&](const char* name, const char* type, std::size_t offset) {
        const std::string place = ir_.at("%state", offset);
        ir_.line(std::string(name) + " = load " + type + ", ptr " + place);
      };
  field("%warp", "ptr", offsetof(RegionState, warp));
  field("%limit", "i64", offsetof(RegionState, limit));
  field("%shared", "i64", offsetof(RegionState, shared));
  field("%shared_bytes", "i64", offsetof(RegionState, shared_bytes));
  field("%parameters", "i64", offsetof(RegionState, parameters));
  field("%parameters_bytes", "i64", offsetof(RegionState, parameter_bytes));
  field("%ranges", "ptr", offsetof(RegionState, ranges));
  field("%loads_only", "i64", offsetof(RegionState, loads_only));
  field("%table", "ptr", offsetof(RegionState, table));
  field("%count_before", "i64", offsetof(RegionState, instructions));
  field("%threads_before", "i64", offsetof(RegionState, thread_instructions));
  ir_.store("i64", "%count_before", "%count");
  ir_.store("i64", "%threads_before", "%threads");
  Node& first = nodes_.at(entry_);
  std::string good;
  for (const Slot slot : inputs()) {
    const auto found = assumed_.find(slot);
    const ValueShape assumed =
        found == assumed_.end() ? kVarying : found->second;
    Value value = from_frame(slot);
    if (assumed.affine) {
      std::string same;
      Value base{assumed, value.bits, ""};
      if (value.bits == 1) {
        const std::string mask = ir_.mask_of(value.text);
        const std::string next = ir_.set("add i32 " + mask + ", 1");
        same = ir_.set("icmp ule i32 " + next + ", 1");
        base.text = ir_.set("icmp ne i32 " + mask + ", 0");
      } else {
        const std::string vector = type_of(value.bits, true);
        base.text =
            ir_.set("extractelement " + vector + " " + value.text + ", i64 0");
        const std::string equal = ir_.set(
            "icmp eq " + vector + " " + value.text + ", " + ir_.lanes_of(base));
        same = ir_.set("icmp eq i32 " + ir_.mask_of(equal) + ", -1");
      }
      good = good.empty() ? same : ir_.set("and i1 " + good + ", " + same);
      value = base;
    }
    const ValueShape in = first.in.at(slot);
    if (in.affine) {
      ir_.store(type_of(value.bits, false), value.text, scalar_variable(slot));
    } else {
      ir_.store(
          type_of(value.bits, true),
          ir_.lanes_of(value),
          vector_variable(slot));
    }
  }
  if (good.empty()) {
    ir_.jump(node_label(entry_));
  } else {
    const std::string otherwise = ir_.label();
    ir_.branch(good, node_label(entry_), otherwise);
    ir_.begin(otherwise);
    ir_.line("ret i64 " + result_of(entry_, RegionEnd::kNotEntered));
  }
  return text;
}

void Translator::write_node(std::uint32_t begin, Node& node) {
  node_ = &node;
  current_.clear();
  counted_ = 0;
  counted_threads_ = 0;
  ir_.to(&body_);
  ir_.begin(node_label(begin));
  const bool branches = !node.ends &&
      flow_.control_at(node.end - 1) != nullptr &&
      flow_.control_at(node.end - 1)->kind == ControlKind::kBranch;
  for (std::uint32_t pc = begin; pc < node.end - (branches ? 1 : 0); ++pc) {
    write_instruction(code_.instructions[pc]);
  }
  if (branches) {
    write_terminator(node);
  } else if (node.ends) {
    write_exit(node.end, RegionEnd::kGoesOn);
  } else {
    write_edge(node.end - 1, node.end);
  }
}

/// A branch: all lanes take it, or none; where they part, the interpreter
/// executes it.
void Translator::write_terminator(const Node& node) {
  const Inst& inst = code_.instructions[node.end - 1];
  const std::uint32_t target = flow_.control_at(inst.index)->target;
  if (inst.guard == kNoSlot) {
    count(inst, "-1");
    write_edge(inst.index, target);
    return;
  }
  Value guard = get(inst.guard);
  std::string taken;
  if (guard.shape.affine) {
    taken = guard.text;
  } else {
    const std::string mask = ir_.mask_of(guard.text);
    const std::string all = ir_.set("icmp eq i32 " + mask + ", -1");
    const std::string none = ir_.set("icmp eq i32 " + mask + ", 0");
    if (is_triangle(node)) {
      const std::string around = ir_.label();
      const std::string through = ir_.label();
      ir_.branch(inst.guard_negated ? none : all, around, through);
      ++counted_;
      counted_threads_ += kLanes;
      ir_.begin(around);
      write_edge(inst.index, target);
      counted_threads_ -= kLanes;
      ir_.begin(through);
      write_triangle(
          inst.index,
          target,
          inst.guard_negated
              ? guard.text
              : ir_.set("xor <32 x i1> " + guard.text + ", splat (i1 true)"));
      return;
    }
    const std::string together = ir_.set("or i1 " + all + ", " + none);
    const std::string on = ir_.label();
    ir_.branch(together, on, cold_exit(inst.index, RegionEnd::kGoesOn));
    ir_.begin(on);
    taken = all;
  }
  const std::string yes = ir_.label();
  const std::string no = ir_.label();
  ir_.branch(
      taken, inst.guard_negated ? no : yes, inst.guard_negated ? yes : no);
  // Lanes that do not take it execute it too, with none active.
  const std::uint64_t before = counted_;
  const std::uint64_t threads = counted_threads_;
  ir_.begin(yes);
  counted_ = before + 1;
  counted_threads_ = threads + kLanes;
  write_edge(inst.index, target);
  ir_.begin(no);
  counted_ = before + 1;
  counted_threads_ = threads;
  write_edge(inst.index, node.end);
}

/// Thread instructions so far.
std::string Translator::threads_now() {
  const std::string plain = ir_.set(
      "add i64 " + ir_.load("i64", "%threads") + ", " +
      std::to_string(counted_threads_));
  const std::string& beyond =
      triangle_ != nullptr ? triangle_->threads : threads_beyond_;
  return beyond.empty() ? plain : ir_.set("add i64 " + plain + ", " + beyond);
}

/// To another node, or out of the region.
void Translator::write_edge(std::uint32_t from, std::uint32_t to) {
  const std::string counted = ir_.set(
      "add i64 " + ir_.load("i64", "%count") + ", " + std::to_string(counted_));
  const std::string threads = threads_now();
  if (to <= from) {
    // Whoever spins leaves others their turn, be it through several regions.
    const std::string over = ir_.set("icmp uge i64 " + counted + ", %limit");
    const std::string on = ir_.label();
    ir_.branch(over, cold_exit(to, RegionEnd::kLimit), on);
    ir_.begin(on);
  }
  const auto found = nodes_.find(to);
  if (found == nodes_.end()) {
    write_exit(to, RegionEnd::kGoesOn);
    return;
  }
  ir_.store("i64", counted, "%count");
  ir_.store("i64", threads, "%threads");
  Node& node = found->second;
  for (const Slot slot : flow_.live_at(to)) {
    if (tracked_.count(slot) == 0) {
      continue;
    }
    const bool is_new = !node.reached;
    const auto mine = current_.find(slot);
    const bool here = mine != current_.end();
    const auto before = node_->in.find(slot);
    const ValueShape shape = here   ? mine->second.shape
        : before != node_->in.end() ? before->second
                                    : kVarying;
    const auto place = node.in.find(slot);
    if (is_new || place == node.in.end()) {
      node.in[slot] = shape;
      changed_ = true;
    } else if (!(meet(place->second, shape) == place->second)) {
      place->second = meet(place->second, shape);
      changed_ = true;
    }
    const ValueShape there = node.in[slot];
    if (!here && before != node_->in.end() && before->second == there) {
      continue; // where it is already
    }
    const Value value = get(slot);
    if (there.affine && value.shape.affine) {
      ir_.store(type_of(value.bits, false), value.text, scalar_variable(slot));
    } else {
      ir_.store(
          type_of(value.bits, true),
          ir_.lanes_of(value),
          vector_variable(slot));
    }
  }
  if (!node.reached) {
    node.reached = true;
    changed_ = true;
  }
  ir_.jump(node_label(to));
}

/// Ends the region: what is needed afterwards goes to the frame.
void Translator::write_exit(
    std::uint32_t pc,
    RegionEnd end,
    const Slots& except) {
  if (end != RegionEnd::kFault) {
    // Vectors first: the calls for the others take their machine registers.
    std::vector<std::pair<Slot, Value>> affine;
    for (const Slot slot : flow_.live_at(pc)) {
      if (tracked_.count(slot) != 0 && written_.count(slot) != 0 &&
          except.count(slot) == 0) {
        const Value value = get(slot);
        if (value.shape.affine && value.bits != 1) {
          affine.emplace_back(slot, value);
        } else {
          write_back(slot, value);
        }
      }
    }
    for (const auto& [slot, value] : affine) {
      write_back(slot, value);
    }
  }
  const std::string counted = ir_.set(
      "add i64 " + ir_.load("i64", "%count") + ", " + std::to_string(counted_));
  ir_.store(
      "i64", counted, ir_.at("%state", offsetof(RegionState, instructions)));
  const std::string threads = threads_now();
  ir_.store(
      "i64",
      threads,
      ir_.at("%state", offsetof(RegionState, thread_instructions)));
  ir_.line("ret i64 " + result_of(pc, end));
}

/// The same in a block of its own. @returns its label.
std::string Translator::cold_exit(
    std::uint32_t pc,
    RegionEnd end,
    const Slots& except) {
  std::string* const out = ir_.out();
  std::string text;
  ir_.to(&text);
  const std::string label = ir_.label();
  ir_.begin(label);
  write_exit(pc, end, except);
  ir_.to(out);
  cold_ += text;
  return label;
}

} // namespace cudasim::engine
