// Collective instructions of a warp whose 32 lanes are all there: shuffles by
// amounts that are constants, and votes (PTX ISA 9.7.9.6, 9.7.13).
#include <string>

#include "cudasim/engine/translation/translator.h"
#include "cudasim/engine/translation/value.h"

namespace cudasim::engine {
namespace {

/// Where a lane's value comes from, and whether from within its segment.
struct Source {
  int lane;
  bool inside;
};

/// @param b how far; @param c the last lane of a segment, and which bits of a
/// lane's number say its segment.
Source source_of(const std::string& form, int lane, int b, int c) {
  const int amount = b & 31;
  const int segment = c >> 8 & 31;
  const int last = (lane & segment) | (c & 31 & ~segment);
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

} // namespace

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
      !operand(inst, 4, 32, &c) || !b.literal() || !c.literal()) {
    return false;
  }
  const auto amount = static_cast<int>(literal_value(b) & 31);
  const auto bounds = static_cast<int>(literal_value(c) & 0x1f1f);
  std::string picks;
  std::string inside;
  for (int lane = 0; lane < kLanes; ++lane) {
    const Source from = source_of(form, lane, amount, bounds);
    const char* const comma = lane == 0 ? "" : ", ";
    picks += comma + ("i32 " + std::to_string(from.lane));
    inside += comma + std::string(from.inside ? "i1 true" : "i1 false");
  }
  const std::string type = type_of(32, true);
  const Value moved{
      kVarying,
      32,
      ir_.set(
          "shufflevector " + type + " " + ir_.lanes_of(a) + ", " + type +
          " poison, <32 x i32> <" + picks + ">")};
  assign(inst, 0, a.shape.uniform() ? a : moved);
  if (inst.operands[1] != kNoSlot) {
    assign(inst, 1, {kVarying, 1, "<" + inside + ">"});
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
