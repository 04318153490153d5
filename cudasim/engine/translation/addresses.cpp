// Which memory loads and stores access, and whether the warp may: one check for
// all lanes, or for the two rows, and for all accesses of an unrolled loop.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/translation/helpers.h"
#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {

bool is_ordered_access(const std::string& text) {
  static const char* const kWords[] = {
      ".volatile", ".relaxed", ".acquire", ".release", ".mmio"};
  return std::any_of(
      std::begin(kWords), std::end(kWords), [&](const char* word) {
        return text.find(word) != std::string::npos;
      });
}

/// What an instruction's text says of its access. @returns false where it is
/// none, or one that native code has no form for.
bool Translator::access_of(
    const Inst& inst,
    const std::vector<std::string>& opcode,
    Place* place) const {
  if (opcode[0] != "ld" && opcode[0] != "st") {
    return false;
  }
  if (is_ordered_access(code_.texts[inst.index])) {
    return false;
  }
  place->is_load = opcode[0] == "ld";
  for (std::size_t i = 1; i + 1 < opcode.size(); ++i) {
    const std::string& part = opcode[i];
    if (part == "global" || part == "shared" || part == "param") {
      place->space = part;
    } else if (part == "v2" || part == "v4") {
      place->count = part[1] - '0';
    } else {
      return false;
    }
  }
  const std::string& type = opcode.back();
  place->bits = std::atoi(type.c_str() + 1);
  place->is_signed = type[0] == 's';
  return (place->bits == 8 || place->bits == 16 || place->bits == 32 ||
          place->bits == 64) &&
      place->lane_bytes() <= kMostScatteredBytes &&
      (place->is_load || place->space != "param");
}

bool Translator::place_of(
    const Inst& inst,
    const std::vector<std::string>& opcode,
    Place* place) {
  if (!access_of(inst, opcode, place)) {
    return false;
  }
  const int at = place->is_load ? place->count : 0;
  if (inst.operands[at] == kNoSlot) {
    // An address of this process, but in shared memory and of parameters.
    const bool is_place = place->space == "shared" || place->space == "param";
    place->address = is_place
        ? Value{kUniform, 64, std::to_string(inst.offset)}
        : number_of_table(static_cast<std::uint64_t>(inst.offset));
    return place->is_load;
  }
  // Addresses of 32 bits are those of shared memory and of parameters.
  const int bits = 8 * inst.widths[at];
  Value base;
  if ((bits != 64 &&
       (bits != 32 || place->space.empty() || place->space == "global")) ||
      !operand(inst, at, bits, &base)) {
    return false;
  }
  const auto is_anywhere = [&] {
    place->is_scattered = place->count != 1 || base.shape.affine;
    const Value lanes{kVarying, base.bits, ir_.lanes_of(base)};
    place->address = with_offset(lanes, inst.offset);
    return place->space != "param" &&
        place->lane_bytes() <= kMostScatteredBytes;
  };
  if (!base.shape.affine ||
      (base.shape.stride != 0 && base.shape.stride != place->lane_bytes())) {
    return is_anywhere();
  }
  constexpr std::int64_t kFar = std::int64_t{1} << 30;
  const std::int64_t row = base.shape.row;
  if (row > kFar || row < -kFar || row % place->lane_bytes() != 0) {
    return is_anywhere();
  }
  if (!place->is_load && place->count != 1 && !base.shape.uniform() &&
      !base.shape.straight()) {
    return is_anywhere();
  }
  if (!place->is_load && !base.shape.uniform() &&
      (base.shape.stride == 0 ||
       std::abs(row) < kRowLanes * place->lane_bytes())) {
    return is_anywhere(); // one lane after another
  }
  place->address = with_offset(base, inst.offset);
  return true;
}

/// An address of 64 bits. One of 32 bits that wraps around in some lanes is
/// beyond what there is in others.
Value Translator::with_offset(const Value& base, std::int64_t offset) {
  const std::uint64_t bits = base.bits == 64
      ? static_cast<std::uint64_t>(offset)
      : static_cast<std::uint64_t>(offset) & 0xffffffffu;
  Value address = offset == 0
      ? base
      : sum(base, {kUniform, base.bits, std::to_string(bits)}, false);
  if (base.bits == 32) {
    const bool vector = !base.shape.affine;
    address.text = ir_.set(
        "zext " + type_of(32, vector) + " " + address.text + " to " +
        type_of(64, vector));
    address.bits = 64;
  }
  return address;
}

