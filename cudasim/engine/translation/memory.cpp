// Loads and stores: one check for the warp where the lanes' addresses lie one
// behind the other or are the same, else the handler.
#include <cstddef>
#include <cstdlib>
#include <string>

#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {
namespace {

/// A register's value as one of another width: cut, or extended.
std::string resized(
    IrWriter& ir,
    const std::string& text,
    int from,
    int to,
    bool is_signed,
    bool vector) {
  if (from == to) {
    return text;
  }
  const std::string op = to < from ? "trunc " : is_signed ? "sext " : "zext ";
  return ir.set(
      op + type_of(from, vector) + " " + text + " to " + type_of(to, vector));
}

std::string vector_of(int count, const std::string& scalar) {
  return "<" + std::to_string(count) + " x " + scalar + ">";
}

/// "<32 x i32> <i32 pick(0), …>", as shufflevector takes it.
template <typename Pick>
std::string picks(int count, Pick pick) {
  std::string text = vector_of(count, "i32") + " <";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "i32 " : ", i32 ") + std::to_string(pick(i));
  }
  return text + ">";
}

/// The lanes' values of each of `values`, lane by lane.
std::string interleaved(
    IrWriter& ir,
    const std::vector<std::string>& values,
    const std::string& scalar) {
  const auto count = static_cast<int>(values.size());
  const auto joined = [&](const std::string& a, const std::string& b, int n) {
    const std::string part = vector_of(n, scalar);
    return ir.set(
        "shufflevector " + part + " " + a + ", " + part + " " + b + ", " +
        picks(2 * n, [](int i) { return i; }));
  };
  if (count == 1) {
    return values[0];
  }
  std::string whole = joined(values[0], values[1], kLanes);
  if (count == 4) {
    const std::string rest = joined(values[2], values[3], kLanes);
    whole = joined(whole, rest, 2 * kLanes);
  }
  const std::string type = vector_of(count * kLanes, scalar);
  return ir.set(
      "shufflevector " + type + " " + whole + ", " + type + " poison, " +
      picks(count * kLanes, [count](int i) {
        return i % count * kLanes + i / count;
      }));
}

} // namespace

/// What a load or store accesses.
struct Translator::Place {
  std::string space; // "": that of all
  bool is_load = false;
  int count = 1; // values of each lane
  int bits = 32; // of a value
  bool is_signed = false;
  Value address; // of 64 bits

  std::int64_t lane_bytes() const {
    return static_cast<std::int64_t>(count) * bits / 8;
  }
};

bool Translator::memory(
    const Inst& inst,
    const std::vector<std::string>& opcode,
    const std::string& mask) {
  Place place;
  if (!place_of(inst, opcode, &place)) {
    return false;
  }
  count(inst, mask); // the slow path may end the region
  if (place.is_load) {
    load(inst, place);
  } else {
    store(inst, place);
  }
  return true;
}

bool Translator::place_of(
    const Inst& inst,
    const std::vector<std::string>& opcode,
    Place* place) {
  if (opcode[0] != "ld" && opcode[0] != "st") {
    return false;
  }
  // An access with an order stays where it is among the others.
  for (const char* word :
       {".volatile", ".relaxed", ".acquire", ".release", ".mmio"}) {
    if (code_.texts[inst.index].find(word) != std::string::npos) {
      return false;
    }
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
  const int at = place->is_load ? place->count : 0;
  const std::string offset = std::to_string(inst.offset);
  if (inst.operands[at] == kNoSlot) {
    place->address = {kUniform, 64, offset};
    return place->is_load;
  }
  // Addresses of 32 bits are those of shared memory and of parameters.
  const int bits = 8 * inst.widths[at];
  Value base;
  if ((bits != 64 &&
       (bits != 32 || place->space.empty() || place->space == "global")) ||
      !operand(inst, at, bits, &base) || !base.shape.affine ||
      (base.shape.stride != 0 && base.shape.stride != place->lane_bytes())) {
    return false;
  }
  if (!place->is_load && base.shape.stride == 0) {
    return false; // which lane is the last is the handler's to say
  }
  const std::string offset_bits = std::to_string(
      bits == 64 ? static_cast<std::uint64_t>(inst.offset)
                 : static_cast<std::uint64_t>(inst.offset) & 0xffffffffu);
  place->address =
      inst.offset == 0 ? base : sum(base, {kUniform, bits, offset_bits}, false);
  if (bits == 32) {
    // One that wraps around is beyond what there is, and so is the last of the
    // lanes then.
    place->address = {
        place->address.shape,
        64,
        ir_.set("zext i32 " + place->address.text + " to i64")};
  }
  return true;
}

/// Branches to `fast` where the access is allowed, and to `slow` where the
/// handler has to look closer.
/// @returns the host's address, which is known in both.
std::string Translator::locate(
    const Place& place,
    const std::string& fast,
    const std::string& slow) {
  const std::string& low = place.address.text;
  const std::string bytes = std::to_string(
      place.address.shape.stride == 0 ? place.lane_bytes()
                                      : place.lane_bytes() * kLanes);
  const bool is_small = place.space == "shared" || place.space == "param";
  const std::string begin = place.space == "shared" ? "%shared" : "%parameters";
  const std::string host =
      is_small ? ir_.set("add i64 " + begin + ", " + low) : low;
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
    return host;
  }
  // In one of the ranges that the warp touched lately, as numbers with a sign:
  // no memory is beyond.
  const std::string high = ir_.set("add i64 " + low + ", " + bytes);
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
  const std::string sane = ir_.set("and i1 " + forward + ", " + aligned);
  ir_.branch(ir_.set("and i1 " + sane + ", " + any), fast, slow);
  return host;
}

