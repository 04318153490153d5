// Arithmetic of integers, and of base + stride x lane. What each instruction
// means is told by its handler (engine/instructions).
#include <cstdint>
#include <string>

#include "cudasim/engine/translation/translator.h"
#include "cudasim/engine/translation/types.h"

namespace cudasim::engine {

/// An operation of LLVM's on integers, lane by lane.
Value Translator::plain(const std::string& op, const Value& a, const Value& b) {
  const bool vector = !a.shape.uniform() || !b.shape.uniform();
  const std::string type = type_of(a.bits, vector);
  const std::string first = vector ? ir_.lanes_of(a) : a.text;
  const std::string second = vector ? ir_.lanes_of(b) : b.text;
  return {
      vector ? kVarying : kUniform,
      a.bits,
      ir_.set(op + " " + type + " " + first + ", " + second)};
}

Value Translator::sum(const Value& a, const Value& b, bool subtract) {
  const std::string op = subtract ? "sub" : "add";
  if (!a.shape.affine || !b.shape.affine) {
    return plain(op, a, b);
  }
  const auto mine = static_cast<std::uint64_t>(a.shape.stride);
  const auto other = static_cast<std::uint64_t>(b.shape.stride);
  const std::uint64_t stride = subtract ? mine - other : mine + other;
  return {
      {true, cut(static_cast<std::int64_t>(stride), a.bits)},
      a.bits,
      ir_.set(
          op + " " + type_of(a.bits, false) + " " + a.text + ", " + b.text)};
}

Value Translator::product(const Value& a, const Value& b) {
  const bool scales = a.shape.affine && b.shape.uniform() && b.literal();
  if (!scales && b.shape.affine && a.shape.uniform() && a.literal()) {
    return product(b, a);
  }
  if (!scales || a.shape.stride == 0) {
    return plain("mul", a, b);
  }
  const std::int64_t stride = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(a.shape.stride) *
      static_cast<std::uint64_t>(literal_value(b)));
  return {
      {true, cut(stride, a.bits)},
      a.bits,
      ir_.set("mul " + type_of(a.bits, false) + " " + a.text + ", " + b.text)};
}

/// A value of twice the bits. An affine one that would wrap around in its own
/// width leaves the region before `inst`.
bool Translator::widen(
    const Inst& inst,
    const Value& a,
    bool is_signed,
    Value* wide) {
  const int bits = 2 * a.bits;
  const std::string op = is_signed ? "sext " : "zext ";
  *wide = {a.shape, bits, ""};
  if (!a.shape.affine) {
    wide->text = ir_.set(
        op + type_of(a.bits, true) + " " + a.text + " to " +
        type_of(bits, true));
    return true;
  }
  wide->text = ir_.set(
      op + type_of(a.bits, false) + " " + a.text + " to " +
      type_of(bits, false));
  if (a.shape.stride == 0) {
    return true;
  }
  const std::string type = type_of(bits, false);
  const std::string last = ir_.set(
      "add " + type + " " + wide->text + ", " +
      std::to_string(a.shape.stride * (kLanes - 1)));
  const std::string short_last =
      ir_.set("trunc " + type + " " + last + " to " + type_of(a.bits, false));
  const std::string again =
      ir_.set(op + type_of(a.bits, false) + " " + short_last + " to " + type);
  const std::string same =
      ir_.set("icmp eq " + type + " " + again + ", " + last);
  require(inst, same);
  return true;
}

bool Translator::integer(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  const std::string& op = opcode[0];
  const std::string& type = opcode.back();
  const int bits = bits_of(type, "us");
  if (bits == 0) {
    return false;
  }
  const bool is_signed = type[0] == 's';
  const std::string form = opcode.size() == 3 ? opcode[1] : "";
  Value a;
  Value b;
  Value c;
  if (opcode.size() == 2) {
    const bool two = op == "add" || op == "sub" || op == "min" || op == "max";
    if (two && operand(inst, 1, bits, &a) && operand(inst, 2, bits, &b)) {
      if (op == "add" || op == "sub") {
        assign(inst, 0, sum(a, b, op == "sub"));
        return true;
      }
      const bool vector = !a.shape.uniform() || !b.shape.uniform();
      const std::string name = std::string("@llvm.") + (is_signed ? "s" : "u") +
          op + "." + (vector ? "v32i" : "i") + std::to_string(bits);
      const std::string kind = type_of(bits, vector);
      const std::string first = vector ? ir_.lanes_of(a) : a.text;
      const std::string second = vector ? ir_.lanes_of(b) : b.text;
      assign(
          inst,
          0,
          {vector ? kVarying : kUniform,
           bits,
           ir_.set(
               "call " + kind + " " + name + "(" + kind + " " + first + ", " +
               kind + " " + second + ")")});
      return true;
    }
    if (op == "neg" && operand(inst, 1, bits, &a)) {
      assign(inst, 0, sum({kUniform, bits, "0"}, a, true));
      return true;
    }
    return false;
  }
  if (opcode.size() != 3 || (op != "mul" && op != "mad")) {
    return false;
  }
  if (form == "lo" && operand(inst, 1, bits, &a) &&
      operand(inst, 2, bits, &b) &&
      (op == "mul" || operand(inst, 3, bits, &c))) {
    const Value low = product(a, b);
    assign(inst, 0, op == "mul" ? low : sum(low, c, false));
    return true;
  }
  if (form == "wide" && bits != 64 && operand(inst, 1, bits, &a) &&
      operand(inst, 2, bits, &b) &&
      (op == "mul" || operand(inst, 3, 2 * bits, &c))) {
    Value wide_a;
    Value wide_b;
    widen(inst, a, is_signed, &wide_a);
    widen(inst, b, is_signed, &wide_b);
    if (b.literal()) {
      const std::int64_t value = literal_value(b);
      wide_b.text = std::to_string(
          is_signed ? value
                    : static_cast<std::int64_t>(
                          static_cast<std::uint64_t>(value) &
                          ((std::uint64_t{1} << bits) - 1)));
    }
    const Value whole = product(wide_a, wide_b);
    assign(inst, 0, op == "mul" ? whole : sum(whole, c, false));
    return true;
  }
  return false;
}

} // namespace cudasim::engine