/// Of lanes whose addresses are known only when they access: whether they are
/// one behind the other in each row, and may access what they do.
/// @param first where the first row begins. @param second where the other does.
/// @param reach of all accesses that are looked at.
std::string Translator::may_access_rows(
    const Place& place,
    const std::string& first,
    const std::string& second,
    const Reach& reach) {
  // Of all lanes one number: bits of lanes take longer to collect.
  const std::string lanes = type_of(64, true);
  const std::string name = "@apart_from_" + std::to_string(place.lane_bytes());
  define(name, "i64", lanes + " %lanes", [&] {
    const std::string begins = ir_.set(
        "shufflevector " + lanes + " %lanes, " + lanes + " poison, " +
        picks(kLanes, [](int i) { return i / kRowLanes * kRowLanes; }));
    const std::string expected = ir_.set(
        "add " + lanes + " " + begins + ", " +
        ramp(64, {true, place.lane_bytes(), 0}));
    const std::string apart = ir_.set("xor " + lanes + " %lanes, " + expected);
    return ir_.set(
        "call i64 @llvm.vector.reduce.or.v32i64(" + lanes + " " + apart + ")");
  });
  const std::string apart = ir_.set(
      "call i64 " + name + "(" + lanes + " " + place.address.text + ")");
  std::string good = ir_.set("icmp eq i64 " + apart + ", 0");
  const auto also = [&](const std::string& condition) {
    good = ir_.set("and i1 " + good + ", " + condition);
  };
  const std::string odd = ir_.set(
      "and i64 " + ir_.set("or i64 " + first + ", " + second) + ", " +
      std::to_string(place.lane_bytes() - 1));
  also(ir_.set("icmp eq i64 " + odd + ", 0"));
  const auto of_both = [&](const char* which) {
    return ir_.set(
        std::string("call i64 @llvm.") + which + ".i64(i64 " + first +
        ", i64 " + second + ")");
  };
  const std::int64_t row = place.lane_bytes() * kRowLanes;
  const std::string low_row = of_both("smin");
  const std::string high_row = of_both("smax");
  if (!place.is_load) {
    // Else one lane after another.
    const std::string step = ir_.set("sub i64 " + high_row + ", " + low_row);
    also(ir_.set("icmp uge i64 " + step + ", " + std::to_string(row)));
  }
  if (place.space == "shared") {
    const std::string bytes = std::to_string(reach.up + row);
    also(ir_.set("icmp uge i64 %shared_bytes, " + bytes));
    const std::string most = ir_.set("sub i64 %shared_bytes, " + bytes);
    also(ir_.set("icmp ule i64 " + high_row + ", " + most));
    // A sum could wrap around.
    also(ir_.set(
        "icmp sge i64 " + low_row + ", " + std::to_string(-reach.down)));
    return good;
  }
  also(is_inside(
      place, beyond(low_row, reach.down), beyond(high_row, reach.up + row)));
  return good;
}

/// Whether all lanes may access what they do, which is in one or two pieces.
/// @param reach of all accesses that are looked at.
std::string Translator::may_access_pieces(
    const Place& place,
    const Reach& reach) {
  const std::int64_t down =
      std::min<std::int64_t>(0, place.shape().row) + reach.down;
  const std::int64_t bytes = place.extent() + reach.up - reach.down;
  const std::string low = beyond(place.address.text, down);
  const std::string odd =
      ir_.set("and i64 " + low + ", " + std::to_string(place.lane_bytes() - 1));
  const std::string aligned = ir_.set("icmp eq i64 " + odd + ", 0");
  std::string inside;
  if (place.space == "shared" || place.space == "param") {
    const std::string limit =
        place.space == "shared" ? "%shared_bytes" : "%parameters_bytes";
    const std::string size = std::to_string(bytes);
    const std::string fits = ir_.set("icmp uge i64 " + limit + ", " + size);
    const std::string most = ir_.set("sub i64 " + limit + ", " + size);
    inside = ir_.set(
        "and i1 " + fits + ", " + ir_.set("icmp ule i64 " + low + ", " + most));
  } else {
    const std::string high = beyond(low, bytes);
    inside = is_inside(place, low, high);
    if (reach.down != reach.up) {
      inside = is_found(place, inside, low, high);
    }
  }
  return ir_.set("and i1 " + inside + ", " + aligned);
}

/// Where the two rows of lanes access, or all of them: addresses of the kernel.
Translator::Hosts Translator::addresses_of(const Place& place) {
  const std::string& address = place.address.text;
  if (place.is_looked_at()) {
    const auto lane = [&](int number) {
      return ir_.set(
          "extractelement " + type_of(64, true) + " " + address + ", i64 " +
          std::to_string(number));
    };
    const std::string first = lane(0);
    return {first, lane(kRowLanes)};
  }
  return {
      address,
      place.in_pieces() ? beyond(address, place.shape().row) : address};
}

