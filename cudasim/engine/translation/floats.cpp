// Floats, comparisons and selections.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "cudasim/engine/instructions/exponential.h"
#include "cudasim/engine/translation/helpers.h"
#include "cudasim/engine/translation/ir/value.h"
#include "cudasim/engine/translation/translator.h"

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

/// .ftz: zero of the same sign in the place of a number that is too small to be
/// normal.
std::string Translator::flushed(const std::string& x, bool vector) {
  const std::string type = type_of(32, vector);
  const std::string kind = float_type_of(32, vector);
  const auto masked = [&](const std::string& bits, const char* mask) {
    return ir_.binary("and", type, bits, integer_constant(mask, 32, vector));
  };
  const std::string bits = ir_.set("bitcast " + kind + " " + x + " to " + type);
  const std::string small = ir_.binary(
      "icmp eq",
      type,
      masked(bits, "2139095040"),
      vector ? "zeroinitializer" : "0");
  const std::string zero = ir_.set(
      "bitcast " + type + " " + masked(bits, "-2147483648") + " to " + kind);
  return chosen(small, zero, x, 32, vector);
}

/// .sat: to [0, 1], NaN to 0.
std::string Translator::saturated(const std::string& x, int bits, bool vector) {
  const std::string kind = float_type_of(bits, vector);
  const std::string zero = real_constant(0, bits, vector);
  const std::string one = real_constant(1, bits, vector);
  const std::string above = ir_.binary("fcmp ogt", kind, x, zero);
  const std::string below = ir_.binary("fcmp olt", kind, x, one);
  const std::string least = chosen(below, x, one, bits, vector);
  return chosen(above, least, zero, bits, vector);
}

/// One of two floats, or of each lane's.
std::string Translator::chosen(
    const std::string& condition,
    const std::string& then,
    const std::string& otherwise,
    int bits,
    bool vector) {
  const std::string kind = float_type_of(bits, vector);
  return ir_.set(
      (vector ? "select <32 x i1> " : "select i1 ") + condition + ", " + kind +
      " " + then + ", " + kind + " " + otherwise);
}

/// ex2.approx, step by step as its handler computes it.
std::string Translator::exponential(const std::string& a, bool vector) {
  const std::string kind = float_type_of(32, vector);
  const std::string type = type_of(32, vector);
  const auto constant = [&](double number) {
    return real_constant(number, 32, vector);
  };
  const auto integer = [&](std::int32_t number) {
    return integer_constant(std::to_string(number), 32, vector);
  };
  const auto limited = [&](const char* is_beyond,
                           const std::string& x,
                           float limit) {
    const std::string beyond = ir_.binary(is_beyond, kind, x, constant(limit));
    return chosen(beyond, constant(limit), x, 32, vector);
  };
  const auto power = [&](const std::string& exponent) {
    const std::string biased =
        ir_.binary("add", type, exponent, integer(Exponential::kBias));
    const std::string bits =
        ir_.binary("shl", type, biased, integer(Exponential::kFractionBits));
    return ir_.set("bitcast " + type + " " + bits + " to " + kind);
  };
  const std::string below = limited("fcmp ogt", a, Exponential::kMost);
  const std::string x = limited("fcmp olt", below, Exponential::kLeast);
  const std::string shifted =
      ir_.binary("fadd", kind, x, constant(Exponential::kWhole));
  const std::string whole =
      ir_.binary("fsub", kind, shifted, constant(Exponential::kWhole));
  const std::string rest = ir_.binary("fsub", kind, x, whole);
  std::uint32_t whole_bits = 0;
  std::memcpy(&whole_bits, &Exponential::kWhole, sizeof(whole_bits));
  const std::string n = ir_.binary(
      "sub",
      type,
      ir_.set("bitcast " + kind + " " + shifted + " to " + type),
      integer(static_cast<std::int32_t>(whole_bits)));
  const std::string half = ir_.binary("ashr", type, n, integer(1));
  std::string sum = constant(Exponential::kSeries[0]);
  for (int i = 1; i < Exponential::kTerms; ++i) {
    const std::string scaled = ir_.binary("fmul", kind, sum, rest);
    sum = ir_.binary("fadd", kind, scaled, constant(Exponential::kSeries[i]));
  }
  const std::string first = ir_.binary("fmul", kind, sum, power(half));
  const std::string other = power(ir_.binary("sub", type, n, half));
  return ir_.binary("fmul", kind, first, other);
}

