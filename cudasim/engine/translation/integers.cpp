// Arithmetic of integers, and of base + stride x lane. What each instruction
// means is told by its handler (engine/instructions).
#include <cstdint>
#include <string>

#include "cudasim/engine/translation/ir/value.h"
#include "cudasim/engine/translation/translator.h"

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
      ir_.binary(op, type, first, second)};
}

/// A value of another width, lane by lane: cut, or extended.
Value Translator::resized(const Value& a, int bits, bool is_signed) {
  const bool vector = !a.shape.uniform();
  const std::string text = vector ? ir_.lanes_of(a) : a.text;
  return {
      vector ? kVarying : kUniform,
      bits,
      ir_.resized(text, a.bits, bits, is_signed, vector)};
}

Value Translator::sum(const Value& a, const Value& b, bool subtract) {
  const std::string op = subtract ? "sub" : "add";
  if (!a.shape.affine || !b.shape.affine) {
    return plain(op, a, b);
  }
  return {
      sum_of(a.shape, b.shape, subtract ? -1 : 1, a.bits),
      a.bits,
      ir_.binary(op, type_of(a.bits, false), a.text, b.text)};
}

Value Translator::product(const Value& a, const Value& b) {
  const bool scales = a.shape.affine && b.shape.uniform() && b.literal();
  if (!scales && b.shape.affine && a.shape.uniform() && a.literal()) {
    return product(b, a);
  }
  if (!scales || a.shape.uniform()) {
    return plain("mul", a, b);
  }
  return {
      sum_of(kUniform, a.shape, literal_value(b), a.bits),
      a.bits,
      ir_.binary("mul", type_of(a.bits, false), a.text, b.text)};
}

/// The upper half of a product.
Value Translator::high_product(const Value& a, const Value& b, bool is_signed) {
  const bool vector = !a.shape.uniform() || !b.shape.uniform();
  const std::string type = type_of(a.bits, vector);
  const std::string wide = type_of(2 * a.bits, vector);
  const auto widened = [&](const Value& value) {
    return ir_.set(
        (is_signed ? "sext " : "zext ") + type + " " +
        (vector ? ir_.lanes_of(value) : value.text) + " to " + wide);
  };
  const std::string first = widened(a);
  const std::string second = widened(b);
  const ValueShape shape = vector ? kVarying : kUniform;
  const Value whole{shape, 2 * a.bits, ir_.binary("mul", wide, first, second)};
  const Value half{kUniform, 2 * a.bits, std::to_string(a.bits)};
  const Value high = plain("lshr", whole, half);
  return {
      shape,
      a.bits,
      ir_.set("trunc " + wide + " " + high.text + " to " + type)};
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
  if (!a.shape.affine || (was_left_at(inst) && !a.shape.uniform())) {
    wide->shape = kVarying;
    wide->text = ir_.set(
        op + type_of(a.bits, true) + " " + ir_.lanes_of(a) + " to " +
        type_of(bits, true));
    return true;
  }
  wide->text = ir_.set(
      op + type_of(a.bits, false) + " " + a.text + " to " +
      type_of(bits, false));
  const std::string type = type_of(bits, false);
  for (const std::int64_t beyond : {a.shape.least(), a.shape.most()}) {
    if (beyond == 0) {
      continue;
    }
    const std::string last = ir_.set(
        "add " + type + " " + wide->text + ", " + std::to_string(beyond));
    const std::string short_last =
        ir_.set("trunc " + type + " " + last + " to " + type_of(a.bits, false));
    const std::string again =
        ir_.set(op + type_of(a.bits, false) + " " + short_last + " to " + type);
    const std::string same =
        ir_.set("icmp eq " + type + " " + again + ", " + last);
    require(inst, same);
  }
  return true;
}

