// What keeps values in the processor's registers, of which an unrolled loop
// needs more than there are. All 32 lanes of a value take four of AVX2's
// sixteen, or two of AVX-512's 32.
//
// A load is written where what it loads is first needed, or before the memory
// may change. Long pieces of straight arithmetic are written for one strip of
// lanes after the other: as many as a register has.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {
namespace {

constexpr std::uint32_t kShortest = 24; // instructions that are worth it

/// Lanes of a strip: 32 bits each.
int strip_lanes() {
  return best_isa() == Isa::kV4 ? 16 : 8;
}

std::string strip_type() {
  return vector_of(strip_lanes(), "float");
}

/// Its operands, if it is one of those that strips have.
int operands_of(const std::vector<std::string>& opcode) {
  const bool rounds =
      opcode.size() == 2 || (opcode.size() == 3 && opcode[1] == "rn");
  if (opcode.back() != "f32" || !rounds) {
    return 0;
  }
  if (opcode[0] == "fma" || opcode[0] == "mad") {
    return opcode.size() == 3 ? 3 : 0;
  }
  return opcode[0] == "add" || opcode[0] == "sub" || opcode[0] == "mul" ? 2 : 0;
}

} // namespace

/// Puts off a load that is allowed, and that all lanes execute.
void Translator::defer_load(const Inst& inst, const Place& place) {
  prefetch(place);
  for (int k = 0; k < place.count; ++k) {
    Value value{
        place.shape().uniform() ? kUniform : kVarying, 8 * inst.widths[k], ""};
    value.deferred = inst.index;
    current_[inst.operands[k]] = value;
  }
  deferred_.insert_or_assign(inst.index, place);
}

/// Writes a load that was deferred.
/// @param pc its instruction.
void Translator::write_deferred(std::uint32_t pc) {
  const auto found = deferred_.find(pc);
  const Place place = found->second;
  deferred_.erase(found);
  const Inst& inst = code_.instructions[pc];
  const bool same = place.shape().uniform();
  const std::vector<std::string> numbers =
      numbers_of(place, pointers_to(place, addresses_of(place)));
  for (int k = place.count; k-- > 0;) { // the last one is a register's
    const auto at = current_.find(inst.operands[k]);
    if (at == current_.end() || at->second.deferred != pc) {
      continue; // the register has another by now
    }
    Value& value = at->second;
    value.deferred = kNowhere;
    value.text = ir_.resized(
        numbers[static_cast<std::size_t>(k)],
        place.bits,
        value.bits,
        place.is_signed,
        !same);
  }
}

/// Writes all of them: memory may change, or the paths part.
void Translator::write_deferred_loads() {
  while (!deferred_.empty()) {
    write_deferred(deferred_.begin()->first);
  }
}

/// Forgets those of which nobody reads what they load.
/// @param live registers that are read.
void Translator::forget_deferred_loads(const Slots& live) {
  for (auto load = deferred_.begin(); load != deferred_.end();) {
    const std::vector<Slot>& targets = flow_.access(load->first).writes;
    if (std::any_of(targets.begin(), targets.end(), [&](Slot slot) {
          return live.count(slot) != 0;
        })) {
      ++load;
      continue;
    }
    for (const Slot slot : targets) {
      const auto value = current_.find(slot);
      if (value != current_.end() && value->second.deferred == load->first) {
        current_.erase(value);
      }
    }
    load = deferred_.erase(load);
  }
}

/// Whether an instruction's form is one of those that strips have.
/// @param operands becomes how many it reads.
bool Translator::has_strip_form(const Inst& inst, int* operands) const {
  if (flow_.control_at(inst.index) != nullptr || inst.guard != kNoSlot ||
      !has_form(inst)) {
    return false;
  }
  *operands = operands_of(opcode_of(inst));
  for (int k = 0; k <= *operands; ++k) {
    const Slot slot = inst.operands[k];
    if (slot == kNoSlot || (slot & kConstantBit) != 0 || inst.widths[k] != 4 ||
        flow_.width_of(slot) != 4) {
      return false;
    }
  }
  return *operands != 0;
}

/// Where the instructions end that strips may have, from one on. Each computes
/// what differs from lane to lane: what all have alike is computed once.
/// @param end of the node.
std::uint32_t Translator::strip_end(std::uint32_t begin, std::uint32_t end)
    const {
  Slots results;
  const auto varies = [&](Slot slot) {
    const auto found = current_.find(slot);
    const auto in = node_->in.find(slot);
    return results.count(slot) != 0 ||
        !(found != current_.end()     ? found->second.shape.uniform()
              : in != node_->in.end() ? in->second.uniform()
                                      : false);
  };
  for (std::uint32_t pc = begin; pc < end; ++pc) {
    const Inst& inst = code_.instructions[pc];
    int operands = 0;
    if (!has_strip_form(inst, &operands) ||
        std::none_of(inst.operands + 1, inst.operands + 1 + operands, varies)) {
      return pc;
    }
    results.insert(inst.operands[0]);
  }
  return end;
}

