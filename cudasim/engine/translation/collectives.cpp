// Collective instructions of a warp whose 32 lanes are all there: shuffles and
// votes (PTX ISA 9.7.9.6, 9.7.13).
#include <string>

#include "cudasim/engine/translation/ir/value.h"
#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {
namespace {

/// The last lane of a lane's segment; the first for a shuffle up.
/// @param bounds such a lane, and which bits of a lane's number say its
/// segment.
int last_of(int lane, int bounds) {
  const int segment = bounds >> 8;
  return (lane & segment) | (bounds & 31 & ~segment);
}

/// Where a lane's value comes from, and whether from within its segment.
struct Source {
  int lane;
  bool inside;
};

/// @param amount how far. @param bounds as last_of().
Source source_of(const std::string& form, int lane, int amount, int bounds) {
  const int segment = bounds >> 8;
  const int last = last_of(lane, bounds);
  int from = lane;
  bool inside = false;
  if (form == "up") {
    from = lane - amount;
    inside = from >= last;
  } else {
    from = form == "down" ? lane + amount
        : form == "bfly"  ? lane ^ amount
                          : (lane & segment) | (amount & ~segment);
    inside = from <= last;
  }
  return {inside ? from : lane, inside};
}

/// AVX2 picks from so many lanes at once.
constexpr int kPiece = 8;
constexpr int kPieces = kLanes / kPiece;

} // namespace

/// The same where it is known only when the shuffle is executed: how far, of
/// each lane.
Translator::Sources Translator::sources_of(
    const std::string& form,
    const Value& amounts,
    int bounds) {
  const std::string type = type_of(32, true);
  const auto all = [](int number) {
    return integer_constant(std::to_string(number), 32, true);
  };
  const auto of_lanes = [](auto number) { return list(kLanes, number); };
  const int segment = bounds >> 8;
  const std::string lane = of_lanes([](int i) { return i; });
  const std::string last = of_lanes([&](int i) { return last_of(i, bounds); });
  const std::string amount =
      ir_.binary("and", type, ir_.lanes_of(amounts), all(31));
  std::string from;
  if (form == "up") {
    from = ir_.binary("sub", type, lane, amount);
  } else if (form == "down") {
    from = ir_.binary("add", type, lane, amount);
  } else if (form == "bfly") {
    from = ir_.binary("xor", type, lane, amount);
  } else {
    from = ir_.binary(
        "or",
        type,
        of_lanes([&](int i) { return i & segment; }),
        ir_.binary("and", type, amount, all(~segment)));
  }
  const std::string inside =
      ir_.binary(form == "up" ? "icmp sge" : "icmp sle", type, from, last);
  const std::string lanes = ir_.set(
      "select <32 x i1> " + inside + ", " + type + " " + from + ", " + type +
      " " + lane);
  return {lanes, inside};
}

