// Loads and stores: one access for the warp, or for each of its two rows of
// lanes, where their addresses lie one behind the other or are the same
// (addresses.cpp); else one lane after another. What no fast path is sure to be
// allowed is left to the handler.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/translation/helpers.h"
#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {
namespace {

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

bool Translator::memory(
    const Inst& inst,
    const std::vector<std::string>& opcode,
    const std::string& mask) {
  Place place;
  if (!place_of(inst, opcode, &place)) {
    return false;
  }
  require_allowed(inst, &place);
  if (!place.is_load || !place.is_allowed) {
    write_deferred_loads();
  }
  count(inst, mask); // the slow path may end the region
  if (place.is_load) {
    load(inst, place);
  } else {
    store(inst, place);
  }
  return true;
}

/// Begins the two paths of an access: the slow one for lanes that are guarded
/// off, too. What follows is written to the fast one.
Translator::Paths Translator::part_paths(
    const Inst& inst,
    const Place& place,
    Hosts* pointers) {
  Paths paths{ir_.label(), ir_.label(), ir_.label(), guard_mask(inst)};
  const std::string fast = ir_.label();
  if (place.is_scattered) {
    ir_.jump(paths.scattered);
    return paths;
  }
  // Where it is looked up for other accesses, too, it is so on all paths.
  const Hosts addresses = addresses_of(place);
  const std::string allowed = may_access(inst, place, addresses);
  if (!place.is_load && (inst.guard != kNoSlot || hammock_ != nullptr)) {
    const std::string check = ir_.label();
    if (place.shape().uniform()) {
      ir_.branch(
          ir_.set("icmp eq i32 " + paths.mask + ", 0"), paths.done, check);
    } else {
      ir_.branch(
          ir_.set("icmp eq i32 " + paths.mask + ", -1"),
          check,
          is_lane_by_lane(inst, place) ? paths.scattered : paths.slow);
    }
    ir_.begin(check);
  }
  // What is read for lanes that do not load is there, and is not used.
  ir_.branch(
      allowed, fast, place.is_looked_at() ? paths.scattered : paths.slow);
  ir_.begin(fast);
  prefetch(place);
  *pointers = pointers_to(place, addresses);
  return paths;
}

/// Whether an access has a path on which one lane comes after another: where
/// they lie is not known before, or not all of them may store.
bool Translator::is_lane_by_lane(const Inst& inst, const Place& place) const {
  const bool some = inst.guard != kNoSlot || hammock_ != nullptr;
  return place.is_looked_at() ||
      (some && !place.is_load && !place.shape().uniform() &&
       place.lane_bytes() <= kMostScatteredBytes);
}

/// Accesses one lane after another, if they may. What is to be stored is in
/// "%numbers", and what is loaded will be.
void Translator::access_lanes(
    const Inst& inst,
    const Place& place,
    const Paths& paths) {
  std::string addresses = ir_.lanes_of(place.address);
  if (inst.guard != kNoSlot || hammock_ != nullptr) {
    const std::string on = ir_.label();
    ir_.branch(
        ir_.set("icmp ne i32 " + paths.mask + ", 0"),
        on,
        place.is_load ? paths.slow : paths.done);
    ir_.begin(on);
    // Lanes that access nothing have the address of the first one that does.
    const std::string lanes = type_of(64, true);
    const std::string first =
        ir_.set("call i32 @llvm.cttz.i32(i32 " + paths.mask + ", i1 true)");
    const std::string address =
        ir_.set("extractelement " + lanes + " " + addresses + ", i32 " + first);
    addresses = ir_.set(
        "select <32 x i1> " + ir_.bits_of(paths.mask) + ", " + lanes + " " +
        addresses + ", " + lanes + " " + ir_.lanes_of({kUniform, 64, address}));
  }
  const bool is_shared = place.space == "shared";
  if (is_shared) {
    // What is beyond 32 bits is beyond shared memory, and stays there.
    const std::string lanes = type_of(64, true);
    const std::string cut = ir_.set(
        "call " + lanes + " @llvm.umin.v32i64(" + lanes + " " + addresses +
        ", " + lanes + " splat (i64 4294967295))");
    addresses = ir_.set("trunc " + lanes + " " + cut + " to <32 x i32>");
  }
  ir_.line(
      "store " + type_of(is_shared ? 32 : 64, true) + " " + addresses +
      ", ptr %addresses, align 8");
  const std::string function = pointer_to(reinterpret_cast<const void*>(
      scattered_access(place.is_load, is_shared, place.bits, place.count)));
  const std::string done = ir_.set(
      "call i32 " + function +
      "(ptr %state, ptr %addresses, ptr %numbers, i32 " + paths.mask + ")");
  const std::string well = ir_.label();
  ir_.branch(ir_.set("icmp ne i32 " + done + ", 0"), well, paths.slow);
  ir_.begin(well);
}

/// In "%numbers", all lanes of one of the numbers.
std::string Translator::numbers_at(const Place& place, int number) {
  return ir_.at(
      "%numbers", static_cast<std::uint64_t>(number * kLanes * place.bits / 8));
}

/// The slow path, after which `paths.done` is to begin.
void Translator::call_slowly(const Inst& inst, const Paths& paths) {
  ir_.jump(paths.done);
  ir_.begin(paths.slow);
  call_handler(inst, paths.mask);
}

/// What the lanes load, number by number, where each of the two rows is in one
/// piece, or all of its lanes load the same.
std::vector<std::string> Translator::load_rows(
    const Place& place,
    const Hosts& pointers) {
  const bool alike = !place.is_looked_at() && place.shape().stride == 0;
  const bool once = !place.is_looked_at() && place.shape().row == 0;
  const std::string scalar = type_of(place.bits, false);
  const std::string half = vector_of(kRowLanes, scalar);
  const std::string piece = vector_of(kRowLanes * place.count, scalar);
  const auto load_piece = [&](const std::string& pointer) {
    return ir_.set("load " + piece + ", ptr " + pointer + ", align 1");
  };
  const auto number_of_row = [&](const std::string& from, int k) {
    if (!alike) {
      return ir_.set(
          "shufflevector " + piece + " " + from + ", " + piece + " poison, " +
          picks(kRowLanes, [&](int i) { return i * place.count + k; }));
    }
    const auto offset = static_cast<std::uint64_t>(k * place.bits / 8);
    const std::string number = ir_.set(
        "load " + scalar + ", ptr " + ir_.at(from, offset) + ", align 1");
    const std::string first = ir_.set(
        "insertelement " + half + " poison, " + scalar + " " + number +
        ", i64 0");
    return ir_.set(
        "shufflevector " + half + " " + first + ", " + half + " poison, " +
        picks(kRowLanes, [](int) { return 0; }));
  };
  const std::string first = alike ? pointers.first : load_piece(pointers.first);
  const std::string second = alike ? pointers.second
      : once                       ? first
                                   : load_piece(pointers.second);
  std::vector<std::string> numbers;
  for (int k = 0; k < place.count; ++k) {
    const std::string one = number_of_row(first, k);
    const std::string two = once ? one : number_of_row(second, k);
    numbers.push_back(ir_.set(
        "shufflevector " + half + " " + one + ", " + half + " " + two + ", " +
        picks(kLanes, [](int i) { return i; })));
  }
  return numbers;
}

/// What the lanes load, number by number: a scalar each where all load the
/// same.
/// @param pointers to memory that they may access.
std::vector<std::string> Translator::numbers_of(
    const Place& place,
    const Hosts& pointers) {
  if (place.in_pieces()) {
    return load_rows(place, pointers);
  }
  const std::string scalar = type_of(place.bits, false);
  std::vector<std::string> numbers;
  if (place.shape().uniform()) {
    for (int k = 0; k < place.count; ++k) {
      const auto offset = static_cast<std::uint64_t>(k * place.bits / 8);
      numbers.push_back(ir_.set(
          "load " + scalar + ", ptr " + ir_.at(pointers.first, offset) +
          ", align 1"));
    }
    return numbers;
  }
  const std::string wide = vector_of(kLanes * place.count, scalar);
  const std::string all =
      ir_.set("load " + wide + ", ptr " + pointers.first + ", align 1");
  if (place.count == 1) {
    return {all};
  }
  for (int k = 0; k < place.count; ++k) {
    numbers.push_back(ir_.set(
        "shufflevector " + wide + " " + all + ", " + wide + " poison, " +
        picks(kLanes, [&](int i) { return i * place.count + k; })));
  }
  return numbers;
}

/// Gives the destinations of a load what is at its place, in the lanes for
/// which it is executed.
void Translator::load(const Inst& inst, const Place& place) {
  if (place.is_allowed) {
    defer_load(inst, place);
    return;
  }
  // The lanes are alike where they read the same, if no guard keeps what some
  // had.
  const bool same = place.shape().uniform();
  const bool vector = !same || inst.guard != kNoSlot;
  std::vector<Value> results;
  std::vector<std::string> variables;
  for (int k = 0; k < place.count; ++k) {
    results.push_back({vector ? kVarying : kUniform, 8 * inst.widths[k], ""});
    variables.push_back(ir_.name());
    ir_.variable(variables.back(), type_of(8 * inst.widths[k], vector));
  }
  const std::map<Slot, Value> before = current_;
  Hosts pointers;
  const Paths paths = part_paths(inst, place, &pointers);
  // What the register is given: a guard keeps what some lanes had.
  const auto keep = [&](int k, std::string value, bool is_vector) {
    const auto n = static_cast<std::size_t>(k);
    const int bits = results[n].bits;
    value = ir_.resized(value, place.bits, bits, place.is_signed, is_vector);
    if (vector && !is_vector) {
      value = ir_.lanes_of({kUniform, bits, value});
    }
    if (inst.guard != kNoSlot) {
      const std::string lanes = type_of(bits, true);
      const std::string old = ir_.lanes_of(get(inst.operands[k]));
      value = ir_.set(
          "select <32 x i1> " + ir_.bits_of(paths.mask) + ", " + lanes + " " +
          value + ", " + lanes + " " + old);
    }
    ir_.store(type_of(bits, vector), value, variables[n]);
  };
  if (!place.is_scattered) {
    const bool alone = !place.is_looked_at() && same;
    const std::vector<std::string> numbers = numbers_of(place, pointers);
    for (int k = 0; k < place.count; ++k) {
      keep(k, numbers[static_cast<std::size_t>(k)], !alone);
    }
  }
  if (place.is_looked_at()) {
    if (!place.is_scattered) {
      ir_.jump(paths.done);
    }
    ir_.begin(paths.scattered);
    access_lanes(inst, place, paths);
    for (int k = 0; k < place.count; ++k) {
      const std::string numbers = numbers_at(place, k);
      keep(
          k,
          ir_.set(
              "load " + type_of(place.bits, true) + ", ptr " + numbers +
              ", align 8"),
          true);
    }
  }
  call_slowly(inst, paths);
  for (int k = 0; k < place.count; ++k) {
    const auto n = static_cast<std::size_t>(k);
    std::string value = current_[inst.operands[k]].text;
    if (!vector) {
      // That of a lane that did load.
      const std::string lane = hammock_ == nullptr
          ? "0"
          : ir_.set("call i32 @llvm.cttz.i32(i32 " + paths.mask + ", i1 true)");
      value = ir_.set(
          "extractelement " + type_of(results[n].bits, true) + " " + value +
          ", i32 " + lane);
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

/// Stores what lanes have, in one or two pieces, or one number of all.
/// @param values of each number of a lane: a scalar where all store at one
/// place. @param pointers to memory that they may access.
void Translator::store_numbers(
    const Place& place,
    const std::vector<std::string>& values,
    const Hosts& pointers) {
  const std::string scalar = type_of(place.bits, false);
  if (place.shape().uniform()) {
    for (int k = 0; k < place.count; ++k) {
      const auto offset = static_cast<std::uint64_t>(k * place.bits / 8);
      const std::string at =
          offset == 0 ? pointers.first : ir_.at(pointers.first, offset);
      ir_.line(
          "store " + scalar + " " + values[static_cast<std::size_t>(k)] +
          ", ptr " + at + ", align 1");
    }
    return;
  }
  const std::string wide = vector_of(kLanes * place.count, scalar);
  const std::string whole = interleaved(ir_, values, scalar);
  if (!place.in_pieces()) {
    ir_.line(
        "store " + wide + " " + whole + ", ptr " + pointers.first +
        ", align 1");
    return;
  }
  for (int row = 0; row < 2; ++row) {
    const std::string part = ir_.set(
        "shufflevector " + wide + " " + whole + ", " + wide + " poison, " +
        picks(kRowLanes, [row](int i) { return i + row * kRowLanes; }));
    ir_.line(
        "store " + vector_of(kRowLanes, scalar) + " " + part + ", ptr " +
        (row == 0 ? pointers.first : pointers.second) + ", align 1");
  }
}

/// Writes the operands of a store to its place, in the lanes for which it is
/// executed.
void Translator::store(const Inst& inst, const Place& place) {
  const std::string scalar = type_of(place.bits, false);
  const bool same = place.shape().uniform();
  std::vector<std::string> values;
  for (int k = 0; k < place.count; ++k) {
    Value value;
    const int width = 8 * inst.widths[1 + k];
    if (!operand(inst, 1 + k, width, &value)) {
      value = {kUniform, width, "0"}; // discarded: see the caller
    }
    const bool vector = !same || !value.shape.uniform();
    values.push_back(ir_.resized(
        vector ? ir_.lanes_of(value) : value.text,
        width,
        place.bits,
        false,
        vector));
    if (same && vector) {
      // The last lane's stays. LLVM may look for it where there is none: the
      // number has to be that of a lane then, too.
      const std::string lanes = ir_.set("or i32 " + guard_mask(inst) + ", 1");
      const std::string zeros =
          ir_.set("call i32 @llvm.ctlz.i32(i32 " + lanes + ", i1 true)");
      const std::string lane = ir_.set("sub i32 31, " + zeros);
      values.back() = ir_.set(
          "extractelement " + type_of(place.bits, true) + " " + values.back() +
          ", i32 " + lane);
    }
  }
  if (place.is_allowed) {
    prefetch(place);
    store_numbers(place, values, pointers_to(place, addresses_of(place)));
    return;
  }
  const std::map<Slot, Value> before = current_;
  Hosts pointers;
  const Paths paths = part_paths(inst, place, &pointers);
  if (!place.is_scattered) {
    store_numbers(place, values, pointers);
  }
  if (is_lane_by_lane(inst, place)) {
    if (!place.is_scattered) {
      ir_.jump(paths.done);
    }
    ir_.begin(paths.scattered);
    for (int k = 0; k < place.count; ++k) {
      const std::string numbers = numbers_at(place, k);
      ir_.line(
          "store " + type_of(place.bits, true) + " " +
          values[static_cast<std::size_t>(k)] + ", ptr " + numbers +
          ", align 8");
    }
    access_lanes(inst, place, paths);
  }
  call_slowly(inst, paths);
  ir_.jump(paths.done);
  ir_.begin(paths.done);
  current_ = before;
}

} // namespace cudasim::engine
