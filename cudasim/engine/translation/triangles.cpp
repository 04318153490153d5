// Branches around a few instructions, where some lanes take them and others do
// not: all lanes compute, and what the instructions wrote counts for the lanes
// that did not branch. Loads, stores and handlers see these lanes alone.
#include <algorithm>
#include <iterator>
#include <string>

#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {
namespace {

/// Instructions that do nothing but compute, load or store: they neither wait
/// nor let other lanes go first.
bool is_plain(const std::string& text) {
  static const char* const kPlain[] = {
      "abs",      "add",  "and",  "bfe",  "bfi", "brev", "clz",  "cnot",
      "copysign", "cvt",  "cvta", "div",  "ex2", "fma",  "ld",   "lg2",
      "lop3",     "mad",  "max",  "min",  "mov", "mul",  "neg",  "not",
      "or",       "popc", "prmt", "rcp",  "rem", "sad",  "selp", "setp",
      "shf",      "shl",  "shr",  "sqrt", "st",  "sub",  "xor"};
  const std::string name = text.substr(0, text.find('.'));
  return std::any_of(
      std::begin(kPlain), std::end(kPlain), [&](const char* plain) {
        return name == plain;
      });
}

} // namespace

/// Whether a branch that ends a node leaves out a short node behind it, which
/// nothing else leads to, and behind which lanes meet.
bool Translator::is_triangle(const Node& node) const {
  constexpr std::uint32_t kMost = 40; // instructions
  const std::uint32_t begin = node.end;
  const auto found = nodes_.find(begin);
  const std::uint32_t target = flow_.control_at(begin - 1)->target;
  // Where lanes do not meet, each of their groups executes what follows.
  if (target <= begin || target - begin > kMost || found == nodes_.end() ||
      flow_.control_at(begin - 1)->join != target || found->second.ends ||
      found->second.end != target || flow_.is_target(begin) ||
      given_up_.count(begin) != 0) {
    return false;
  }
  for (std::uint32_t pc = begin; pc < target; ++pc) {
    const std::string& text = code_.texts[pc];
    if (flow_.control_at(pc) != nullptr || !is_plain(text) ||
        is_ordered_access(text) ||
        std::binary_search(
            code_.first_stores.begin(), code_.first_stores.end(), pc)) {
      return false;
    }
  }
  return true;
}

/// Writes the node behind a branch for the lanes that do not take it.
/// @param stays of each lane, a vector of bits: whether it executes the node.
void Translator::write_triangle(
    std::uint32_t branch,
    std::uint32_t target,
    const std::string& stays) {
  const std::map<Slot, Value> before = current_;
  Triangle here;
  here.branch = branch;
  here.mask = ir_.mask_of(stays);
  here.before = &before;
  // Where lanes part, the branch counts once, and those that take it.
  here.counted = counted_ - 1;
  here.counted_threads = counted_threads_;
  triangle_ = &here;
  const std::string taken = ir_.set("xor i32 " + here.mask + ", -1");
  here.threads = lanes_in(taken);
  for (std::uint32_t pc = branch + 1; pc < target; ++pc) {
    write_instruction(code_.instructions[pc]);
  }
  triangle_ = nullptr;
  threads_beyond_ = here.threads;
  std::map<Slot, Value> behind = std::move(current_);
  current_ = before;
  const Slots live = flow_.live_at(target);
  for (std::uint32_t pc = branch + 1; pc < target; ++pc) {
    for (const Slot slot : flow_.access(pc).writes) {
      if (live.count(slot) != 0 && behind.count(slot) != 0) {
        current_[slot] =
            blend({kVarying, 1, stays}, behind.at(slot), get(slot));
        behind.erase(slot);
      }
    }
  }
  write_edge(target - 1, target);
  threads_beyond_.clear();
}

} // namespace cudasim::engine
