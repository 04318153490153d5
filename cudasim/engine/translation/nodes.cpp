// Which instructions a region has, and which may follow which.
#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {

/// Whether the interpreter has to execute an instruction.
bool Translator::is_end(std::uint32_t pc) const {
  if (pc == stop_) {
    return true;
  }
  const Control* const control = flow_.control_at(pc);
  if (control == nullptr) {
    return false;
  }
  switch (control->kind) {
    case ControlKind::kBranch:
      return false;
    case ControlKind::kWarpBarrier:
    case ControlKind::kCollective: {
      if (lanes_ != WarpLanes::kAll ||
          code_.instructions[pc].guard != kNoSlot) {
        return true;
      }
      Value members;
      return control->members != kNoSlot &&
          !(constant(code_.instructions[pc], control->members, 4, &members) &&
            members.text == "4294967295");
    }
    default:
      return true;
  }
}

void Translator::discover() {
  std::deque<std::uint32_t> next{entry_};
  std::set<std::uint32_t> seen; // one may be none of the region's
  // What may be a hammock comes first, and to its end: native code has all of
  // it, or no form for it. It takes no room from what was found before.
  std::uint32_t branch = 0;
  std::uint32_t join = 0;
  const auto is_within = [&](std::uint32_t pc) {
    return pc > branch && pc < join;
  };
  const auto add = [&](std::uint32_t pc) {
    if (is_within(pc)) {
      next.push_front(pc);
    } else {
      next.push_back(pc);
    }
  };
  std::size_t total = 0; // beside hammocks
  std::size_t in_hammocks = 0;
  const std::size_t longest_hammocks =
      std::min<std::size_t>(kLongestHammock, 3 * most_ / 2);
  const auto& graph = flow_.graph();
  while (!next.empty() && (total < most_ || is_within(next.front()))) {
    const std::uint32_t begin = next.front();
    next.pop_front();
    if (!seen.insert(begin).second) {
      continue;
    }
    Node node;
    std::uint32_t pc = begin;
    while (true) {
      if (pc != begin && is_first_store(pc)) {
        add(pc);
        break;
      }
      if (is_end(pc) || pc - begin >= kLongestNode) {
        node.ends = true; // what is longer goes on with the next region
        if (is_plain_barrier(pc)) {
          add(pc + 1);
        }
        break;
      }
      const Control* const control = flow_.control_at(pc);
      ++pc;
      if (control != nullptr && control->kind == ControlKind::kBranch) {
        const bool guarded = code_.instructions[pc - 1].guard != kNoSlot;
        if (guarded && pc > join && may_be_hammock(pc - 1) &&
            in_hammocks + control->join - pc <= longest_hammocks) {
          branch = pc - 1;
          join = control->join;
        }
        add(control->target);
        if (guarded) {
          add(pc);
        }
        break;
      }
      if (graph.blocks[graph.block_of[pc]].begin == pc) {
        add(pc);
        break;
      }
    }
    if (begin != entry_ && pc - begin > most_) {
      continue; // a region of its own: else each that leads to it has it, too
    }
    node.end = pc;
    // Registers go to the frame and back around a barrier.
    constexpr std::size_t kPause = 8; // instructions
    (is_within(begin) ? in_hammocks : total) +=
        pc - begin + (node.ends && is_plain_barrier(pc) ? kPause : 0);
    if (node.ends && pc == begin && begin != entry_ && !is_plain_barrier(pc)) {
      continue; // nothing to execute: the edge ends the region
    }
    nodes_.emplace(begin, std::move(node));
  }
  find_loops();
  find_resumptions();
  for (const auto& [begin, node] : nodes_) {
    for (std::uint32_t pc = begin; pc < node.end; ++pc) {
      const SlotAccess& access = flow_.access(pc);
      written_.insert(access.writes.begin(), access.writes.end());
      for (const auto* slots : {&access.reads, &access.writes}) {
        for (const Slot slot : *slots) {
          if (is_tracked(slot)) {
            tracked_.insert(slot);
          }
        }
      }
    }
  }
}

bool Translator::is_first_store(std::uint32_t pc) const {
  const auto& stores = code_.first_stores;
  return std::binary_search(stores.begin(), stores.end(), pc);
}

