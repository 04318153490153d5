// Where a region ends or pauses, and where it goes on when it is called again
// (region.h).
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/translation/helpers.h"
#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {

std::string node_label(std::uint32_t pc) {
  return "n" + std::to_string(pc);
}

void Translator::write_end(std::uint32_t pc, RegionEnd end) {
  const std::uint64_t result =
      static_cast<std::uint64_t>(end) << 32 | static_cast<std::uint64_t>(pc);
  ir_.line("ret i64 " + std::to_string(result));
}

/// What the warp has executed.
void Translator::write_counts() {
  const std::string counted = counted_now();
  ir_.store(
      "i64", counted, ir_.at("%state", offsetof(RegionState, instructions)));
  const std::string threads = threads_now();
  ir_.store(
      "i64",
      threads,
      ir_.at("%state", offsetof(RegionState, thread_instructions)));
}

/// A block of its own. @returns its label.
std::string Translator::in_cold_block(const std::function<void()>& write) {
  std::string* const out = ir_.out();
  std::string text;
  ir_.to(&text);
  const std::string label = ir_.label();
  ir_.begin(label);
  // What is loaded there is not where the code goes on.
  const std::map<Slot, Value> values = current_;
  const auto loads = deferred_;
  write();
  current_ = values;
  deferred_ = loads;
  ir_.to(out);
  cold_ += text;
  return label;
}

/// Registers that are needed where the region ends: by its lanes, and by those
/// that have parted from them.
Slots Translator::live_apart(std::uint32_t pc) const {
  Slots live = flow_.live_at(pc);
  const auto add = [&](std::uint32_t at) { live.merge(flow_.live_at(at)); };
  if (hammock_ != nullptr) {
    for (const Level& level : hammock_->levels) {
      add(flow_.control_at(level.branch)->join);
      if (!level.is_second) {
        add(level.branch + 1);
      }
    }
  }
  return live;
}

/// The value of a register in all lanes: each has that of its own level.
Value Translator::value_apart(Slot slot) {
  Value value = get(slot);
  if (hammock_ == nullptr) {
    return value;
  }
  const auto in = [slot](const std::map<Slot, Value>& values) {
    const auto found = values.find(slot);
    return found == values.end() ? nullptr : &found->second;
  };
  const Value* inner = in(current_);
  const auto& levels = hammock_->levels;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    const Value* const outer = in(*level->others);
    const bool same = inner == nullptr || outer == nullptr
        ? inner == outer
        : inner->text == outer->text && inner->shape == outer->shape;
    if (!same) {
      const Value mask{kVarying, 1, ir_.bits_of(level->mask)};
      value = blend(mask, value, value_in(*level->others, slot));
    }
    inner = outer;
  }
  return value;
}

/// How the lanes have parted.
void Translator::write_levels() {
  if (hammock_ == nullptr) {
    return;
  }
  std::size_t place = offsetof(RegionState, parted);
  const auto put =
      [&](const char* type, const std::string& value, std::size_t offset) {
        ir_.store(type, value, ir_.at("%state", place + offset));
      };
  for (const Level& level : hammock_->levels) {
    put("i32", std::to_string(level.branch), offsetof(PartedLanes, branch));
    put("i32", level.taken, offsetof(PartedLanes, taken));
    put("i32", level.is_second ? "1" : "0", offsetof(PartedLanes, is_second));
    put("i64", ir_.load("i64", level.since), offsetof(PartedLanes, since));
    place += sizeof(PartedLanes);
  }
  ir_.store(
      "i64",
      std::to_string(hammock_->levels.size()),
      ir_.at("%state", offsetof(RegionState, levels)));
}

/// Ends the region: what is needed afterwards goes to the frame.
void Translator::write_exit(
    std::uint32_t pc,
    RegionEnd end,
    const Slots& except) {
  if (end != RegionEnd::kFault) {
    // Vectors first: the calls for the others take their machine registers.
    std::vector<std::pair<Slot, Value>> affine;
    for (const Slot slot : live_apart(pc)) {
      if (tracked_.count(slot) != 0 && written_.count(slot) != 0 &&
          except.count(slot) == 0) {
        const Value value = value_apart(slot);
        if (value.shape.affine && value.bits != 1) {
          affine.emplace_back(slot, value);
        } else {
          write_back(slot, value);
        }
      }
    }
    for (const auto& [slot, value] : affine) {
      write_back(slot, value);
    }
    write_levels();
  }
  write_counts();
  write_end(pc, end);
}

/// The same in a block of its own. @returns its label.
std::string Translator::cold_exit(
    std::uint32_t pc,
    RegionEnd end,
    const Slots& except) {
  return in_cold_block([&] { write_exit(pc, end, except); });
}

/// Ends the region before an instruction at which the warp waits for others.
/// Registers are left as write_resumptions() reads them: of an affine value the
/// base, which is lane 0's.
/// @param to the node that goes on.
void Translator::write_pause(std::uint32_t pc, std::uint32_t to) {
  Node& node = nodes_.at(to);
  for (const Slot slot : flow_.live_at(to)) {
    if (tracked_.count(slot) == 0) {
      continue;
    }
    const ValueShape there = shape_at(node, slot);
    if (written_.count(slot) == 0) {
      continue; // it is in the frame
    }
    const Value value = get(slot);
    if (there.affine && value.bits != 1) {
      ir_.store(
          type_of(value.bits, false), value.text, ir_.at("%registers", slot));
    } else if (there.affine) {
      write_back(slot, value);
    } else {
      write_back(slot, {kVarying, value.bits, ir_.lanes_of(value)});
    }
  }
  if (pc != to) {
    for (const Slot slot : flow_.access(pc).reads) {
      if (tracked_.count(slot) != 0 && written_.count(slot) != 0) {
        write_back(slot, get(slot));
      }
    }
  }
  reach(node);
  write_counts();
  ir_.store(
      "i64",
      std::to_string(node.resume),
      ir_.at("%state", offsetof(RegionState, resume)));
  write_end(pc, RegionEnd::kPauses);
}

/// The same in a block of its own. @returns its label.
std::string Translator::cold_pause(std::uint32_t pc, std::uint32_t to) {
  return in_cold_block([&] { write_pause(pc, to); });
}

/// Goes on where the region paused.
/// @param fresh label of where it begins.
std::string Translator::write_resumptions(const std::string& fresh) {
  std::string* const out = ir_.out();
  std::string blocks;
  std::string ways;
  ir_.to(&blocks);
  for (const auto& [begin, node] : nodes_) {
    if (node.resume == 0 || !node.reached) {
      continue;
    }
    const std::string label = ir_.label();
    ways += " i64 " + std::to_string(node.resume) + ", label %" + label;
    ir_.begin(label);
    for (const auto& [slot, shape] : node.in) {
      const int bits = flow_.bits_of(slot);
      if (!shape.affine) {
        ir_.store(
            type_of(bits, true), from_frame(slot).text, vector_variable(slot));
        continue;
      }
      const std::string place = ir_.at("%registers", slot);
      const std::string base = bits == 1
          ? ir_.set("icmp ne i32 " + ir_.load("i32", place) + ", 0")
          : ir_.load(type_of(bits, false), place);
      ir_.store(type_of(bits, false), base, scalar_variable(slot));
    }
    ir_.jump(node_label(begin));
  }
  ir_.to(out);
  const std::string resume =
      ir_.load("i64", ir_.at("%state", offsetof(RegionState, resume)));
  ir_.line("switch i64 " + resume + ", label %" + fresh + " [" + ways + " ]");
  return blocks;
}

} // namespace cudasim::engine