/// rsqrt.approx, in double precision as its handler computes it.
std::string Translator::inverse_root(const std::string& x, bool vector) {
  const std::string kind = float_type_of(32, vector);
  const std::string wide = float_type_of(64, vector);
  const std::string longer = ir_.set("fpext " + kind + " " + x + " to " + wide);
  const std::string root = ir_.set(
      "call " + wide + " @llvm.sqrt." + (vector ? "v32f64(" : "f64(") + wide +
      " " + longer + ")");
  const std::string one = vector ? "splat (double 1.0)" : "1.0";
  const std::string quotient = ir_.binary("fdiv", wide, one, root);
  return ir_.set("fptrunc " + wide + " " + quotient + " to " + kind);
}

/// The one NaN that devices give.
std::string Translator::device_nan(int bits, bool vector) {
  const char* const ones = bits == 64 ? "9223372036854775807" : "2147483647";
  return ir_.set(
      "bitcast " + type_of(bits, vector) + " " +
      integer_constant(ones, bits, vector) + " to " +
      float_type_of(bits, vector));
}

/// The greater of two floats, or the lesser. NaN loses against a number; -0 is
/// less than +0.
std::string Translator::extreme(
    bool most,
    const std::string& a,
    const std::string& b,
    int bits,
    bool vector) {
  const std::string kind = float_type_of(bits, vector);
  const std::string type = type_of(bits, vector);
  const auto choose = [&](const std::string& condition,
                          const std::string& then,
                          const std::string& otherwise) {
    return chosen(condition, then, otherwise, bits, vector);
  };
  const std::string a_bits =
      ir_.set("bitcast " + kind + " " + a + " to " + type);
  const std::string a_negative =
      ir_.binary("icmp slt", type, a_bits, integer_constant("0", bits, vector));
  const std::string less = ir_.binary("fcmp olt", kind, a, b);
  const std::string equal = ir_.binary("fcmp oeq", kind, a, b);
  const std::string a_nan = ir_.binary("fcmp uno", kind, a, a);
  const std::string b_nan = ir_.binary("fcmp uno", kind, b, b);
  // (a < b) == most ? b : a
  const std::string ordered = most ? choose(less, b, a) : choose(less, a, b);
  // a == b: signbit(a) == most ? b : a
  const std::string same =
      most ? choose(a_negative, b, a) : choose(a_negative, a, b);
  const std::string numbers = choose(equal, same, ordered);
  const std::string without_b = choose(b_nan, a, numbers);
  const std::string nan = device_nan(bits, vector);
  return choose(a_nan, choose(b_nan, nan, b), without_b);
}

/// Arithmetic that is not rounded to nearest: by a function that changes the
/// processor's rounding mode, as LLVM's own arithmetic does not heed it.
bool Translator::rounded(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  if (opcode.size() != 3 || opcode[2] != "f32") {
    return false;
  }
  int operands = 0;
  RoundedArithmetic* const function =
      rounded_arithmetic(opcode[0], opcode[1], &operands);
  if (function == nullptr) {
    return false;
  }
  std::string x[3];
  for (int i = 0; i < operands; ++i) {
    Value value;
    if (!operand(inst, 1 + i, 32, &value)) {
      return false;
    }
    x[i] = ir_.lanes_of(value);
  }
  const std::string lanes = type_of(32, true);
  for (int i = 0; i < operands; ++i) {
    const auto offset = static_cast<std::uint64_t>(i) * 4 * kLanes;
    ir_.line(
        "store " + lanes + " " + x[i] + ", ptr " + ir_.at("%numbers", offset) +
        ", align 8");
  }
  ir_.line(
      "call void " + pointer_to(reinterpret_cast<const void*>(function)) +
      "(ptr %numbers)");
  assign(
      inst,
      0,
      {kVarying, 32, ir_.set("load " + lanes + ", ptr %numbers, align 8")});
  return true;
}

