#include "cudasim/engine/counts/instruction_counts.h"

namespace cudasim::engine {

const char* name_of(AddressPattern pattern) {
  switch (pattern) {
    case AddressPattern::kNone:
      return "none";
    case AddressPattern::kAlike:
      return "alike";
    case AddressPattern::kConsecutive:
      return "consecutive";
    case AddressPattern::kStrided:
      return "strided";
    case AddressPattern::kScattered:
      break;
  }
  return "scattered";
}

void InstructionCounts::add(
    const Code& code,
    const std::vector<InstructionCount>& counts) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    InstructionCount* sum = nullptr;
    for (std::size_t k = 0; k < kAddressPatterns; ++k) {
      const InstructionCount::Executed& executed = counts[i].of[k];
      if (executed.by_threads == 0) {
        continue;
      }
      if (sum == nullptr) {
        sum = &counts_[{code.name, i, code.texts[i]}];
      }
      sum->of[k].by_full_warps += executed.by_full_warps;
      sum->of[k].by_others += executed.by_others;
      sum->of[k].by_threads += executed.by_threads;
    }
  }
}

void InstructionCounts::write(std::ostream& out) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [place, count] : counts_) {
    const auto& [function, index, text] = place;
    for (std::size_t k = 0; k < kAddressPatterns; ++k) {
      const InstructionCount::Executed& executed = count.of[k];
      if (executed.by_threads != 0) {
        out << function << '\t' << index << '\t' << text << '\t'
            << name_of(static_cast<AddressPattern>(k)) << '\t'
            << executed.by_full_warps << '\t' << executed.by_others << '\t'
            << executed.by_threads << '\n';
      }
    }
  }
}

} // namespace cudasim::engine
