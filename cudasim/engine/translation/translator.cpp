#include "cudasim/engine/translation/translator.h"

#include <cstddef>
#include <string>

namespace cudasim::engine {

Translator::Translator(
    const Code& code,
    const CodeFlow& flow,
    const Scope& scope,
    const Shapes& assumed,
    const std::set<std::uint32_t>& general)
    : code_(code),
      flow_(flow),
      lanes_(scope.lanes),
      entry_(scope.entry),
      stop_(scope.stop),
      most_(scope.most),
      assumed_(assumed),
      general_(general),
      forms_(code.instructions.size()) {
  discover();
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
  written_instructions_ = called_ = strip_text_ = group_exits_ = 0;
  body_.clear();
  cold_.clear();
  functions_.clear();
  table_.clear();
  hopes_.clear();
  for (const Slot slot : tracked_) {
    const int bits = flow_.bits_of(slot);
    ir_.variable(scalar_variable(slot), type_of(bits, false));
    ir_.variable(vector_variable(slot), type_of(bits, true));
  }
  ir_.variable("%count", "i64");
  ir_.variable("%threads", "i64");
  ir_.variable("%beyond", "i64");
  ir_.variable("%threads_beyond", "i64");
  ir_.variable("%addresses", "[32 x i64]");
  ir_.variable("%numbers", "[64 x i64]"); // kMostScatteredBytes a lane
  const std::string entry = write_entry();
  for (auto& [begin, node] : nodes_) {
    if (node.reached) {
      write_node(begin, node);
    }
  }
  // The entry's block is written last: it has all variables.
  std::string text =
      // LLVM is to call no function of its own choice, such as memset: linking
      // has no place for them.
      "define i64 @region(ptr %state, ptr %registers) nounwind "
      "\"no-builtins\" {\n" +
      ir_.variables() + entry + body_ + cold_ + "}\n";
  for (const auto& [name, function] : functions_) {
    text += function;
  }
  return text;
}

/// Adds a function to the module, if it is not there.
/// @param result its type. @param parameters their types and names.
/// @param write writes what is in it. @returns what it returns.
void Translator::define(
    const std::string& name,
    const std::string& result,
    const std::string& parameters,
    const std::function<std::string()>& write) {
  std::string& function = functions_[name];
  if (!function.empty()) {
    return;
  }
  std::string* const out = ir_.out();
  std::string text;
  ir_.to(&text);
  const std::string value = write();
  ir_.line("ret " + result + " " + value);
  ir_.to(out);
  function = "define internal " + result + " " + name + "(" + parameters +
      ") noinline nounwind {\n" + text + "}\n";
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
  field("%ranges", "ptr", offsetof(RegionState, ranges));
  field("%limit", "i64", offsetof(RegionState, limit));
  field("%shared", "i64", offsetof(RegionState, shared));
  field("%shared_bytes", "i64", offsetof(RegionState, shared_bytes));
  field("%parameters", "i64", offsetof(RegionState, parameters));
  field("%parameters_bytes", "i64", offsetof(RegionState, parameter_bytes));
  field("%loads_only", "i64", offsetof(RegionState, loads_only));
  if (lanes_ != WarpLanes::kAll) {
    field("%mask", "i32", offsetof(RegionState, mask));
  }
  field("%table", "ptr", offsetof(RegionState, table));
  field("%count_before", "i64", offsetof(RegionState, instructions));
  field("%threads_before", "i64", offsetof(RegionState, thread_instructions));
  ir_.store("i64", "%count_before", "%count");
  ir_.store("i64", "%threads_before", "%threads");
  ir_.store("i64", "0", "%beyond");
  ir_.store("i64", "0", "%threads_beyond");
  const std::string fresh = ir_.label();
  text += write_resumptions(fresh);
  ir_.begin(fresh);
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
        const std::string mask =
            ir_.set("and i32 " + everyone() + ", " + ir_.mask_of(value.text));
        const std::string none = ir_.set("icmp eq i32 " + mask + ", 0");
        const std::string all =
            ir_.set("icmp eq i32 " + mask + ", " + everyone());
        same = ir_.set("or i1 " + none + ", " + all);
        base.text = ir_.set("xor i1 " + none + ", true");
      } else {
        const std::string vector = type_of(value.bits, true);
        base.text = base_of(value, assumed);
        const std::string equal = ir_.set(
            "icmp eq " + vector + " " + value.text + ", " + ir_.lanes_of(base));
        const std::string mask =
            ir_.set("and i32 " + everyone() + ", " + ir_.mask_of(equal));
        same = ir_.set("icmp eq i32 " + mask + ", " + everyone());
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
    write_end(entry_, RegionEnd::kNotEntered);
  }
  return text;
}

/// The lanes that the code is for, as a word.
std::string Translator::everyone() const {
  return lanes_ == WarpLanes::kAll ? "-1" : "%mask";
}

/// The base of lanes' values, if they are affine.
std::string Translator::base_of(const Value& lanes, const ValueShape& shape) {
  const std::string vector = type_of(lanes.bits, true);
  if (lanes_ == WarpLanes::kAll) {
    return ir_.set("extractelement " + vector + " " + lanes.text + ", i64 0");
  }
  // Of the first lane that there is: the register holds anything in the others.
  // The base of one of those would give no other result, as write_entry()
  // compares all lanes that there are with it, but code that is not entered.
  const std::string bases = ir_.set(
      "sub " + vector + " " + lanes.text + ", " + ramp(lanes.bits, shape));
  const std::string first =
      ir_.set("call i32 @llvm.cttz.i32(i32 %mask, i1 true)");
  return ir_.set("extractelement " + vector + " " + bases + ", i32 " + first);
}

