// Logic, shifts, and fields of bits.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cudasim/engine/translation/ir/value.h"
#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {

/// Whether a region was left, or another one may have been, before `inst`,
/// because operands are not what require() wants: none begins there for another
/// reason, mostly.
bool Translator::was_left_at(const Inst& inst) const {
  return inst.index == entry_ || general_.count(inst.index) != 0;
}

/// Leaves the region before `inst` where operands are not as the code hopes,
/// which is kept in mind: see was_left_at(). @returns the label.
std::string Translator::where_hope_fails(const Inst& inst) {
  hopes_.insert(inst.index);
  return cold_exit(inst.index, RegionEnd::kGoesOn);
}

/// Goes on with `inst` only where a condition holds, as the code hopes.
void Translator::require(const Inst& inst, const std::string& condition) {
  const std::string on = ir_.label();
  ir_.branch(condition, on, where_hope_fails(inst));
  ir_.begin(on);
}

/// Bits of base + stride x lane (straight), as Triton makes addresses: the
/// lanes' part takes bits of its own where the stride is a power of two and the
/// base a multiple of 32 strides, which is looked at.
/// @param b all lanes alike. @returns false where that cannot be used.
bool Translator::bits_of_ramp(
    const Inst& inst,
    const std::string& op,
    const Value& a,
    const Value& b) {
  const std::int64_t stride = a.shape.stride;
  if (was_left_at(inst) || stride <= 0 || (stride & (stride - 1)) != 0 ||
      stride > 1 << 20) {
    return false;
  }
  const std::int64_t block = stride * kLanes;
  const std::int64_t lanes = block - stride; // the bits of stride x lane
  const std::string type = type_of(a.bits, false);
  std::int64_t kept = stride;
  if (op == "and") {
    if (!b.literal()) {
      return false;
    }
    const std::int64_t mask = literal_value(b);
    if ((mask & lanes) != lanes && (mask & lanes) != 0) {
      return false;
    }
    kept = (mask & lanes) == 0 ? 0 : stride;
  }
  const std::string low =
      ir_.set("and " + type + " " + a.text + ", " + std::to_string(block - 1));
  std::string good = ir_.set("icmp eq " + type + " " + low + ", 0");
  if (op != "and") {
    const std::string both =
        ir_.set("and " + type + " " + b.text + ", " + std::to_string(lanes));
    const std::string apart = ir_.set("icmp eq " + type + " " + both + ", 0");
    good = ir_.set("and i1 " + good + ", " + apart);
  }
  require(inst, good);
  assign(
      inst,
      0,
      {{true, kept, kept * kRowLanes},
       a.bits,
       ir_.set(op + " " + type + " " + a.text + ", " + b.text)});
  return true;
}

/// (base + stride x lane) >> amount, where that is the same for all lanes, such
/// as the number of a warp, or of the rounds that are left to it.
bool Translator::shifted_ramp(
    const Inst& inst,
    const Value& a,
    std::int64_t amount) {
  constexpr std::int64_t kFar = std::int64_t{1} << 30;
  const std::int64_t stride = a.shape.stride;
  // The product could wrap around: the stride is looked at.
  if (was_left_at(inst) || stride == 0 || stride > kFar || stride < -kFar ||
      amount > 30) {
    return false;
  }
  const std::int64_t mask = (std::int64_t{1} << amount) - 1;
  const std::int64_t extent = std::abs(stride) * (kLanes - 1);
  if (extent > mask) {
    return false;
  }
  const std::string type = type_of(a.bits, false);
  const std::string low =
      ir_.set("and " + type + " " + a.text + ", " + std::to_string(mask));
  const std::string inside = stride > 0
      ? "icmp ule " + type + " " + low + ", " + std::to_string(mask - extent)
      : "icmp uge " + type + " " + low + ", " + std::to_string(extent);
  require(inst, ir_.set(inside));
  return true;
}

