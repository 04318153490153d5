// Which memory loads and stores access, and whether the warp may: one check for
// all lanes, or for the two rows.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/translation/helpers.h"
#include "cudasim/engine/translation/place.h"
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

bool Translator::place_of(
    const Inst& inst,
    const std::vector<std::string>& opcode,
    Place* place) {
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
  if (place->bits != 8 && place->bits != 16 && place->bits != 32 &&
      place->bits != 64) {
    return false;
  }
  if (!place->is_load && place->space == "param") {
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

/// The same for lanes whose addresses are known only when they access: whether
/// they are one behind the other in each row.
Translator::Hosts Translator::locate_rows(
    const Place& place,
    const std::string& fast,
    const std::string& slow) {
  const std::string lanes = type_of(64, true);
  const auto lane = [&](int number) {
    return ir_.set(
        "extractelement " + lanes + " " + place.address.text + ", i64 " +
        std::to_string(number));
  };
  const std::string first = lane(0);
  const std::string second = lane(kRowLanes);
  const std::string one =
      ir_.set("insertelement <2 x i64> poison, i64 " + first + ", i64 0");
  const std::string two =
      ir_.set("insertelement <2 x i64> " + one + ", i64 " + second + ", i64 1");
  const std::string begins = ir_.set(
      "shufflevector <2 x i64> " + two + ", <2 x i64> poison, " +
      picks(kLanes, [](int i) { return i / kRowLanes; }));
  const std::string expected = ir_.set(
      "add " + lanes + " " + begins + ", " +
      ramp(64, {true, place.lane_bytes(), 0}));
  const std::string equal =
      ir_.set("icmp eq " + lanes + " " + place.address.text + ", " + expected);
  std::string good = ir_.set("icmp eq i32 " + ir_.mask_of(equal) + ", -1");
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
  const std::string row = std::to_string(place.lane_bytes() * kRowLanes);
  const std::string low = of_both("smin");
  const std::string high_row = of_both("smax");
  const std::string high = ir_.set("add i64 " + high_row + ", " + row);
  if (!place.is_load) {
    // Else one lane after another.
    const std::string apart = ir_.set("sub i64 " + high_row + ", " + low);
    also(ir_.set("icmp uge i64 " + apart + ", " + row));
  }
  if (place.space == "shared") {
    also(ir_.set("icmp uge i64 %shared_bytes, " + row));
    const std::string most = ir_.set("sub i64 %shared_bytes, " + row);
    also(ir_.set("icmp ule i64 " + high_row + ", " + most));
    also(ir_.set("icmp sge i64 " + low + ", 0"));
    const Hosts hosts = {
        ir_.set("add i64 %shared, " + first),
        ir_.set("add i64 %shared, " + second)};
    ir_.branch(good, fast, slow);
    return hosts;
  }
  also(is_inside(place, low, high));
  ir_.branch(good, fast, slow);
  return {first, second};
}

/// Branches to `fast` where the access is allowed, and to `slow` where the
/// handler has to look closer.
/// @returns the host's addresses of the two rows.
Translator::Hosts Translator::locate(
    const Place& place,
    const std::string& fast,
    const std::string& slow) {
  if (place.is_looked_at()) {
    return locate_rows(place, fast, slow);
  }
  const std::int64_t down = std::min<std::int64_t>(0, place.shape().row);
  const std::string low = down == 0
      ? place.address.text
      : ir_.set("add i64 " + place.address.text + ", " + std::to_string(down));
  const std::string bytes = std::to_string(place.extent());
  const bool is_small = place.space == "shared" || place.space == "param";
  const std::string begin = place.space == "shared" ? "%shared" : "%parameters";
  Hosts hosts;
  hosts.first = is_small
      ? ir_.set("add i64 " + begin + ", " + place.address.text)
      : place.address.text;
  hosts.second = place.in_pieces()
      ? ir_.set(
            "add i64 " + hosts.first + ", " + std::to_string(place.shape().row))
      : hosts.first;
  const std::string odd =
      ir_.set("and i64 " + low + ", " + std::to_string(place.lane_bytes() - 1));
  const std::string aligned = ir_.set("icmp eq i64 " + odd + ", 0");
  if (is_small) {
    const std::string limit = begin + "_bytes";
    const std::string fits = ir_.set("icmp uge i64 " + limit + ", " + bytes);
    const std::string most = ir_.set("sub i64 " + limit + ", " + bytes);
    const std::string inside = ir_.set("icmp ule i64 " + low + ", " + most);
    const std::string both = ir_.set("and i1 " + fits + ", " + inside);
    ir_.branch(ir_.set("and i1 " + both + ", " + aligned), fast, slow);
    return hosts;
  }
  const std::string high = ir_.set("add i64 " + low + ", " + bytes);
  const std::string inside = is_inside(place, low, high);
  ir_.branch(ir_.set("and i1 " + inside + ", " + aligned), fast, slow);
  return hosts;
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