/// A function of the module: the quotients of 32 bits of all lanes by a number
/// that they have alike and that is not zero. It is a product's upper half, as
/// compilers make of a constant divisor (T. Granlund, P. L. Montgomery,
/// "Division by Invariant Integers using Multiplication", figure 4.1); of
/// numbers with signs, by their magnitudes.
std::string Translator::write_quotient_by(bool is_signed) {
  const std::string type = type_of(32, true);
  const auto all = [&](const std::string& number) {
    return ir_.lanes_of({kUniform, 32, number});
  };
  std::string n = "%n";
  std::string d = "%d";
  if (is_signed) { // that of the least number is right without a sign
    n = ir_.set(
        "call " + type + " @llvm.abs.v32i32(" + type + " %n, i1 false)");
    d = ir_.set("call i32 @llvm.abs.i32(i32 %d, i1 false)");
  }
  // The power of two that is not below the divisor, and what that is more, in
  // units of the divisor.
  const std::string less = ir_.binary("add", "i32", d, "-1");
  const std::string zeros =
      ir_.set("call i32 @llvm.ctlz.i32(i32 " + less + ", i1 false)");
  const std::string exponent = ir_.binary("sub", "i32", "32", zeros);
  const std::string wide_exponent = ir_.set("zext i32 " + exponent + " to i64");
  const std::string wide = ir_.set("zext i32 " + d + " to i64");
  const std::string power = ir_.binary("shl", "i64", "1", wide_exponent);
  const std::string more = ir_.binary("sub", "i64", power, wide);
  const std::string scaled = ir_.binary("shl", "i64", more, "32");
  const std::string ratio = ir_.binary("udiv", "i64", scaled, wide);
  const std::string next = ir_.binary("add", "i64", ratio, "1");
  const std::string factor = ir_.set("trunc i64 " + next + " to i32");
  const std::string first =
      ir_.set("call i32 @llvm.umin.i32(i32 " + exponent + ", i32 1)");
  const std::string second = ir_.binary("sub", "i32", exponent, first);
  const Value product =
      high_product({kVarying, 32, n}, {kUniform, 32, factor}, false);
  const std::string above = ir_.binary("sub", type, n, product.text);
  const std::string rest = ir_.binary("lshr", type, above, all(first));
  const std::string whole = ir_.binary("add", type, product.text, rest);
  const std::string quotient = ir_.binary("lshr", type, whole, all(second));
  if (!is_signed) {
    return quotient;
  }
  const std::string differing = ir_.binary("xor", type, "%n", all("%d"));
  const std::string signs = ir_.binary("ashr", type, differing, all("31"));
  const std::string turned = ir_.binary("xor", type, quotient, signs);
  return ir_.binary("sub", type, turned, signs);
}

/// A function of the module: the quotients of numbers by others that are not
/// zero. A double holds each of the numbers, and their rounded ratio is at
/// least an integer only where the exact one is: another is further away from
/// it than rounding goes.
std::string Translator::write_quotient_of_lanes(bool is_signed) {
  const std::string type = type_of(32, true);
  const std::string real = float_type_of(64, true);
  const auto converted = [&](const std::string& number) {
    return ir_.set(
        (is_signed ? "sitofp " : "uitofp ") + type + " " + number + " to " +
        real);
  };
  const auto quotient = [&](const std::string& by) {
    const std::string first = converted("%n");
    const std::string ratio = ir_.binary("fdiv", real, first, converted(by));
    return ir_.set(
        (is_signed ? "fptosi " : "fptoui ") + real + " " + ratio + " to " +
        type);
  };
  if (!is_signed) {
    return quotient("%d");
  }
  // The least number's quotient by -1 is beyond what there is.
  const std::string negates =
      ir_.binary("icmp eq", type, "%d", integer_constant("-1", 32, true));
  const auto either = [&](const std::string& then,
                          const std::string& otherwise) {
    return ir_.set(
        "select <32 x i1> " + negates + ", " + type + " " + then + ", " + type +
        " " + otherwise);
  };
  const std::string one = integer_constant("1", 32, true);
  const std::string negative = ir_.binary("sub", type, "zeroinitializer", "%n");
  return either(negative, quotient(either(one, "%d")));
}