/// For each lane the number of another one, of which `lanes` tells the lane.
std::string Translator::picked(const Value& a, const std::string& lanes) {
  const std::string all = type_of(32, true);
  const std::string piece = vector_of(kPiece, "i32");
  const std::string numbers = ir_.lanes_of(a);
  const auto piece_of = [&](const std::string& whole, int number) {
    return ir_.set(
        "shufflevector " + all + " " + whole + ", " + all + " poison, " +
        picks(kPiece, [number](int i) { return number * kPiece + i; }));
  };
  std::vector<std::string> pieces;
  for (int k = 0; k < kPieces; ++k) {
    pieces.push_back(piece_of(numbers, k));
  }
  std::vector<std::string> results;
  for (int k = 0; k < kPieces; ++k) {
    const std::string from = piece_of(lanes, k);
    const auto is_set = [&](int bit) {
      const std::string there = ir_.set(
          "and " + piece + " " + from + ", splat (i32 " + std::to_string(bit) +
          ")");
      return ir_.set("icmp ne " + piece + " " + there + ", zeroinitializer");
    };
    const auto either = [&](const std::string& condition,
                            const std::string& then,
                            const std::string& otherwise) {
      return ir_.set(
          "select <8 x i1> " + condition + ", " + piece + " " + then + ", " +
          piece + " " + otherwise);
    };
    std::vector<std::string> found;
    for (const std::string& part : pieces) {
      found.push_back(ir_.set(
          "call " + piece + " @llvm.x86.avx2.permd(" + piece + " " + part +
          ", " + piece + " " + from + ")"));
    }
    const std::string odd = is_set(kPiece);
    results.push_back(either(
        is_set(2 * kPiece),
        either(odd, found[3], found[2]),
        either(odd, found[1], found[0])));
  }
  const auto joined =
      [&](const std::string& one, const std::string& two, int n) {
        const std::string part = vector_of(n, "i32");
        return ir_.set(
            "shufflevector " + part + " " + one + ", " + part + " " + two +
            ", " + picks(2 * n, [](int i) { return i; }));
      };
  return joined(
      joined(results[0], results[1], kPiece),
      joined(results[2], results[3], kPiece),
      2 * kPiece);
}

/// shfl.sync.FORM.b32 d|p, a, b, c, members.
bool Translator::shuffle(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  if (opcode.size() != 4 || opcode[0] != "shfl") {
    return false;
  }
  // The words of a key are sorted.
  const std::string& form = opcode[1] == "sync" ? opcode[2] : opcode[1];
  Value a;
  Value b;
  Value c;
  if ((form != "up" && form != "down" && form != "bfly" && form != "idx") ||
      !operand(inst, 2, 32, &a) || !operand(inst, 3, 32, &b) ||
      !operand(inst, 4, 32, &c) || !c.literal()) {
    return false;
  }
  const auto bounds = static_cast<int>(literal_value(c) & 0x1f1f);
  std::string inside;
  std::string moved;
  if (b.literal()) {
    const auto amount = static_cast<int>(literal_value(b) & 31);
    const auto source = [&](int lane) {
      return source_of(form, lane, amount, bounds);
    };
    const std::string type = type_of(32, true);
    inside = list(
        kLanes, [&](int lane) { return source(lane).inside ? 1 : 0; }, "i1");
    moved = ir_.set(
        "shufflevector " + type + " " + ir_.lanes_of(a) + ", " + type +
        " poison, " +
        picks(kLanes, [&](int lane) { return source(lane).lane; }));
  } else {
    const Sources sources = sources_of(form, b, bounds);
    inside = sources.inside;
    moved = picked(a, sources.lanes);
  }
  if (!a.shape.uniform()) {
    a = {kVarying, 32, moved};
  }
  assign(inst, 0, a);
  if (inst.operands[1] != kNoSlot) {
    assign(inst, 1, {kVarying, 1, inside});
  }
  return true;
}

/// vote.sync.FORM d, a, members.
bool Translator::vote(
    const Inst& inst,
    const std::vector<std::string>& opcode) {
  if (opcode.size() != 4 || opcode[0] != "vote" || opcode[2] != "sync") {
    return false;
  }
  const std::string& form = opcode[1];
  const Value a = predicate_of(inst, 1);
  const std::string mask = a.shape.affine
      ? ir_.set("sext i1 " + a.text + " to i32")
      : ir_.mask_of(a.text);
  if (form == "ballot") {
    assign(inst, 0, {kUniform, 32, mask});
    return true;
  }
  const auto is = [&](const char* relation, const char* number) {
    return ir_.set(
        std::string("icmp ") + relation + " i32 " + mask + ", " + number);
  };
  if (form == "all") {
    assign(inst, 0, {kUniform, 1, is("eq", "-1")});
  } else if (form == "any") {
    assign(inst, 0, {kUniform, 1, is("ne", "0")});
  } else {
    return false;
  }
  return true;
}

} // namespace cudasim::engine