/// Shifts by any amount: LLVM's are not total.
Value Translator::shifted(
    bool left,
    bool is_signed,
    const Value& a,
    const Value& amount) {
  const bool vector = !a.shape.uniform() || !amount.shape.uniform();
  const std::string type = type_of(a.bits, vector);
  const std::string words = type_of(32, vector);
  const auto all = [&](int bits, int number) {
    const Value value{kUniform, bits, std::to_string(number)};
    return vector ? ir_.lanes_of(value) : value.text;
  };
  const std::string given = vector ? ir_.lanes_of(amount) : amount.text;
  const std::string inside =
      ir_.set("icmp ult " + words + " " + given + ", " + all(32, a.bits));
  const std::string bit = vector ? "<32 x i1> " : "i1 ";
  const auto otherwise = [&](const std::string& kind,
                             const std::string& value,
                             const std::string& beyond) {
    return ir_.set(
        "select " + bit + inside + ", " + kind + " " + value + ", " + kind +
        " " + beyond);
  };
  std::string count =
      otherwise(words, given, all(32, is_signed && !left ? a.bits - 1 : 0));
  if (a.bits != 32) {
    count = ir_.set(
        (a.bits < 32 ? "trunc " : "zext ") + words + " " + count + " to " +
        type);
  }
  const std::string first = vector ? ir_.lanes_of(a) : a.text;
  const std::string op = left ? "shl " : is_signed ? "ashr " : "lshr ";
  const std::string result = ir_.set(op + type + " " + first + ", " + count);
  return {
      vector ? kVarying : kUniform,
      a.bits,
      is_signed && !left ? result : otherwise(type, result, all(a.bits, 0))};
}

bool Translator::logic(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  const std::string& op = opcode[0];
  if (opcode.size() != 2) {
    return false;
  }
  if (opcode[1] == "pred") {
    const bool two = op == "and" || op == "or" || op == "xor";
    if (!two && op != "not") {
      return false;
    }
    const Value a = predicate_of(inst, 1);
    const Value b = two ? predicate_of(inst, 2) : Value{kUniform, 1, "true"};
    assign(inst, 0, plain(two ? op : "xor", a, b));
    return true;
  }
  const int bits = bits_of(opcode[1], "bus");
  Value a;
  Value b;
  if (bits == 0) {
    return false;
  }
  if ((op == "and" || op == "or" || op == "xor") && opcode[1][0] == 'b' &&
      operand(inst, 1, bits, &a) && operand(inst, 2, bits, &b)) {
    const bool first = a.shape.straight() && b.shape.uniform();
    const bool second = b.shape.straight() && a.shape.uniform();
    if (!(first && bits_of_ramp(inst, op, a, b)) &&
        !(second && !first && bits_of_ramp(inst, op, b, a))) {
      assign(inst, 0, plain(op, a, b));
    }
    return true;
  }
  if (op == "not" && operand(inst, 1, bits, &a)) {
    assign(inst, 0, complement(a));
    return true;
  }
  if ((op == "shl" || op == "shr") && operand(inst, 1, bits, &a) &&
      operand(inst, 2, 32, &b)) {
    const std::int64_t amount = b.literal() ? literal_value(b) : -1;
    if (amount < 0 || amount >= bits) {
      assign(inst, 0, shifted(op == "shl", opcode[1][0] == 's', a, b));
      return true;
    }
    if (op == "shl") {
      const std::uint64_t factor = std::uint64_t{1} << amount;
      assign(inst, 0, product(a, {kUniform, bits, std::to_string(factor)}));
      return true;
    }
    if (a.shape.straight() && shifted_ramp(inst, a, amount)) {
      a.shape = kUniform; // the same for all lanes, as the first has it
    }
    assign(
        inst,
        0,
        plain(
            opcode[1][0] == 's' ? "ashr" : "lshr",
            a,
            {kUniform, bits, std::to_string(amount)}));
    return true;
  }
  return false;
}

/// A function of LLVM's of one value, lane by lane.
/// @param more further arguments, each behind a comma.
Value Translator::of_lanes(
    const std::string& name,
    const Value& a,
    const std::string& more) {
  const bool vector = !a.shape.uniform();
  const std::string type = type_of(a.bits, vector);
  const std::string text = vector ? ir_.lanes_of(a) : a.text;
  const std::string suffix = (vector ? ".v32i" : ".i") + std::to_string(a.bits);
  return {
      vector ? kVarying : kUniform,
      a.bits,
      ir_.set(
          "call " + type + " @llvm." + name + suffix + "(" + type + " " + text +
          more + ")")};
}

Value Translator::complement(const Value& a) {
  return sum({kUniform, a.bits, "-1"}, a, true); // keeps what is affine
}

/// So many bits set, from the lowest one on.
Value Translator::low_bits(int bits, const Value& count) {
  return complement(shifted(true, false, {kUniform, bits, "-1"}, count));
}

