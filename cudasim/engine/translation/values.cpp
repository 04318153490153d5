// Values of registers: where they are, constants, guards.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "cudasim/engine/translation/helpers.h"
#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {

std::string scalar_variable(Slot slot) {
  return "%s" + std::to_string(slot);
}
std::string vector_variable(Slot slot) {
  return "%v" + std::to_string(slot);
}

Value Translator::from_frame(Slot slot) {
  const std::string place = ir_.at("%registers", slot);
  const int bits = flow_.bits_of(slot);
  if (bits == 1) {
    return {kVarying, 1, ir_.bits_of(ir_.load("i32", place))};
  }
  return {
      kVarying,
      bits,
      ir_.set("load " + type_of(bits, true) + ", ptr " + place + ", align 64")};
}

Value Translator::get(Slot slot) {
  const auto found = current_.find(slot);
  if (found != current_.end() && found->second.deferred != kNowhere) {
    write_deferred(found->second.deferred);
  }
  return value_in(current_, slot);
}

/// @param values those that registers were given in the node.
Value Translator::value_in(const std::map<Slot, Value>& values, Slot slot) {
  const auto found = values.find(slot);
  if (found != values.end()) {
    return found->second;
  }
  const auto in = node_->in.find(slot);
  if (in == node_->in.end()) {
    return from_frame(slot); // any values: nobody needs them
  }
  Value value{in->second, flow_.bits_of(slot), ""};
  value.text = value.shape.affine
      ? ir_.load(type_of(value.bits, false), scalar_variable(slot))
      : ir_.load(type_of(value.bits, true), vector_variable(slot));
  return value;
}

/// An address of this process, which the code has from a table.
std::string Translator::pointer_to(const void* address) {
  auto found = std::find(table_.begin(), table_.end(), address);
  if (found == table_.end()) {
    table_.push_back(address);
    found = table_.end() - 1;
  }
  const auto index = static_cast<std::uint64_t>(found - table_.begin());
  return ir_.load("ptr", ir_.at("%table", index * sizeof(const void*)));
}

/// The same as a number, which all lanes have alike.
Value Translator::number_of_table(std::uint64_t address) {
  const std::string pointer =
      pointer_to(reinterpret_cast<const void*>(address));
  return {kUniform, 64, ir_.set("ptrtoint ptr " + pointer + " to i64")};
}

/// To the frame.
void Translator::write_back(Slot slot, const Value& value) {
  const std::string place = ir_.at("%registers", slot);
  if (lanes_ != WarpLanes::kAll) {
    // The others keep what they have.
    const Value mine{kVarying, 1, ir_.bits_of(everyone())};
    const Value lanes{kVarying, value.bits, ir_.lanes_of(value)};
    const Value all = blend(mine, lanes, from_frame(slot));
    if (value.bits == 1) {
      ir_.store("i32", ir_.mask_of(all.text), place);
    } else {
      ir_.store(type_of(value.bits, true), all.text, place);
    }
    return;
  }
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
    const std::string write =
        pointer_to(reinterpret_cast<const void*>(&write_affine));
    ir_.line(
        "call void " + write + "(ptr " + place + ", i64 " + base + ", i64 " +
        std::to_string(value.shape.stride) + ", i64 " +
        std::to_string(value.shape.row) + ", i32 " +
        std::to_string(value.bits / 8) + ")");
    return;
  }
  ir_.line(
      "store " + type_of(value.bits, true) + " " + value.text + ", ptr " +
      place + ", align 64");
}

/// An immediate, or a register that holds one, which all lanes have alike.
bool Translator::constant(const Inst& inst, Slot slot, int bytes, Value* value)
    const {
  std::uint64_t number = 0;
  const bool known = slot != kNoSlot && (slot & kConstantBit) == 0
      ? flow_.width_of(slot) == bytes &&
          flow_.constant_at(inst.index, slot, &number)
      : immediate(code_, slot, bytes, &number);
  if (known) {
    *value = {kUniform, 8 * bytes, std::to_string(number)};
  }
  return known;
}

/// @returns false where it is not of that many bits.
bool Translator::operand(const Inst& inst, int index, int bits, Value* value) {
  const Slot slot = inst.operands[index];
  if (slot == kNoSlot) {
    return false;
  }
  if (constant(inst, slot, bits / 8, value)) {
    return true;
  }
  if ((slot & kConstantBit) != 0) {
    std::uint64_t address = 0;
    if (bits != 64 || code_.addresses.count(slot) == 0) {
      return false;
    }
    std::memcpy(
        &address,
        code_.constants.get() + (slot & ~kConstantBit),
        sizeof(address));
    *value = number_of_table(address);
    return true;
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
    return hammock_ == nullptr ? "-1" : hammock_->mask;
  }
  const Value guard = get(inst.guard);
  std::string set = guard.shape.affine
      ? ir_.set("sext i1 " + guard.text + " to i32")
      : ir_.mask_of(guard.text);
  if (inst.guard_negated) {
    set = ir_.set("xor i32 " + set + ", -1");
  }
  return hammock_ == nullptr
      ? set
      : ir_.set("and i32 " + set + ", " + hammock_->mask);
}

} // namespace cudasim::engine