/// Begins the two paths of an access: the slow one for lanes that are guarded
/// off, too. What follows is written to the fast one.
Translator::Paths Translator::part_paths(
    const Inst& inst,
    const Place& place,
    std::string* pointer) {
  Paths paths{ir_.label(), ir_.label(), guard_mask(inst)};
  const std::string fast = ir_.label();
  if (inst.guard != kNoSlot) {
    const std::string check = ir_.label();
    ir_.branch(
        ir_.set("icmp eq i32 " + paths.mask + ", -1"), check, paths.slow);
    // The address may be any where the guard is off; it is not used then.
    ir_.begin(check);
  }
  const std::string host = locate(place, fast, paths.slow);
  ir_.begin(fast);
  *pointer = ir_.set("inttoptr i64 " + host + " to ptr");
  return paths;
}

/// The slow path, after which `paths.done` is to begin.
void Translator::call_slowly(const Inst& inst, const Paths& paths) {
  ir_.jump(paths.done);
  ir_.begin(paths.slow);
  call_handler(inst, paths.mask);
}

void Translator::load(const Inst& inst, const Place& place) {
  // The lanes are alike where they read the same, if no guard keeps what some
  // had.
  const bool same = place.address.shape.stride == 0;
  const bool vector = !same || inst.guard != kNoSlot;
  const std::string scalar = type_of(place.bits, false);
  std::vector<Value> results;
  std::vector<std::string> variables;
  for (int k = 0; k < place.count; ++k) {
    results.push_back({vector ? kVarying : kUniform, 8 * inst.widths[k], ""});
    variables.push_back(ir_.name());
    ir_.variable(variables.back(), type_of(8 * inst.widths[k], vector));
  }
  const std::map<Slot, Value> before = current_;
  std::string pointer;
  const Paths paths = part_paths(inst, place, &pointer);
  std::string all;
  const std::string wide = vector_of(kLanes * place.count, scalar);
  if (!same) {
    all = ir_.set("load " + wide + ", ptr " + pointer + ", align 1");
  }
  for (int k = 0; k < place.count; ++k) {
    const auto n = static_cast<std::size_t>(k);
    const int bits = results[n].bits;
    std::string value = all;
    if (same) {
      const auto offset = static_cast<std::uint64_t>(k * place.bits / 8);
      value = ir_.set(
          "load " + scalar + ", ptr " + ir_.at(pointer, offset) + ", align 1");
    } else if (place.count > 1) {
      value = ir_.set(
          "shufflevector " + wide + " " + all + ", " + wide + " poison, " +
          picks(kLanes, [&](int i) { return i * place.count + k; }));
    }
    value = resized(ir_, value, place.bits, bits, place.is_signed, !same);
    if (same && vector) {
      value = ir_.lanes_of({kUniform, bits, value});
    }
    ir_.store(type_of(bits, vector), value, variables[n]);
  }
  call_slowly(inst, paths);
  for (int k = 0; k < place.count; ++k) {
    const auto n = static_cast<std::size_t>(k);
    std::string value = current_[inst.operands[k]].text;
    if (!vector) {
      value = ir_.set(
          "extractelement " + type_of(results[n].bits, true) + " " + value +
          ", i64 0");
    }
    ir_.store(type_of(results[n].bits, vector), value, variables[n]);
  }
  ir_.jump(paths.done);
  ir_.begin(paths.done);
  current_ = before;
  for (int k = 0; k < place.count; ++k) {
    const auto n = static_cast<std::size_t>(k);
    results[n].text = ir_.load(type_of(results[n].bits, vector), variables[n]);
    current_[inst.operands[k]] = results[n];
  }
}

void Translator::store(const Inst& inst, const Place& place) {
  const std::string scalar = type_of(place.bits, false);
  std::vector<std::string> values;
  for (int k = 0; k < place.count; ++k) {
    Value value;
    const int width = 8 * inst.widths[1 + k];
    if (!operand(inst, 1 + k, width, &value)) {
      value = {kUniform, width, "0"}; // discarded: see the caller
    }
    values.push_back(
        resized(ir_, ir_.lanes_of(value), width, place.bits, false, true));
  }
  const std::map<Slot, Value> before = current_;
  std::string pointer;
  const Paths paths = part_paths(inst, place, &pointer);
  ir_.line(
      "store " + vector_of(kLanes * place.count, scalar) + " " +
      interleaved(ir_, values, scalar) + ", ptr " + pointer + ", align 1");
  call_slowly(inst, paths);
  ir_.jump(paths.done);
  ir_.begin(paths.done);
  current_ = before;
}

} // namespace cudasim::engine
