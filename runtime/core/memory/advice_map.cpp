#include "runtime/core/memory/advice_map.h"

#include <algorithm>
#include <iterator>

namespace accelerator::runtime {
namespace {

constexpr std::uint64_t kAdvicePage = 4096;

std::uint64_t page_of(std::uint64_t address) {
  return address / kAdvicePage * kAdvicePage;
}

std::uint64_t page_behind(std::uint64_t end) {
  return page_of(end + kAdvicePage - 1);
}

} // namespace

void AdviceMap::split(std::uint64_t address) {
  auto after = runs_.upper_bound(address);
  if (after == runs_.begin()) {
    return;
  }
  auto& [begin, run] = *std::prev(after);
  if (begin < address && address < run.end) {
    runs_.emplace(address, run);
    run.end = address;
  }
}

void AdviceMap::change(
    std::uint64_t begin,
    std::uint64_t end,
    const std::function<void(Advice&)>& change) {
  const std::lock_guard lock(mutex_);
  begin = page_of(begin);
  end = page_behind(end);
  split(begin);
  split(end);
  while (begin < end) {
    auto next = runs_.lower_bound(begin);
    if (next == runs_.end() || next->first > begin) {
      const std::uint64_t gap_end =
          next == runs_.end() ? end : std::min(end, next->first);
      next = runs_.emplace(begin, Run{gap_end, {}}).first;
    }
    change(next->second.advice);
    begin = next->second.end;
  }
}

void AdviceMap::visit(
    std::uint64_t begin,
    std::uint64_t end,
    const std::function<void(const Advice&)>& visit) const {
  const std::lock_guard lock(mutex_);
  begin = page_of(begin);
  end = std::max(page_behind(end), begin + kAdvicePage);
  while (begin < end) {
    const auto after = runs_.upper_bound(begin);
    if (after != runs_.begin() && std::prev(after)->second.end > begin) {
      visit(std::prev(after)->second.advice);
      begin = std::prev(after)->second.end;
    } else {
      visit(Advice{});
      begin = after == runs_.end() ? end : after->first;
    }
  }
}

void AdviceMap::forget(std::uint64_t begin, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  begin = page_of(begin);
  end = page_behind(end);
  split(begin);
  split(end);
  runs_.erase(runs_.lower_bound(begin), runs_.lower_bound(end));
}

AdviceMap& advice_map() {
  static auto* map = new AdviceMap; // outlives static destructors
  return *map;
}

} // namespace accelerator::runtime
