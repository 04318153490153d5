#include "cudasim/engine/translation/translator.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "cudasim/engine/instructions/key.h"
#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/translation/helpers.h"

namespace cudasim::engine {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string node_label(std::uint32_t pc) {
  return "n" + std::to_string(pc);
}
std::string scalar_variable(Slot slot) {
  return "%s" + std::to_string(slot);
}
std::string vector_variable(Slot slot) {
  return "%v" + std::to_string(slot);
}

/// Whether a handler is that of a row with this key: in the text alone a
/// parameter of a kernel looks like one of a function.
bool is_row(const std::string& key, Handler handler) {
  const std::vector<Row>* const rows = find_rows(best_isa(), key);
  return rows != nullptr &&
      std::any_of(rows->begin(), rows->end(), [handler](const Row& row) {
           return row.entry->handler == handler;
         });
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
          !(constant(control->members, 4, &members) &&
            members.text == "4294967295");
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
      if (is_end(pc)) {
        node.ends = true;
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
  // The entry's block is written last: it has all variables.
  return "define i64 @region(ptr %state, ptr %registers) nounwind {\n" +
      ir_.variables() + entry + body_ + cold_ + "}\n";
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
    write_terminator(begin, node);
  } else if (node.ends) {
    write_exit(node.end, RegionEnd::kGoesOn);
  } else {
    write_edge(node.end - 1, node.end);
  }
}

/// A branch: all lanes take it, or none; where they part, the interpreter
/// executes it.
void Translator::write_terminator(std::uint32_t, const Node& node) {
  const Inst& inst = code_.instructions[node.end - 1];
  const std::uint32_t target = flow_.control_at(inst.index)->target;
  if (inst.guard == kNoSlot) {
    count(inst);
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

/// To another node, or out of the region.
void Translator::write_edge(std::uint32_t from, std::uint32_t to) {
  const auto found = nodes_.find(to);
  if (found == nodes_.end()) {
    write_exit(to, RegionEnd::kGoesOn);
    return;
  }
  const std::string counted = ir_.set(
      "add i64 " + ir_.load("i64", "%count") + ", " + std::to_string(counted_));
  const std::string threads = ir_.set(
      "add i64 " + ir_.load("i64", "%threads") + ", " +
      std::to_string(counted_threads_));
  if (to <= from) {
    // Whoever spins leaves others their turn.
    const std::string over = ir_.set("icmp uge i64 " + counted + ", %limit");
    const std::string on = ir_.label();
    ir_.branch(over, cold_exit(to, RegionEnd::kLimit), on);
    ir_.begin(on);
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

void Translator::write_back(Slot slot, const Value& value) {
  const std::string place = ir_.at("%registers", slot);
  if (value.bits == 1) {
    const std::string mask = value.shape.affine
        ? ir_.set("sext i1 " + value.text + " to i32")
        : ir_.mask_of(value.text);
    ir_.store("i32", mask, place);
    return;
  }
  if (value.shape.affine) {
    const std::string base = value.bits == 64
        ? value.text
        : ir_.set(
              "zext " + type_of(value.bits, false) + " " + value.text +
              " to i64");
    ir_.line(
        "call void " +
        IrWriter::pointer(reinterpret_cast<const void*>(&write_affine)) +
        "(ptr " + place + ", i64 " + base + ", i64 " +
        std::to_string(value.shape.stride) + ", i32 " +
        std::to_string(value.bits / 8) + ")");
    return;
  }
  ir_.line(
      "store " + type_of(value.bits, true) + " " + value.text + ", ptr " +
      place + ", align 64");
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
  const std::string threads = ir_.set(
      "add i64 " + ir_.load("i64", "%threads") + ", " +
      std::to_string(counted_threads_));
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

Value Translator::from_frame(Slot slot) {
  const std::string place = ir_.at("%registers", slot);
  const int width = flow_.width_of(slot);
  if (width == 0) {
    return {kVarying, 1, ir_.bits_of(ir_.load("i32", place))};
  }
  return {
      kVarying,
      8 * width,
      ir_.set(
          "load " + type_of(8 * width, true) + ", ptr " + place +
          ", align 64")};
}

Value Translator::get(Slot slot) {
  const auto found = current_.find(slot);
  if (found != current_.end()) {
    return found->second;
  }
  const auto in = node_->in.find(slot);
  if (in == node_->in.end()) {
    return from_frame(slot); // any values: nobody needs them
  }
  const int width = flow_.width_of(slot);
  Value value{in->second, width == 0 ? 1 : 8 * width, ""};
  value.text = value.shape.affine
      ? ir_.load(type_of(value.bits, false), scalar_variable(slot))
      : ir_.load(type_of(value.bits, true), vector_variable(slot));
  return value;
}

/// An immediate, which all lanes have alike.
bool Translator::constant(Slot slot, int bytes, Value* value) const {
  if (slot == kNoSlot || (slot & kConstantBit) == 0 ||
      (bytes != 2 && bytes != 4 && bytes != 8)) {
    return false;
  }
  const std::byte* const place = code_.constants.get() + (slot & ~kConstantBit);
  std::uint64_t first = 0;
  std::memcpy(&first, place, static_cast<std::size_t>(bytes));
  for (int lane = 1; lane < kLanes; ++lane) {
    if (std::memcmp(
            place, place + lane * bytes, static_cast<std::size_t>(bytes)) !=
        0) {
      return false;
    }
  }
  *value = {kUniform, 8 * bytes, std::to_string(first)};
  return true;
}

/// @returns false where it is not of that many bits.
bool Translator::operand(const Inst& inst, int index, int bits, Value* value) {
  const Slot slot = inst.operands[index];
  if (slot == kNoSlot) {
    return false;
  }
  if ((slot & kConstantBit) != 0) {
    return constant(slot, bits / 8, value);
  }
  *value = get(slot);
  return value->bits == bits;
}

Value Translator::predicate_of(const Inst& inst, int index) {
  Value value = get(inst.operands[index]);
  if ((inst.negated >> index & 1) != 0) {
    value.text = value.shape.affine
        ? ir_.set("xor i1 " + value.text + ", true")
        : ir_.set("xor <32 x i1> " + value.text + ", splat (i1 true)");
  }
  return value;
}

/// a in the lanes where the condition is set, else b.
Value Translator::blend(
    const Value& condition,
    const Value& a,
    const Value& b) {
  const bool scalar =
      condition.shape.affine && a.shape.affine && a.shape == b.shape;
  Value result{scalar ? a.shape : kVarying, a.bits, ""};
  const std::string type = type_of(a.bits, !scalar);
  const std::string chosen =
      (condition.shape.affine ? "i1 " : "<32 x i1> ") + condition.text;
  const std::string first = scalar ? a.text : ir_.lanes_of(a);
  const std::string second = scalar ? b.text : ir_.lanes_of(b);
  result.text = ir_.set(
      "select " + chosen + ", " + type + " " + first + ", " + type + " " +
      second);
  return result;
}

/// Gives a destination its value, where the guard is set.
void Translator::assign(const Inst& inst, int index, Value value) {
  const Slot slot = inst.operands[index];
  if (inst.guard != kNoSlot) {
    const Value guard = get(inst.guard);
    const Value old = get(slot);
    value = inst.guard_negated ? blend(guard, old, value)
                               : blend(guard, value, old);
  }
  current_[slot] = std::move(value);
}

/// The lanes for which an instruction is executed, as a word.
std::string Translator::guard_mask(const Inst& inst) {
  if (inst.guard == kNoSlot) {
    return "-1";
  }
  const Value guard = get(inst.guard);
  const std::string set = guard.shape.affine
      ? ir_.set("sext i1 " + guard.text + " to i32")
      : ir_.mask_of(guard.text);
  return inst.guard_negated ? ir_.set("xor i32 " + set + ", -1") : set;
}

void Translator::count(const Inst& inst) {
  ++counted_;
  if (inst.guard == kNoSlot) {
    counted_threads_ += kLanes;
    return;
  }
  const std::string lanes =
      ir_.set("call i32 @llvm.ctpop.i32(i32 " + guard_mask(inst) + ")");
  const std::string wide = ir_.set("zext i32 " + lanes + " to i64");
  ir_.store(
      "i64",
      ir_.set("add i64 " + ir_.load("i64", "%threads") + ", " + wide),
      "%threads");
}

void Translator::write_instruction(const Inst& inst) {
  const auto& stores = code_.first_stores;
  if (std::binary_search(stores.begin(), stores.end(), inst.index)) {
    const std::string on = ir_.label();
    const std::string wait = ir_.set("icmp ne i64 %loads_only, 0");
    ir_.branch(wait, cold_exit(inst.index, RegionEnd::kGoesOn), on);
    ir_.begin(on);
  }
  const Control* const control = flow_.control_at(inst.index);
  if (control != nullptr && control->kind == ControlKind::kWarpBarrier) {
    count(inst);
    return; // all lanes are here
  }
  const SlotAccess& access = flow_.access(inst.index);
  bool known = inst.more_count == 0 && control == nullptr;
  for (const auto* slots : {&access.reads, &access.writes}) {
    for (const Slot slot : *slots) {
      known = known && is_tracked(slot);
    }
  }
  ++written_instructions_;
  const std::string key = canonical_key(code_.texts[inst.index]);
  // A row may leave the region before it has done anything: it is counted
  // behind.
  if (!known || !is_row(key, inst.run) || !write_row(inst, split(key))) {
    const std::string mask = guard_mask(inst);
    count(inst);
    ++called_;
    call_handler(inst, mask);
  } else {
    count(inst);
  }
}

bool Translator::write_row(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  return memory(inst, opcode) || move(inst, opcode) || integer(inst, opcode) ||
      logic(inst, opcode) || real(inst, opcode) || compare(inst, opcode) ||
      select(inst, opcode) || convert(inst, opcode);
}

/// Executes an instruction by its handler, which finds its operands in the
/// frame and leaves its results there.
void Translator::call_handler(const Inst& inst, const std::string& mask) {
  const SlotAccess& access = flow_.access(inst.index);
  for (const Slot slot : access.reads) {
    if (tracked_.count(slot) != 0 && written_.count(slot) != 0) {
      write_back(slot, get(slot));
    }
  }
  const Control* const control = flow_.control_at(inst.index);
  const std::string called = ir_.label();
  const std::string behind = ir_.label();
  const std::string failed = ir_.label();
  if (inst.guard != kNoSlot) {
    const std::string any = ir_.set("icmp ne i32 " + mask + ", 0");
    ir_.branch(any, called, behind);
    ir_.begin(called);
  }
  const std::string flow = control == nullptr
      ? ir_.set(
            "call i8 " +
            IrWriter::pointer(reinterpret_cast<const void*>(inst.run)) +
            "(ptr %warp, ptr " + IrWriter::pointer(&inst) + ", i32 " + mask +
            ")")
      : ir_.set(
            "call i8 " +
            IrWriter::pointer(
                reinterpret_cast<const void*>(&execute_collective)) +
            "(ptr %warp, ptr " + IrWriter::pointer(&inst) + ", ptr " +
            IrWriter::pointer(control) + ")");
  const std::string well = ir_.set("icmp eq i8 " + flow + ", 0");
  ir_.branch(well, behind, failed);
  // In a block of its own, where the results are in the frame already.
  std::string* const out = ir_.out();
  std::string text;
  ir_.to(&text);
  ir_.begin(failed);
  const std::string fault = ir_.set(
      "icmp eq i8 " + flow + ", " +
      std::to_string(static_cast<int>(Flow::kFault)));
  const Slots results(access.writes.begin(), access.writes.end());
  const std::string faulted = cold_exit(inst.index, RegionEnd::kFault);
  const std::string yields =
      cold_exit(inst.index + 1, RegionEnd::kYield, results);
  ir_.branch(fault, faulted, yields);
  ir_.to(out);
  cold_ += text;
  ir_.begin(behind);
  for (const Slot slot : access.writes) {
    if (tracked_.count(slot) != 0) {
      current_[slot] = from_frame(slot);
    }
  }
}

} // namespace cudasim::engine
