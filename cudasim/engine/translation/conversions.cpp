// Conversions and moves.
#include <string>
#include <vector>

#include "cudasim/engine/translation/ir/value.h"
#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {

/// Between integers of 16 to 64 bits, from integers of 8, between floats, and
/// from integers of 32 and 64 bits to floats.
bool Translator::convert(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  if (opcode[0] != "cvt" || opcode.size() < 3) {
    return false;
  }
  const std::string& to = opcode[opcode.size() - 2];
  const std::string& from = opcode.back();
  const int to_bits = bits_of(to, "usf");
  const int from_bits = bits_of(from, "usf");
  const bool to_real = to[0] == 'f';
  const bool from_real = from[0] == 'f';
  Value a;
  if ((from == "s8" || from == "u8") && opcode.size() == 3 && !to_real &&
      to_bits >= 16 && inst.widths[0] == to_bits / 8 && inst.widths[1] >= 2 &&
      operand(inst, 1, 8 * inst.widths[1], &a)) {
    assign(inst, 0, resized(resized(a, 8, false), to_bits, from[0] == 's'));
    return true;
  }
  const int least = to_real || from_real ? 32 : 16;
  if (to_bits < least || from_bits < least || inst.widths[0] != to_bits / 8 ||
      ((inst.operands[1] & kConstantBit) == 0 &&
       inst.widths[1] != from_bits / 8) ||
      !operand(inst, 1, from_bits, &a)) {
    return false;
  }
  if (to_real && to == from && opcode.size() == 4 && opcode[1] == "sat") {
    const bool vector = !a.shape.uniform();
    const std::string limited = saturated(as_real(a, vector), to_bits, vector);
    assign(inst, 0, real_value(limited, to_bits, vector));
    return true;
  }
  const bool rounds = opcode.size() == 4 && opcode[1] == "rn";
  if (opcode.size() != 3 && !rounds) {
    return false;
  }
  if (!to_real && !from_real && !rounds) {
    if (to_bits == from_bits) {
      assign(inst, 0, a);
      return true;
    }
    if (to_bits > from_bits) {
      Value wide = a;
      while (wide.bits < to_bits) {
        const Value narrow = wide;
        widen(inst, narrow, from[0] == 's', &wide);
      }
      assign(inst, 0, wide);
      return true;
    }
    // Cutting keeps base + stride x lane, modulo the width.
    const bool vector = !a.shape.affine;
    assign(
        inst,
        0,
        {vector ? kVarying : sum_of(kUniform, a.shape, 1, to_bits),
         to_bits,
         ir_.set(
             "trunc " + type_of(from_bits, vector) + " " + a.text + " to " +
             type_of(to_bits, vector))});
    return true;
  }
  const bool vector = !a.shape.uniform();
  const std::string lanes = vector ? ir_.lanes_of(a) : a.text;
  if (to_real && !from_real && rounds) {
    const std::string value = ir_.set(
        std::string(from[0] == 's' ? "sitofp " : "uitofp ") +
        type_of(from_bits, vector) + " " + lanes + " to " +
        float_type_of(to_bits, vector));
    assign(inst, 0, real_value(value, to_bits, vector));
    return true;
  }
  if (to_real && from_real && to_bits != from_bits &&
      (to_bits == 64) != rounds) {
    const std::string value = ir_.set(
        std::string(to_bits == 64 ? "fpext " : "fptrunc ") +
        float_type_of(from_bits, vector) + " " + as_real(a, vector) + " to " +
        float_type_of(to_bits, vector));
    assign(inst, 0, real_value(value, to_bits, vector));
    return true;
  }
  return false;
}

/// mov.bBITS d, {a, b}: a below b (PTX ISA 9.7.9.4).
bool Translator::pack(const Inst& inst, int bits) {
  const int half = bits / 2;
  Value low;
  Value high;
  if (inst.destinations != 1 || inst.widths[0] != bits / 8 ||
      inst.operands[2] == kNoSlot || inst.operands[3] != kNoSlot ||
      inst.widths[1] != half / 8 || inst.widths[2] != half / 8 ||
      !operand(inst, 1, half, &low) || !operand(inst, 2, half, &high)) {
    return false;
  }
  const Value amount{kUniform, bits, std::to_string(half)};
  const Value above = plain("shl", resized(high, bits, false), amount);
  assign(inst, 0, plain("or", resized(low, bits, false), above));
  return true;
}

/// mov.bBITS {d, e}, a.
bool Translator::unpack(const Inst& inst, int bits) {
  const int half = bits / 2;
  Value whole;
  if (inst.destinations != 2 || inst.widths[2] != bits / 8 ||
      !operand(inst, 2, bits, &whole)) {
    return false;
  }
  for (int k = 0; k < 2; ++k) {
    if (inst.operands[k] != kNoSlot && inst.widths[k] != half / 8) {
      return false;
    }
  }
  const Value amount{kUniform, bits, std::to_string(half)};
  const Value high = resized(plain("lshr", whole, amount), half, false);
  if (inst.operands[0] != kNoSlot) {
    assign(inst, 0, resized(whole, half, false));
  }
  if (inst.operands[1] != kNoSlot) {
    assign(inst, 1, high);
  }
  return true;
}

/// mov, and addresses that are the same in the space of all.
bool Translator::move(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  if (opcode[0] == "mov" && opcode.size() == 2) {
    if (opcode[1] == "pred") {
      assign(inst, 0, predicate_of(inst, 1));
      return true;
    }
    const int bits = bits_of(opcode[1], "busf");
    Value a;
    if (opcode[1] == "b32" || opcode[1] == "b64") {
      if (pack(inst, bits) || unpack(inst, bits)) {
        return true;
      }
    }
    if (bits == 0 || inst.destinations != 1 || inst.operands[2] != kNoSlot ||
        inst.widths[0] != bits / 8 || !operand(inst, 1, bits, &a)) {
      return false;
    }
    assign(inst, 0, a);
    return true;
  }
  if (opcode[0] == "cvta" && opcode.back() == "u64") {
    // The words of a key are sorted: "cvta.global.to".
    const bool to = opcode.size() == 4 && opcode[2] == "to";
    const std::string& space = opcode[1];
    Value a;
    if (!operand(inst, 1, 64, &a)) {
      return false;
    }
    if (space == "global") {
      assign(inst, 0, a);
      return true;
    }
    if (space == "shared") {
      assign(inst, 0, sum(a, {kUniform, 64, "%shared"}, to));
      return true;
    }
  }
  return false;
}

} // namespace cudasim::engine
