#include "cudasim/engine/lowering/register_allocation.h"

#include <algorithm>
#include <map>

#include "cudasim/engine/code/watched_registers.h"

namespace cudasim::engine {
namespace {

/// A set of registers, one bit each.
class Bits {
 public:
  explicit Bits(std::size_t size) : words_((size + 63) / 64) {}
  void set(std::size_t i) {
    words_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  bool test(std::size_t i) const {
    return (words_[i / 64] >> (i % 64) & 1) != 0;
  }
  /// this |= other & ~except; whether that changed anything.
  bool add(const Bits& other, const Bits& except) {
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t more =
          other.words_[i] & ~except.words_[i] & ~words_[i];
      words_[i] |= more;
      changed |= more;
    }
    return changed != 0;
  }
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<std::uint32_t>(
            i * 64 + static_cast<std::size_t>(__builtin_ctzll(word))));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

struct Interval {
  std::uint32_t first = 0xffffffffu;
  std::uint32_t last = 0;
  void cover(std::uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

std::vector<Interval> live_intervals(
    std::size_t count,
    const std::vector<Access>& accesses,
    const ControlFlowGraph& graph) {
  const std::size_t blocks = graph.blocks.size();
  // `in`: live at the beginning; `defined`: written before any read.
  std::vector<Bits> in(blocks, Bits(count));
  std::vector<Bits> defined(blocks, Bits(count));
  std::vector<Interval> intervals(count);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::uint32_t i = graph.blocks[b].begin; i < graph.blocks[b].end;
         ++i) {
      for (const std::uint32_t reg : accesses[i].reads) {
        intervals[reg].cover(i);
        if (!defined[b].test(reg)) {
          in[b].set(reg);
        }
      }
      for (const std::uint32_t reg : accesses[i].writes) {
        intervals[reg].cover(i);
        if (accesses[i].guarded && !defined[b].test(reg)) {
          in[b].set(reg);
        }
        if (!accesses[i].guarded) {
          defined[b].set(reg);
        }
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks; b-- > 0;) {
      for (const std::uint32_t successor : graph.blocks[b].successors) {
        changed |= in[b].add(in[successor], defined[b]);
      }
    }
  }
  for (std::size_t b = 0; b < blocks; ++b) {
    const BasicBlock& block = graph.blocks[b];
    in[b].for_each(
        [&](std::uint32_t reg) { intervals[reg].cover(block.begin); });
    for (const std::uint32_t successor : block.successors) {
      in[successor].for_each(
          [&](std::uint32_t reg) { intervals[reg].cover(block.end - 1); });
    }
  }
  return intervals;
}

} // namespace

Allocation allocate_registers(
    const std::vector<VirtualRegister>& registers,
    const std::vector<Access>& accesses,
    const ControlFlowGraph& graph) {
  const auto intervals = live_intervals(registers.size(), accesses, graph);
  std::vector<std::uint32_t> order;
  for (std::uint32_t reg = 0; reg < registers.size(); ++reg) {
    if (registers[reg].permanent || intervals[reg].first != 0xffffffffu) {
      order.push_back(reg);
    }
  }
  const auto begin = [&](std::uint32_t reg) {
    return registers[reg].permanent ? 0 : intervals[reg].first;
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return begin(a) != begin(b) ? begin(a) < begin(b) : a < b;
  });
  Allocation result;
  result.slots.assign(registers.size(), kNoSlot);
  // Predicates are small: 16 of them take one place of 64 bytes.
  std::map<std::uint32_t, std::vector<Slot>> free;
  std::multimap<std::uint32_t, std::uint32_t> active; // end -> register
  for (const std::uint32_t reg : order) {
    // A place is free again after the instruction that reads it last. An
    // instruction may not write where it reads: handlers blend results.
    while (!kWatchRegisters && !active.empty() &&
           active.begin()->first < begin(reg)) {
      const std::uint32_t old = active.begin()->second;
      free[registers[old].bytes].push_back(result.slots[old]);
      active.erase(active.begin());
    }
    std::vector<Slot>& places = free[registers[reg].bytes];
    if (kWatchRegisters) {
      places.push_back(static_cast<Slot>(result.frame_bytes));
      result.frame_bytes +=
          (registers[reg].bytes + 63) / 64 * 64 + kRegisterGap;
    } else if (places.empty()) {
      const std::uint32_t bytes = std::max(registers[reg].bytes, 64u);
      for (std::uint32_t at = bytes; at > 0; at -= registers[reg].bytes) {
        places.push_back(
            static_cast<Slot>(result.frame_bytes + at - registers[reg].bytes));
      }
      result.frame_bytes += bytes;
    }
    result.slots[reg] = places.back();
    places.pop_back();
    if (!registers[reg].permanent) {
      active.emplace(intervals[reg].last, reg);
    }
  }
  // A register that is never used still needs a place if it is named.
  result.frame_bytes += 512;
  for (Slot& slot : result.slots) {
    if (slot == kNoSlot) {
      slot = static_cast<Slot>(result.frame_bytes - 512);
    }
  }
  return result;
}

} // namespace cudasim::engine