/// What a strip of lanes loads, number by number, as floats.
std::vector<std::string> Translator::loaded_part(
    const Place& place,
    int strip) {
  const Hosts pointers = pointers_to(place, addresses_of(place));
  const int lanes = strip_lanes();
  const std::string part = strip_type();
  const int row = place.in_pieces() ? strip * lanes / kRowLanes : 0;
  const std::string& begin = row == 0 ? pointers.first : pointers.second;
  const int lane = strip * lanes - row * kRowLanes;
  std::vector<std::string> numbers;
  if (place.shape().stride == 0) {
    for (int k = 0; k < place.count; ++k) {
      const std::string number = ir_.set(
          "load float, ptr " +
          ir_.at(begin, static_cast<std::uint64_t>(4 * k)) + ", align 1");
      const std::string first = ir_.set(
          "insertelement " + part + " poison, float " + number + ", i64 0");
      numbers.push_back(ir_.set(
          "shufflevector " + part + " " + first + ", " + part + " poison, " +
          picks(lanes, [](int) { return 0; })));
    }
    return numbers;
  }
  const std::string type = vector_of(lanes * place.count, "float");
  const std::string at =
      ir_.at(begin, static_cast<std::uint64_t>(lane * place.lane_bytes()));
  const std::string all = ir_.set("load " + type + ", ptr " + at + ", align 1");
  for (int k = 0; k < place.count; ++k) {
    numbers.push_back(ir_.set(
        "shufflevector " + type + " " + all + ", " + type + " poison, " +
        picks(lanes, [&](int i) { return i * place.count + k; })));
  }
  return numbers;
}

/// A register's values in a strip, as floats.
std::string Translator::part_of(Slot slot, int strip) {
  const auto known = parts_.find(slot);
  if (known != parts_.end()) {
    return known->second;
  }
  const auto found = current_.find(slot);
  if (found != current_.end() && found->second.deferred != kNowhere) {
    const std::uint32_t pc = found->second.deferred;
    const Place& place = deferred_.at(pc);
    const Inst& load = code_.instructions[pc];
    if (place.bits == 32 && load.widths[0] == 4) {
      const std::vector<std::string> numbers = loaded_part(place, strip);
      for (int k = place.count; k-- > 0;) {
        const auto at = current_.find(load.operands[k]);
        if (at != current_.end() && at->second.deferred == pc) {
          parts_.emplace(at->first, numbers[static_cast<std::size_t>(k)]);
        }
      }
      return parts_.at(slot);
    }
  }
  const Value value = get(slot);
  const std::string whole = as_real(value, true);
  const std::string type = float_type_of(32, true);
  const int lanes = strip_lanes();
  return parts_[slot] = ir_.set(
             "shufflevector " + type + " " + whole + ", " + type + " poison, " +
             picks(lanes, [&](int i) { return strip * lanes + i; }));
}

/// Writes the instructions of a node.
void Translator::write_straight(std::uint32_t begin, std::uint32_t end) {
  std::uint32_t strips = begin; // where they may begin
  for (std::uint32_t pc = begin; pc < end;) {
    const bool looks = pc == strips && lanes_ == WarpLanes::kAll;
    const std::uint32_t behind = looks ? strip_end(pc, end) : pc;
    strips = looks ? std::max(behind, pc + 1) : strips;
    if (behind - pc >= kShortest) {
      write_strips(pc, behind);
      pc = behind;
    } else {
      write_instruction(code_.instructions[pc++]);
    }
  }
}

/// Writes instructions for strip after strip. What lanes have computed goes to
/// the frame, in between, so that LLVM keeps the strips apart.
void Translator::write_strips(std::uint32_t begin, std::uint32_t end) {
  const Slots live = flow_.live_at(end);
  Slots results;
  Slots inputs;
  std::vector<int> counts; // of operands
  for (std::uint32_t pc = begin; pc < end; ++pc) {
    const Inst& inst = code_.instructions[pc];
    counts.push_back(operands_of(opcode_of(inst)));
    for (int k = counts.back(); k > 0; --k) {
      if (results.count(inst.operands[k]) == 0) {
        inputs.insert(inst.operands[k]);
      }
    }
    results.insert(inst.operands[0]);
  }
  for (const Slot slot : inputs) {
    const auto found = current_.find(slot);
    if (found == current_.end() || found->second.deferred == kNowhere) {
      current_[slot] = get(slot); // once for all strips
    }
  }
  const std::size_t written = ir_.out()->size();
  const int lanes = strip_lanes();
  const std::string part = strip_type();
  for (int strip = 0; strip < kLanes / lanes; ++strip) {
    parts_.clear();
    for (std::uint32_t pc = begin; pc < end; ++pc) {
      const Inst& inst = code_.instructions[pc];
      const int count = counts[pc - begin];
      std::string x[3];
      for (int k = 0; k < count; ++k) {
        x[k] = part_of(inst.operands[1 + k], strip);
      }
      parts_[inst.operands[0]] = ir_.set(
          count == 3 ? "call " + part + " @llvm.fma.v" + std::to_string(lanes) +
                  "f32(" + part + " " + x[0] + ", " + part + " " + x[1] + ", " +
                  part + " " + x[2] + ")"
                     : "f" + opcode_of(inst)[0] + " " + part + " " + x[0] +
                  ", " + x[1]);
    }
    for (const Slot slot : results) {
      if (live.count(slot) != 0) {
        const auto offset =
            slot + static_cast<std::uint64_t>(4 * lanes * strip);
        ir_.line(
            "store " + part + " " + parts_.at(slot) + ", ptr " +
            ir_.at("%registers", offset) + ", align 32");
      }
    }
    ir_.line("call void asm sideeffect \"\", \"~{memory}\"()");
  }
  strip_text_ += ir_.out()->size() - written;
  parts_.clear();
  for (const Slot slot : results) {
    if (live.count(slot) != 0) {
      current_[slot] = from_frame(slot);
    } else {
      current_.erase(slot);
    }
  }
  forget_deferred_loads(live);
  counts_.instructions += end - begin;
  counts_.threads += std::uint64_t{kLanes} * (end - begin);
  written_instructions_ += end - begin;
}

} // namespace cudasim::engine