/// Arithmetic of floats, rounded to nearest; approximations but that of powers
/// are exact here.
bool Translator::real(const Inst& inst) {
  const Form& form = form_of(inst);
  const std::vector<std::string>& opcode = form.operation;
  const bool flushes = form.flushes;
  const int bits = bits_of(opcode.back(), "f");
  if (bits != 32 && (bits != 64 || flushes)) {
    return false;
  }
  const std::string& op = opcode[0];
  const bool rounds = opcode.size() == 3 && opcode[1] == "rn";
  const bool near = opcode.size() == 3 && bits == 32 &&
      (opcode[1] == "approx" || opcode[1] == "full");
  const bool keeps_nan = opcode.size() == 3 && opcode[1] == "NaN";
  if (opcode.size() != 2 && !rounds && !near && !keeps_nan) {
    return !flushes && !form.saturates && rounded(inst, opcode);
  }
  const bool plain_two = op == "div"
      ? rounds || near
      : !near && (op == "add" || op == "sub" || op == "mul");
  const bool limits =
      (op == "min" || op == "max") && (opcode.size() == 2 || keeps_nan);
  const bool fused = (op == "fma" || op == "mad") && rounds;
  const bool sign = (op == "neg" || op == "abs") && opcode.size() == 2;
  const bool root = op == "sqrt" && (rounds || near);
  const bool inverse = op == "rcp" && (rounds || near);
  const bool inverts_root = op == "rsqrt" && near;
  const bool power = op == "ex2" && near;
  if ((!plain_two && !limits && !fused && !sign && !root && !inverse &&
       !inverts_root && !power) ||
      (sign && flushes)) {
    return false;
  }
  // min and max have rows of two sources and of three.
  const int count = fused ? 3 : limits ? form.sources : plain_two ? 2 : 1;
  if (count != form.sources || count > 3) {
    return false;
  }
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
  if (!limits && std::all_of(values, values + count, [](const Value& value) {
        return value.literal();
      })) {
    return false; // the NaN that LLVM computes has another sign
  }
  std::string x[3];
  for (int i = 0; i < count; ++i) {
    x[i] = as_real(values[i], vector);
    if (flushes) {
      x[i] = flushed(x[i], vector);
    }
  }
  const std::string suffix =
      std::string(vector ? "v32f" : "f") + std::to_string(bits);
  std::string result;
  if (plain_two) {
    result = ir_.binary("f" + op, kind, x[0], x[1]);
  } else if (fused) {
    result = ir_.set(
        "call " + kind + " @llvm.fma." + suffix + "(" + kind + " " + x[0] +
        ", " + kind + " " + x[1] + ", " + kind + " " + x[2] + ")");
  } else if (root) {
    result = ir_.set(
        "call " + kind + " @llvm.sqrt." + suffix + "(" + kind + " " + x[0] +
        ")");
  } else if (inverts_root) {
    result = inverse_root(x[0], vector);
  } else if (inverse) {
    const std::string one =
        vector ? "splat (" + float_type_of(bits, false) + " 1.0)" : "1.0";
    result = ir_.binary("fdiv", kind, one, x[0]);
  } else if (power) {
    result = exponential(x[0], vector);
  } else {
    result = extreme(op == "max", x[0], x[1], bits, vector);
    if (count == 3) {
      result = extreme(op == "max", result, x[2], bits, vector);
    }
    for (int i = 0; keeps_nan && i < count; ++i) {
      const std::string nan = ir_.binary("fcmp uno", kind, x[i], x[i]);
      result = chosen(nan, device_nan(bits, vector), result, bits, vector);
    }
  }
  if (flushes) {
    result = flushed(result, vector);
  }
  if (form.saturates) {
    result = saturated(result, bits, vector);
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
       ir_.binary(condition, kind, first, second)});
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

} // namespace cudasim::engine
