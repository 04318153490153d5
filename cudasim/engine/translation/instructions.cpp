// One instruction: by an emitter, or by its handler.
#include <algorithm>

#include "cudasim/engine/instructions/key.h"
#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/translation/helpers.h"
#include "cudasim/engine/translation/translator.h"

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

/// Whether an instruction may let others go first: a pause, or to look at an
/// mbarrier in vain (Flow::kYield).
bool may_yield(const std::string& text) {
  return text.rfind("nanosleep", 0) == 0 || text.rfind("mbarrier.", 0) == 0;
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

} // namespace

/// How many lanes a word names, in 64 bits.
std::string Translator::lanes_in(const std::string& mask) {
  const std::string lanes =
      ir_.set("call i32 @llvm.ctpop.i32(i32 " + mask + ")");
  return ir_.set("zext i32 " + lanes + " to i64");
}

void Translator::count(const Inst& inst, const std::string& mask) {
  ++counts_.instructions;
  if (hammock_ != nullptr && mask == hammock_->mask) {
    ++counts_.of_mask;
    return;
  }
  if (hammock_ != nullptr) {
    counts_.apart = ir_.set("add i64 " + counts_.apart + ", " + lanes_in(mask));
    return;
  }
  if (inst.guard == kNoSlot) {
    counts_.threads += kLanes;
    return;
  }
  const std::string wide = lanes_in(mask);
  ir_.store(
      "i64",
      ir_.set("add i64 " + ir_.load("i64", "%threads") + ", " + wide),
      "%threads");
}

/// Instructions so far.
std::string Translator::counted_now() {
  const std::string plain = ir_.set(
      "add i64 " + ir_.load("i64", "%count") + ", " +
      std::to_string(counts_.instructions));
  return hammock_ == nullptr && !is_behind_hammock_
      ? plain
      : ir_.set("add i64 " + plain + ", " + ir_.load("i64", "%beyond"));
}

/// Thread instructions so far.
std::string Translator::threads_now() {
  const std::string plain = ir_.set(
      "add i64 " + ir_.load("i64", "%threads") + ", " +
      std::to_string(counts_.threads));
  if (hammock_ == nullptr && !is_behind_hammock_) {
    return plain;
  }
  const std::string all =
      ir_.set("add i64 " + plain + ", " + ir_.load("i64", "%threads_beyond"));
  return hammock_ == nullptr
      ? all
      : ir_.set("add i64 " + all + ", " + threads_apart());
}

/// What an instruction's text says: found once, as it takes a while.
const Translator::Form& Translator::form_of(const Inst& inst) const {
  Form& form = forms_[inst.index];
  if (!form.opcode.empty()) {
    return form;
  }
  const std::string key = canonical_key(code_.texts[inst.index]);
  form.opcode = split(key);
  // The words of a name are sorted: these two may be anywhere.
  for (const std::string& word : form.opcode) {
    if (word == "ftz") {
      form.flushes = true;
    } else if (word == "sat") {
      form.saturates = true;
    } else {
      form.operation.push_back(word);
    }
  }
  const SlotAccess& access = flow_.access(inst.index);
  form.is_known = inst.more_count == 0;
  for (int k = 0; k < kOperands; ++k) {
    const Slot slot = inst.operands[k];
    form.sources += k >= inst.destinations && slot != kNoSlot ? 1 : 0;
    // No emitter has a form for a predicate that is a constant.
    form.is_known = form.is_known &&
        (slot == kNoSlot || (slot & kConstantBit) == 0 || inst.widths[k] != 0);
  }
  for (const auto* slots : {&access.reads, &access.writes}) {
    for (const Slot slot : *slots) {
      form.is_known = form.is_known && is_tracked(slot);
    }
  }
  const Control* const control = flow_.control_at(inst.index);
  form.is_known = form.is_known &&
      is_row(key, control == nullptr ? inst.run : control->handler);
  return form;
}

/// The words of its name.
const std::vector<std::string>& Translator::opcode_of(const Inst& inst) const {
  return form_of(inst).opcode;
}

/// Whether an emitter may have a form for an instruction: it knows its
/// registers, and its handler is that of the row whose name its text has.
bool Translator::has_form(const Inst& inst) const {
  return form_of(inst).is_known;
}

void Translator::write_instruction(const Inst& inst) {
  const Control* const control = flow_.control_at(inst.index);
  if (control != nullptr && control->kind == ControlKind::kWarpBarrier) {
    count(inst, "-1");
    return; // all lanes are here
  }
  ++written_instructions_;
  const std::vector<std::string>& opcode = opcode_of(inst);
  const bool known = has_form(inst);
  // The instruction may write its own guard.
  const std::string mask = guard_mask(inst);
  if (known && control == nullptr && memory(inst, opcode, mask)) {
    return;
  }
  if (control != nullptr) {
    write_deferred_loads();
  }
  // A row may leave the region before it has done anything: it is counted
  // behind.
  if (known &&
      (control == nullptr ? write_row(inst, opcode)
                          : shuffle(inst, opcode) || vote(inst, opcode))) {
    count(inst, mask);
    return;
  }
  count(inst, mask);
  ++called_;
  call_handler(inst, mask);
}

bool Translator::write_row(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  return move(inst, opcode) || integer(inst, opcode) || logic(inst, opcode) ||
      fields(inst, opcode) || real(inst) || compare(inst, opcode) ||
      select(inst, opcode) || convert(inst, opcode);
}

/// Executes an instruction by its handler, which finds its operands in the
/// frame and leaves its results there.
void Translator::call_handler(const Inst& inst, const std::string& mask) {
  write_deferred_loads();
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
  const void* const function = control == nullptr
      ? reinterpret_cast<const void*>(inst.run)
      : reinterpret_cast<const void*>(&execute_collective);
  const std::string callee = pointer_to(function);
  const std::string last =
      control == nullptr ? "i32 " + mask : "ptr " + pointer_to(control);
  const std::string flow = ir_.set(
      "call i8 " + callee + "(ptr %warp, ptr " + pointer_to(&inst) + ", " +
      last + ")");
  const std::string well = ir_.set("icmp eq i8 " + flow + ", 0");
  ir_.branch(well, behind, failed);
  // In a block of its own, where the results are in the frame already.
  std::string* const out = ir_.out();
  std::string text;
  ir_.to(&text);
  ir_.begin(failed);
  const std::string faulted = cold_exit(inst.index, RegionEnd::kFault);
  const bool is_apart = hammock_ != nullptr && !hammock_->levels.empty();
  if (is_apart || !may_yield(code_.texts[inst.index])) {
    ir_.jump(faulted);
  } else {
    const std::string fault = ir_.set(
        "icmp eq i8 " + flow + ", " +
        std::to_string(static_cast<int>(Flow::kFault)));
    const Slots results(access.writes.begin(), access.writes.end());
    const std::string yields =
        cold_exit(inst.index + 1, RegionEnd::kYield, results);
    ir_.branch(fault, faulted, yields);
  }
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