/// prmt.b32 d, a, b, c: four of the eight bytes of two numbers, which a
/// constant names (PTX ISA 9.7.8.7).
bool Translator::permute(const Inst& inst) {
  Value a;
  Value b;
  Value c;
  if (!operand(inst, 1, 32, &a) || !operand(inst, 2, 32, &b) ||
      !operand(inst, 3, 32, &c) || !c.literal()) {
    return false;
  }
  const auto chosen = static_cast<std::uint64_t>(literal_value(c));
  if ((chosen & 0x8888) != 0) {
    return false; // copies of a byte's sign
  }
  const bool vector = !a.shape.uniform() || !b.shape.uniform();
  const std::string words = type_of(32, vector);
  const int bytes = vector ? 4 * kLanes : 4;
  const std::string type = vector_of(bytes, "i8");
  const auto bytes_of = [&](const Value& value) {
    const std::string text = vector ? ir_.lanes_of(value) : value.text;
    return ir_.set("bitcast " + words + " " + text + " to " + type);
  };
  const std::string first = bytes_of(a);
  const std::string second = bytes_of(b);
  const std::string found = ir_.set(
      "shufflevector " + type + " " + first + ", " + type + " " + second +
      ", " + picks(bytes, [&](int i) {
        const int pick = static_cast<int>(chosen >> (i % 4 * 4) & 7);
        return (pick < 4 ? 0 : bytes) + i / 4 * 4 + pick % 4;
      }));
  assign(
      inst,
      0,
      {vector ? kVarying : kUniform,
       32,
       ir_.set("bitcast " + type + " " + found + " to " + words)});
  return true;
}

/// Counts of bits, and parts of a number (PTX ISA 9.7.1, 9.7.7 and 9.7.17).
bool Translator::fields(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  const std::string& op = opcode[0];
  const std::string& type = opcode.back();
  const int bits = bits_of(type, "bus");
  const Value byte{kUniform, 32, "255"};
  Value a;
  Value b;
  Value c;
  if ((bits != 32 && bits != 64) || opcode.size() < 2) {
    return false;
  }
  if ((op == "popc" || op == "clz") && opcode.size() == 2) {
    if (!operand(inst, 1, bits, &a)) {
      return false;
    }
    const bool counts = op == "popc";
    const Value found =
        of_lanes(counts ? "ctpop" : "ctlz", a, counts ? "" : ", i1 0");
    assign(inst, 0, resized(found, 32, false));
    return true;
  }
  if (op == "prmt" && opcode.size() == 2) {
    return permute(inst);
  }
  if (op == "brev" && opcode.size() == 2 && operand(inst, 1, bits, &a)) {
    assign(inst, 0, of_lanes("bitreverse", a, ""));
    return true;
  }
  // Of one with a sign, copies of it are beyond the end.
  if (op == "bfe" && opcode.size() == 2 && type[0] == 'u' &&
      operand(inst, 1, bits, &a) && operand(inst, 2, 32, &b) &&
      operand(inst, 3, 32, &c)) {
    const Value from = shifted(false, false, a, plain("and", b, byte));
    assign(inst, 0, plain("and", from, low_bits(bits, plain("and", c, byte))));
    return true;
  }
  Value base;
  if (op == "bfi" && opcode.size() == 2 && operand(inst, 1, bits, &a) &&
      operand(inst, 2, bits, &base) && operand(inst, 3, 32, &b) &&
      operand(inst, 4, 32, &c)) {
    const Value position = plain("and", b, byte);
    const Value mask =
        shifted(true, false, low_bits(bits, plain("and", c, byte)), position);
    const Value placed = plain("and", shifted(true, false, a, position), mask);
    assign(inst, 0, plain("or", placed, plain("and", base, complement(mask))));
    return true;
  }
  const bool clamps = opcode.size() > 2 && opcode[2] == "clamp";
  const bool wraps = opcode.size() > 2 && opcode[2] == "wrap";
  // cub takes digits with it.
  if (op == "vshr" && opcode.size() == 6 && opcode[1] == "add" &&
      (clamps || wraps) && opcode[3] == "u32" && opcode[4] == "u32" &&
      type == "u32" && operand(inst, 1, 32, &a) && operand(inst, 2, 32, &b) &&
      operand(inst, 3, 32, &c)) {
    const Value amount = clamps ? b : plain("and", b, {kUniform, 32, "31"});
    assign(inst, 0, sum(shifted(false, false, a, amount), c, false));
    return true;
  }
  if (op == "shf" && opcode.size() == 4 && wraps && operand(inst, 1, 32, &a) &&
      operand(inst, 2, 32, &b) && operand(inst, 3, 32, &c)) {
    const std::string lanes = type_of(32, true);
    assign(
        inst,
        0,
        {kVarying,
         32,
         ir_.set(
             "call " + lanes + " @llvm." +
             (opcode[1] == "l" ? "fshl" : "fshr") + ".v32i32(" + lanes + " " +
             ir_.lanes_of(b) + ", " + lanes + " " + ir_.lanes_of(a) + ", " +
             lanes + " " + ir_.lanes_of(c) + ")")});
    return true;
  }
  return false;
}

} // namespace cudasim::engine
