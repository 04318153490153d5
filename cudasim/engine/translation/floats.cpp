// Floats, comparisons, conversions and moves.
#include <algorithm>
#include <map>
#include <string>

#include "cudasim/engine/translation/translator.h"
#include "cudasim/engine/translation/value.h"

namespace cudasim::engine {

std::string Translator::as_real(const Value& value, bool vector) {
  return ir_.set(
      "bitcast " + type_of(value.bits, vector) + " " +
      (vector ? ir_.lanes_of(value) : value.text) + " to " +
      float_type_of(value.bits, vector));
}

Value Translator::real_value(const std::string& text, int bits, bool vector) {
  return {
      vector ? kVarying : kUniform,
      bits,
      ir_.set(
          "bitcast " + float_type_of(bits, vector) + " " + text + " to " +
          type_of(bits, vector))};
}

/// Arithmetic of floats, rounded to nearest; approximations are exact here.
bool Translator::real(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  const std::string& op = opcode[0];
  const int bits = bits_of(opcode.back(), "f");
  if (bits != 32 && bits != 64) {
    return false;
  }
  const bool rounds = opcode.size() == 3 && opcode[1] == "rn";
  const bool near = opcode.size() == 3 && bits == 32 &&
      (opcode[1] == "approx" || opcode[1] == "full");
  if (opcode.size() != 2 && !rounds && !near) {
    return false;
  }
  const bool plain_two = op == "div"
      ? rounds || near
      : !near && (op == "add" || op == "sub" || op == "mul");
  const bool extreme = (op == "min" || op == "max") && opcode.size() == 2;
  const bool fused = (op == "fma" || op == "mad") && rounds;
  const bool sign = (op == "neg" || op == "abs") && opcode.size() == 2;
  const bool root = op == "sqrt" && (rounds || near);
  const bool inverse = op == "rcp" && (rounds || near);
  const bool inverse_root = op == "rsqrt" && near;
  if (!plain_two && !extreme && !fused && !sign && !root && !inverse &&
      !inverse_root) {
    return false;
  }
  const int count = fused ? 3 : plain_two || extreme ? 2 : 1;
  Value values[3];
  bool vector = false;
  for (int i = 0; i < count; ++i) {
    if (!operand(inst, 1 + i, bits, &values[i])) {
      return false;
    }
    vector = vector || !values[i].shape.uniform();
  }
  const std::string kind = float_type_of(bits, vector);
  if (sign) {
    const std::string top = bits == 64 ? "9223372036854775808" : "2147483648";
    const std::string rest = bits == 64 ? "9223372036854775807" : "2147483647";
    assign(
        inst,
        0,
        op == "neg" ? plain("xor", values[0], {kUniform, bits, top})
                    : plain("and", values[0], {kUniform, bits, rest}));
    return true;
  }
  if (!extreme && std::all_of(values, values + count, [](const Value& value) {
        return value.literal();
      })) {
    return false; // the NaN that LLVM computes has another sign
  }
  std::string x[3];
  for (int i = 0; i < count; ++i) {
    x[i] = as_real(values[i], vector);
  }
  const std::string suffix =
      std::string(vector ? "v32f" : "f") + std::to_string(bits);
  std::string result;
  if (plain_two) {
    result = ir_.set("f" + op + " " + kind + " " + x[0] + ", " + x[1]);
  } else if (fused) {
    result = ir_.set(
        "call " + kind + " @llvm.fma." + suffix + "(" + kind + " " + x[0] +
        ", " + kind + " " + x[1] + ", " + kind + " " + x[2] + ")");
  } else if (root) {
    result = ir_.set(
        "call " + kind + " @llvm.sqrt." + suffix + "(" + kind + " " + x[0] +
        ")");
  } else if (inverse_root) {
    const std::string wide = float_type_of(64, vector);
    const std::string longer =
        ir_.set("fpext " + kind + " " + x[0] + " to " + wide);
    const std::string square = ir_.set(
        "call " + wide + " @llvm.sqrt." + (vector ? "v32f64(" : "f64(") + wide +
        " " + longer + ")");
    const std::string one = vector ? "splat (double 1.0)" : "1.0";
    const std::string quotient =
        ir_.set("fdiv " + wide + " " + one + ", " + square);
    result = ir_.set("fptrunc " + wide + " " + quotient + " to " + kind);
  } else if (inverse) {
    const std::string one =
        vector ? "splat (" + float_type_of(bits, false) + " 1.0)" : "1.0";
    result = ir_.set("fdiv " + kind + " " + one + ", " + x[0]);
  } else {
    // NaN loses against a number; -0 is less than +0.
    const std::string bit = vector ? "<32 x i1> " : "i1 ";
    const std::string number =
        vector ? "splat (" + type_of(bits, false) + " 0)" : "0";
    const Value& a = values[0];
    const std::string a_bits = vector ? ir_.lanes_of(a) : a.text;
    const std::string a_negative = ir_.set(
        "icmp slt " + type_of(bits, vector) + " " + a_bits + ", " + number);
    const std::string less =
        ir_.set("fcmp olt " + kind + " " + x[0] + ", " + x[1]);
    const std::string equal =
        ir_.set("fcmp oeq " + kind + " " + x[0] + ", " + x[1]);
    const std::string a_nan =
        ir_.set("fcmp uno " + kind + " " + x[0] + ", " + x[0]);
    const std::string b_nan =
        ir_.set("fcmp uno " + kind + " " + x[1] + ", " + x[1]);
    const auto choose = [&](const std::string& condition,
                            const std::string& then,
                            const std::string& otherwise) {
      return ir_.set(
          "select " + bit + condition + ", " + kind + " " + then + ", " + kind +
          " " + otherwise);
    };
    const bool most = op == "max";
    // (a < b) == most ? b : a
    const std::string ordered =
        most ? choose(less, x[1], x[0]) : choose(less, x[0], x[1]);
    // a == b: signbit(a) == most ? b : a
    const std::string same =
        most ? choose(a_negative, x[1], x[0]) : choose(a_negative, x[0], x[1]);
    const std::string numbers = choose(equal, same, ordered);
    const std::string without_b = choose(b_nan, x[0], numbers);
    // Both NaN: the one that devices give.
    const std::string nan_bits =
        bits == 64 ? "9223372036854775807" : "2147483647";
    const std::string nan = ir_.set(
        "bitcast " + type_of(bits, vector) + " " +
        (vector ? "splat (" + type_of(bits, false) + " " + nan_bits + ")"
                : nan_bits) +
        " to " + kind);
    const std::string of_b = choose(b_nan, nan, x[1]);
    result = choose(a_nan, of_b, without_b);
  }
  assign(inst, 0, real_value(result, bits, vector));
  return true;
}

bool Translator::compare(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  if (opcode[0] != "setp" || opcode.size() != 3 || inst.destinations != 2 ||
      inst.operands[1] != kNoSlot) {
    return false;
  }
  const std::string& how = opcode[1];
  const std::string& type = opcode[2];
  const bool is_real = type[0] == 'f';
  const int bits = bits_of(type, "busf");
  Value a;
  Value b;
  if (bits == 0 || (is_real && bits == 16) || !operand(inst, 2, bits, &a) ||
      !operand(inst, 3, bits, &b)) {
    return false;
  }
  // The tables are not destroyed: threads may outlive main().
  std::string condition;
  if (is_real) {
    static const auto& kReal = *new std::map<std::string, std::string>{
        {"eq", "oeq"},
        {"ne", "one"},
        {"lt", "olt"},
        {"le", "ole"},
        {"gt", "ogt"},
        {"ge", "oge"},
        {"equ", "ueq"},
        {"neu", "une"},
        {"ltu", "ult"},
        {"leu", "ule"},
        {"gtu", "ugt"},
        {"geu", "uge"},
        {"num", "ord"},
        {"nan", "uno"}};
    const auto found = kReal.find(how);
    if (found == kReal.end()) {
      return false;
    }
    condition = "fcmp " + found->second;
  } else {
    static const auto& kInteger = *new std::map<std::string, std::string>{
        {"eq", "eq"},
        {"ne", "ne"},
        {"lt", "lt"},
        {"le", "le"},
        {"gt", "gt"},
        {"ge", "ge"},
        {"lo", "lt"},
        {"ls", "le"},
        {"hi", "gt"},
        {"hs", "ge"}};
    const auto found = kInteger.find(how);
    if (found == kInteger.end()) {
      return false;
    }
    const bool equality = how == "eq" || how == "ne";
    condition = "icmp " +
        (equality ? "" : std::string(type[0] == 's' ? "s" : "u")) +
        found->second;
  }
  const bool vector = !a.shape.uniform() || !b.shape.uniform();
  const std::string first = is_real ? as_real(a, vector)
      : vector                      ? ir_.lanes_of(a)
                                    : a.text;
  const std::string second = is_real ? as_real(b, vector)
      : vector                       ? ir_.lanes_of(b)
                                     : b.text;
  const std::string kind =
      is_real ? float_type_of(bits, vector) : type_of(bits, vector);
  assign(
      inst,
      0,
      {vector ? kVarying : kUniform,
       1,
       ir_.set(condition + " " + kind + " " + first + ", " + second)});
  return true;
}

bool Translator::select(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  const int bits = bits_of(opcode.back(), "busf");
  Value a;
  Value b;
  if (opcode[0] != "selp" || opcode.size() != 2 || bits == 0 ||
      !operand(inst, 1, bits, &a) || !operand(inst, 2, bits, &b)) {
    return false;
  }
  assign(inst, 0, blend(predicate_of(inst, 3), a, b));
  return true;
}

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
