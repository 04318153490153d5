#include "cudasim/engine/check/exchanges.h"

#include <algorithm>

namespace cudasim::engine {

void Exchanges::add(
    const Site& site,
    std::uint32_t epoch,
    Mask lanes,
    Mask members) {
  if (epoch != epoch_) {
    // What was read before the barrier is over anyway.
    all_.clear();
    epoch_ = epoch;
  }
  const auto same = [&](const Exchange& it) {
    return it.site.inst == site.inst && it.lanes == lanes &&
        it.members == members;
  };
  auto found = std::find_if(all_.begin(), all_.end(), same);
  if (found == all_.end()) {
    found = all_.insert(found, {site, lanes, members, 0, 0});
  }
  found->last_but_one = found->last;
  found->last = ++count_;
}

bool Exchanges::read_is_over(
    const Site& site,
    std::uint32_t since,
    Mask readers,
    Mask writers,
    ValueFlow& flow) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Exchange& it) {
    return it.last > since && (readers & ~it.lanes) == 0 &&
        (writers & ~it.members) == 0 &&
        (it.site.code != site.code ||
         flow.reaches(
             *site.code,
             site.inst->index,
             it.site.inst->index,
             it.last_but_one > since));
  });
}

} // namespace cudasim::engine