/// The same as pointers of the host.
Translator::Hosts Translator::pointers_to(
    const Place& place,
    const Hosts& addresses) {
  const auto pointer = [&](const std::string& address) {
    const bool is_small = place.space == "shared" || place.space == "param";
    const std::string begin =
        place.space == "shared" ? "%shared" : "%parameters";
    return ir_.set(
        "inttoptr i64 " +
        (is_small ? ir_.set("add i64 " + begin + ", " + address) : address) +
        " to ptr");
  };
  const std::string first = pointer(addresses.first);
  return {first, pointer(addresses.second)};
}

/// An address so many bytes behind another.
std::string Translator::beyond(const std::string& address, std::int64_t bytes) {
  return bytes == 0
      ? address
      : ir_.set("add i64 " + address + ", " + std::to_string(bytes));
}

/// How far the accesses reach that all lanes execute behind one: in the same
/// block, at the same register. Each of them is executed if this one is, and
/// none faults; so where all are allowed together, each is.
/// @param others becomes where those behind the first are.
Translator::Reach Translator::reach_of(
    const Inst& first,
    const Place& place,
    std::vector<std::uint32_t>* others) const {
  Reach reach;
  others->clear();
  const auto address_of = [](const Inst& inst, const Place& at) {
    return inst.operands[at.is_load ? at.count : 0];
  };
  const Slot base = address_of(first, place);
  if (base == kNoSlot || (base & kConstantBit) != 0 || first.guard != kNoSlot ||
      place.space == "param") {
    return reach;
  }
  constexpr std::int64_t kFar = 1 << 16;
  const auto& blocks = flow_.graph().block_of;
  for (std::uint32_t pc = first.index; pc < code_.instructions.size(); ++pc) {
    const Inst& inst = code_.instructions[pc];
    if (blocks[pc] != blocks[first.index] || is_end(pc) ||
        (first.index < node_->end && pc >= node_->end) ||
        pc - first.index >= kLongestNode ||
        (pc != first.index && is_first_store(pc))) {
      break;
    }
    Place other;
    if (pc != first.index && has_form(inst) && inst.guard == kNoSlot &&
        access_of(inst, opcode_of(inst), &other) &&
        other.is_load == place.is_load && other.space == place.space &&
        other.count == place.count && other.bits == place.bits &&
        address_of(inst, other) == base) {
      const std::int64_t offset = inst.offset - first.offset;
      if (std::abs(offset) <= kFar && offset % place.lane_bytes() == 0) {
        reach.down = std::min(reach.down, offset);
        reach.up = std::max(reach.up, offset);
        others->push_back(pc);
      }
    }
    const std::vector<Slot>& writes = flow_.access(pc).writes;
    if (std::find(writes.begin(), writes.end(), base) != writes.end()) {
      break;
    }
  }
  return reach;
}

/// Whether code may be left before an access as it is to memory that no check
/// finds, where each group of accesses would be the end of a region: a generic
/// address may be of shared or local memory, or of the device's heap. Where
/// one of a space was left so, or may have been, others are, mostly.
bool Translator::was_left_at_access(const Place& place) const {
  const auto is_alike = [&](std::uint32_t pc) {
    Place other;
    const Inst& inst = code_.instructions[pc];
    return has_form(inst) && access_of(inst, opcode_of(inst), &other) &&
        other.space == place.space;
  };
  const auto& graph = flow_.graph();
  const bool begins_inside =
      graph.blocks[graph.block_of[entry_]].begin != entry_;
  return place.space.empty() || (begins_inside && is_alike(entry_)) ||
      std::any_of(general_.begin(), general_.end(), is_alike);
}

/// Leaves the region before an access where it, or one of those behind it that
/// differ in their offsets alone, is not allowed: then nothing parts the paths
/// of the others, and LLVM may load what they do where it is needed.
void Translator::require_allowed(const Inst& inst, Place* place) {
  const auto known = allowed_.find(inst.index);
  if (known != allowed_.end()) {
    if (known->second.condition.empty()) {
      // Without the offset's wrapping around, which cannot be.
      place->address.text =
          beyond(known->second.address, inst.offset - known->second.offset);
      place->is_allowed = true;
      allowed_.erase(known);
    }
    return;
  }
  if (place->is_looked_at() || place->is_scattered || hammock_ != nullptr ||
      group_exits_ > kMostGroupExits || was_left_at(inst) ||
      was_left_at_access(*place)) {
    return;
  }
  std::vector<std::uint32_t> others;
  const Reach reach = reach_of(inst, *place, &others);
  if (others.empty()) {
    return;
  }
  const std::size_t before = cold_.size();
  require(inst, may_access_pieces(*place, reach));
  group_exits_ += cold_.size() - before;
  for (const std::uint32_t other : others) {
    allowed_[other] = {"", place->address.text, inst.offset};
  }
  place->is_allowed = true;
}