/// Whether all lanes wait at an instruction for others of the block, and are
/// given nothing by them.
bool Translator::is_plain_barrier(std::uint32_t pc) const {
  const Control* const control = flow_.control_at(pc);
  return lanes_ == WarpLanes::kAll && control != nullptr &&
      control->kind == ControlKind::kBarrier &&
      control->reduction == BarrierReduction::kNone &&
      code_.instructions[pc].guard == kNoSlot;
}

/// The nodes that may follow one.
std::vector<std::uint32_t> Translator::successors(std::uint32_t begin) const {
  const Node& node = nodes_.at(begin);
  if (node.ends) {
    return {};
  }
  const Control* const control = flow_.control_at(node.end - 1);
  if (control == nullptr || control->kind != ControlKind::kBranch) {
    return {node.end};
  }
  if (code_.instructions[node.end - 1].guard == kNoSlot) {
    return {control->target};
  }
  return {control->target, node.end};
}

/// The nodes that may come after one.
std::set<std::uint32_t> Translator::behind(std::uint32_t begin) const {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> next{begin};
  while (!next.empty()) {
    const std::uint32_t at = next.back();
    next.pop_back();
    for (const std::uint32_t successor : successors(at)) {
      if (nodes_.count(successor) != 0 && seen.insert(successor).second) {
        next.push_back(successor);
      }
    }
  }
  return seen;
}

void Translator::find_loops() {
  for (auto& [begin, node] : nodes_) {
    node.repeats = behind(begin).count(begin) != 0;
  }
}

/// Numbers the nodes behind pauses, where all lanes wait: registers are not as
/// the interpreter has them in between. One in the middle of a loop is none of
/// them: LLVM does little for loops that are entered in two places.
void Translator::find_resumptions() {
  if (lanes_ != WarpLanes::kAll) {
    return;
  }
  std::uint64_t count = 0;
  for (auto& [begin, node] : nodes_) {
    const bool is_behind_barrier = begin != 0 && is_plain_barrier(begin - 1);
    if ((is_behind_barrier || is_first_store(begin)) &&
        (!node.repeats || begins_loop(begin))) {
      node.resume = ++count;
    }
  }
}

/// Whether a node ends with a barrier behind which the region goes on.
bool Translator::pauses(const Node& node) const {
  const auto behind = nodes_.find(node.end + 1);
  return node.ends && is_plain_barrier(node.end) && behind != nodes_.end() &&
      behind->second.resume != 0;
}

/// Whether all ways into the loop that a node is part of lead to it.
bool Translator::begins_loop(std::uint32_t begin) const {
  std::set<std::uint32_t> loop{begin};
  for (const std::uint32_t node : behind(begin)) {
    if (behind(node).count(begin) != 0) {
      loop.insert(node);
    }
  }
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& entry) {
    const auto& [at, node] = entry;
    if (loop.count(at) != 0) {
      return at == begin || (at != entry_ && node.resume == 0);
    }
    const std::vector<std::uint32_t> next = successors(at);
    return std::all_of(next.begin(), next.end(), [&](std::uint32_t successor) {
      return successor == begin || loop.count(successor) == 0;
    });
  });
}

bool Translator::is_tracked(Slot slot) const {
  const int width = flow_.width_of(slot);
  return width == 0 || width == 2 || width == 4 || width == 8;
}

Slots Translator::inputs() const {
  Slots found;
  const Slots live = flow_.live_at(entry_);
  std::set_intersection(
      live.begin(),
      live.end(),
      tracked_.begin(),
      tracked_.end(),
      std::inserter(found, found.end()));
  return found;
}

bool Translator::is_short() const {
  constexpr std::size_t kFew = 12;
  return written_instructions_ < kFew &&
      std::none_of(
             nodes_.begin(),
             nodes_.end(),
             [](const auto& node) { return node.second.repeats; });
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Translator::pieces()
    const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (const auto& [begin, node] : nodes_) {
    all.emplace_back(begin, node.end);
  }
  return all;
}

std::vector<std::uint32_t> Translator::pcs() const {
  std::vector<std::uint32_t> all;
  for (const auto& [begin, node] : nodes_) {
    for (std::uint32_t pc = begin; node.reached && pc < node.end; ++pc) {
      all.push_back(pc);
    }
  }
  return all;
}

} // namespace cudasim::engine