void Translator::write_node(std::uint32_t begin, Node& node) {
  Hammock some{everyone(), {}};
  hammock_ = lanes_ == WarpLanes::kAll ? nullptr : &some;
  node_ = &node;
  current_.clear();
  allowed_.clear();
  deferred_.clear();
  counts_ = {};
  ir_.to(&body_);
  ir_.begin(node_label(begin));
  if (is_first_store(begin)) {
    const std::string on = ir_.label();
    const std::string wait = ir_.set("icmp ne i64 %loads_only, 0");
    ir_.branch(
        wait,
        node.resume != 0 ? cold_pause(begin, begin)
                         : cold_exit(begin, RegionEnd::kGoesOn),
        on);
    ir_.begin(on);
  }
  const bool branches = !node.ends &&
      flow_.control_at(node.end - 1) != nullptr &&
      flow_.control_at(node.end - 1)->kind == ControlKind::kBranch;
  write_straight(begin, node.end - (branches ? 1 : 0));
  write_deferred_loads();
  if (branches) {
    write_terminator(node);
  } else if (pauses(node)) {
    write_pause(node.end, node.end + 1);
  } else if (node.ends) {
    write_exit(node.end, RegionEnd::kGoesOn);
  } else {
    write_edge(node.end - 1, node.end);
  }
  hammock_ = nullptr;
}

/// A branch: all lanes take it, or none; where they part, the interpreter
/// executes it.
void Translator::write_terminator(const Node& node) {
  const Inst& inst = code_.instructions[node.end - 1];
  const std::uint32_t target = flow_.control_at(inst.index)->target;
  if (inst.guard == kNoSlot) {
    count(inst, everyone());
    write_edge(inst.index, target);
    return;
  }
  Value guard = get(inst.guard);
  std::string taken;
  if (guard.shape.affine) {
    taken = guard.text;
  } else if (is_hammock(inst.index) && !may_go_together(inst)) {
    write_hammock(inst);
    return;
  } else {
    const std::string mask =
        ir_.set("and i32 " + everyone() + ", " + ir_.mask_of(guard.text));
    const std::string all = ir_.set("icmp eq i32 " + mask + ", " + everyone());
    const std::string none = ir_.set("icmp eq i32 " + mask + ", 0");
    const std::string together = ir_.set("or i1 " + all + ", " + none);
    const std::string on = ir_.label();
    ir_.branch(together, on, where_lanes_part(inst));
    ir_.begin(on);
    taken = all;
  }
  const std::string yes = ir_.label();
  const std::string no = ir_.label();
  ir_.branch(
      taken, inst.guard_negated ? no : yes, inst.guard_negated ? yes : no);
  // Lanes that do not take it execute it too, with none active.
  ++counts_.instructions;
  const Counts before = counts_;
  ir_.begin(yes);
  if (hammock_ == nullptr) {
    counts_.threads += kLanes;
  } else {
    ++counts_.of_mask;
  }
  write_edge(inst.index, target);
  ir_.begin(no);
  counts_ = before;
  write_edge(inst.index, node.end);
}

/// A block of its own for lanes that part at a branch that is not a hammock: of
/// a loop, those that have not left it go on. @returns its label.
std::string Translator::where_lanes_part(const Inst& branch) {
  const std::uint32_t begin = flow_.control_at(branch.index)->target;
  const bool goes_on = begin <= branch.index &&
      is_plain_loop(branch.index, 0) && has_nodes(begin, branch.index + 1);
  const bool has_form = goes_on
      ? may_end_together(branch)
      : begin > branch.index && is_hammock(branch.index);
  if (has_form) {
    return where_hope_fails(branch); // another has it, where they part often
  }
  if (!goes_on) {
    return cold_exit(branch.index, RegionEnd::kGoesOn);
  }
  const std::map<Slot, Value> before = current_;
  const Counts counts = counts_;
  const std::string label = in_cold_block([&] { write_hammock(branch); });
  current_ = before;
  counts_ = counts;
  return label;
}

/// To another node, or out of the region.
void Translator::write_edge(std::uint32_t from, std::uint32_t to) {
  const std::string counted = counted_now();
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
  ir_.store("i64", "0", "%beyond");
  ir_.store("i64", "0", "%threads_beyond");
  Node& node = found->second;
  for (const Slot slot : flow_.live_at(to)) {
    if (tracked_.count(slot) == 0) {
      continue;
    }
    const ValueShape there = shape_at(node, slot);
    const auto before = node_->in.find(slot);
    if (current_.count(slot) == 0 && before != node_->in.end() &&
        before->second == there) {
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
  reach(node);
  ir_.jump(node_label(to));
}

/// Another way leads to a node, with the values that registers have now.
/// @returns how a register's values lie in the node from all ways.
ValueShape Translator::shape_at(Node& node, Slot slot) {
  const auto mine = current_.find(slot);
  const auto before = node_->in.find(slot);
  const ValueShape shape = mine != current_.end() ? mine->second.shape
      : before != node_->in.end()                 ? before->second
                                                  : kVarying;
  const auto [place, is_new] = node.in.emplace(slot, shape);
  const ValueShape all = meet(place->second, shape);
  changed_ = changed_ || is_new || !(all == place->second);
  place->second = all;
  return all;
}

void Translator::reach(Node& node) {
  changed_ = changed_ || !node.reached;
  node.reached = true;
}

} // namespace cudasim::engine