/// Whether an access is allowed, as an earlier one may have looked up.
/// @param at where the two rows access.
std::string Translator::may_access(
    const Inst& inst,
    const Place& place,
    const Hosts& at) {
  const auto known = allowed_.find(inst.index);
  if (known != allowed_.end()) {
    std::string allowed = known->second.condition;
    allowed_.erase(known);
    return allowed;
  }
  std::vector<std::uint32_t> others;
  const Reach reach = reach_of(inst, place, &others);
  std::string allowed = place.is_looked_at()
      ? may_access_rows(place, at.first, at.second, reach)
      : may_access_pieces(place, reach);
  for (const std::uint32_t other : others) {
    allowed_[other] = {allowed, "", 0};
  }
  return allowed;
}

/// Looks for the allocation where it is not among those that the warp touched
/// lately: each of several accesses would be left to its handler.
/// @param inside whether it is among them.
std::string Translator::is_found(
    const Place& place,
    const std::string& inside,
    const std::string& low,
    const std::string& high) {
  const std::string found = ir_.name();
  const std::string on = ir_.label();
  ir_.variable(found, "i1");
  ir_.store("i1", "true", found);
  const std::string look = in_cold_block([&] {
    const std::string function =
        pointer_to(reinterpret_cast<const void*>(&find_memory));
    const std::string result = ir_.set(
        "call i32 " + function + "(ptr %state, i64 " + low + ", i64 " + high +
        ", i32 " + (place.is_load ? "0" : "1") + ")");
    ir_.store("i1", ir_.set("icmp ne i32 " + result + ", 0"), found);
    ir_.jump(on);
  });
  ir_.branch(inside, on, look);
  ir_.begin(on);
  return ir_.load("i1", found);
}

/// Whether an access lies in one of the ranges that the warp touched lately, as
/// numbers with a sign: no memory is beyond.
std::string Translator::is_inside(
    const Place& place,
    const std::string& low,
    const std::string& high) {
  const std::string forward = ir_.set("icmp slt i64 " + low + ", " + high);
  const auto ranges = [&](const char* type, std::size_t offset) {
    return ir_.load(
        "<" + std::to_string(RangeCache::kEntries) + " x " + type + ">",
        ir_.at("%ranges", offset) + ", align 1");
  };
  const std::string four = std::to_string(RangeCache::kEntries);
  const std::string wide = "<" + four + " x i64>";
  const std::string bit = "<" + four + " x i1>";
  const auto all = [&](const std::string& value) {
    const std::string first =
        ir_.set("insertelement " + wide + " poison, i64 " + value + ", i64 0");
    return ir_.set(
        "shufflevector " + wide + " " + first + ", " + wide + " poison, <" +
        four + " x i32> zeroinitializer");
  };
  const std::string begins = ranges("i64", offsetof(RangeCache, begin));
  const std::string ends = ranges("i64", offsetof(RangeCache, end));
  const std::string above =
      ir_.set("icmp sge " + wide + " " + all(low) + ", " + begins);
  const std::string below =
      ir_.set("icmp sle " + wide + " " + all(high) + ", " + ends);
  std::string inside = ir_.set("and " + bit + " " + above + ", " + below);
  if (!place.is_load) {
    const std::string fixed = ranges("i8", offsetof(RangeCache, read_only));
    const std::string open =
        ir_.set("icmp eq <" + four + " x i8> " + fixed + ", zeroinitializer");
    inside = ir_.set("and " + bit + " " + inside + ", " + open);
  }
  const std::string which =
      ir_.set("bitcast " + bit + " " + inside + " to i" + four);
  const std::string any = ir_.set("icmp ne i" + four + " " + which + ", 0");
  return ir_.set("and i1 " + forward + ", " + any);
}

/// Tells the processor what the same access of a later warp will need: a warp's
/// loop strides over memory, and that later warps need what lies between is
/// more than a processor foresees by itself. The second level of caches takes
/// it: strides are powers of two, for which the first has few places.
void Translator::prefetch(const Place& place) {
  if (!node_->repeats || place.is_looked_at() || place.space == "shared" ||
      place.space == "param") {
    return;
  }
  constexpr std::int64_t kWarps = 8;
  constexpr std::int64_t kLine = 64;
  constexpr std::int64_t kMostLines = 4;
  const std::string target = ir_.set(
      "add i64 " + place.address.text + ", " +
      std::to_string(kWarps * place.extent()));
  const std::string pointer = ir_.set("inttoptr i64 " + target + " to ptr");
  const std::int64_t lines =
      std::min(kMostLines, (place.extent() + kLine - 1) / kLine);
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::string at =
        ir_.at(pointer, static_cast<std::uint64_t>(line * kLine));
    ir_.line(
        "call void @llvm.prefetch.p0(ptr " + at + ", i32 0, i32 2, i32 1)");
  }
}

} // namespace cudasim::engine