/// Division of 32 bits in each lane; by zero it gives all ones.
void Translator::divide_lanes(
    const Inst& inst,
    const Value& a,
    const Value& b,
    bool is_signed,
    bool remainder) {
  const bool by_one = b.shape.uniform();
  const std::string type = type_of(32, true);
  const std::string dividend = ir_.lanes_of(a);
  const std::int64_t number = by_one && b.literal() ? literal_value(b) : 0;
  if (number != 0 && (!is_signed || number != -1)) {
    const std::string op =
        std::string(is_signed ? "s" : "u") + (remainder ? "rem" : "div");
    const std::string result = ir_.binary(op, type, dividend, ir_.lanes_of(b));
    assign(inst, 0, {kVarying, 32, result});
    return;
  }
  const std::string kind = type_of(32, !by_one);
  const std::string given = by_one ? b.text : ir_.lanes_of(b);
  const std::string by_zero =
      ir_.binary("icmp eq", kind, given, by_one ? "0" : "zeroinitializer");
  const std::string choose =
      "select " + type_of(1, !by_one) + " " + by_zero + ", ";
  const std::string divisor = ir_.set(
      choose + kind + " " + integer_constant("1", 32, !by_one) + ", " + kind +
      " " + given);
  const std::string name = std::string("@") + (is_signed ? "s" : "u") +
      (by_one ? "quotient_by" : "quotient");
  define(name, type, type + " %n, " + kind + " %d", [&] {
    return by_one ? write_quotient_by(is_signed)
                  : write_quotient_of_lanes(is_signed);
  });
  const std::string quotient = ir_.set(
      "call " + type + " " + name + "(" + type + " " + dividend + ", " + kind +
      " " + divisor + ")");
  std::string result = quotient;
  if (remainder) {
    const std::string times =
        ir_.binary("mul", type, quotient, ir_.lanes_of(b));
    result = ir_.binary("sub", type, dividend, times);
  }
  const std::string known = ir_.set(
      choose + type + " " + integer_constant("-1", 32, true) + ", " + type +
      " " + result);
  assign(inst, 0, {kVarying, 32, known});
}

/// Affine values by what all lanes have alike have the same quotient in all
/// lanes, unless they leave the region before `inst`: rows of images are as
/// long as several warps, mostly.
bool Translator::divide(const Inst& inst, bool is_signed, bool remainder) {
  Value a;
  Value b;
  const int bits = 8 * inst.widths[0];
  if ((bits != 32 && bits != 64) || !operand(inst, 1, bits, &a) ||
      !operand(inst, 2, bits, &b)) {
    return false;
  }
  if (!a.shape.affine || !b.shape.uniform() || was_left_at(inst)) {
    if (bits == 32) {
      divide_lanes(inst, a, b, is_signed, remainder);
    }
    return bits == 32;
  }
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  for (const std::int64_t part : {a.shape.stride, a.shape.row}) {
    if (part > kFar || part < -kFar) {
      return false;
    }
  }
  const std::string type = type_of(bits, false);
  const auto wide = [&](const std::string& text) {
    return bits == 64 ? text
                      : ir_.set(
                            std::string(is_signed ? "sext" : "zext") + " " +
                            type + " " + text + " to i64");
  };
  const auto beyond = [&](const std::string& from, std::int64_t offset) {
    return ir_.set("add i64 " + from + ", " + std::to_string(offset));
  };
  const auto both = [&](const std::string& first, const std::string& second) {
    return ir_.set("and i1 " + first + ", " + second);
  };
  // Neither negative nor close to where numbers end.
  const std::string most = bits == 64 ? std::to_string(std::int64_t{1} << 62)
      : is_signed                     ? "2147483647"
                                      : "4294967295";
  const std::string base = wide(a.text);
  const std::string divisor = wide(b.text);
  const std::string positive = ir_.set("icmp sgt i64 " + divisor + ", 0");
  const std::string least =
      ir_.set("icmp sge i64 " + beyond(base, a.shape.least()) + ", 0");
  const std::string inside =
      ir_.set("icmp sle i64 " + beyond(base, a.shape.most()) + ", " + most);
  // So that no sum here wraps around.
  const std::string plain_base = ir_.set("icmp ule i64 " + base + ", " + most);
  require(inst, both(both(positive, plain_base), both(least, inside)));
  const std::string quotient = ir_.binary("udiv", type, a.text, b.text);
  const std::string times = ir_.binary("mul", type, quotient, b.text);
  const std::string rest = ir_.binary("sub", type, a.text, times);
  if (!a.shape.uniform()) {
    const std::string wide_rest = wide(rest);
    const std::string first =
        ir_.set("icmp sge i64 " + beyond(wide_rest, a.shape.least()) + ", 0");
    const std::string last = ir_.set(
        "icmp slt i64 " + beyond(wide_rest, a.shape.most()) + ", " + divisor);
    require(inst, both(first, last));
  }
  assign(
      inst,
      0,
      remainder ? Value{a.shape, bits, rest} : Value{kUniform, bits, quotient});
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
  if (opcode.size() == 2 && (op == "div" || op == "rem")) {
    return divide(inst, is_signed, op == "rem");
  }
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
  if (form == "hi" && bits != 64 && operand(inst, 1, bits, &a) &&
      operand(inst, 2, bits, &b) &&
      (op == "mul" || operand(inst, 3, bits, &c))) {
    const Value high = high_product(a, b, is_signed);
    assign(inst, 0, op == "mul" ? high : sum(high, c, false));
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
