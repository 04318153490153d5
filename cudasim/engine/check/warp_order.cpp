#include "cudasim/engine/check/warp_order.h"

#include <algorithm>

namespace cudasim::engine {

void WarpOrder::synchronized(Mask members, Mask live) {
  std::array<std::uint32_t, kParties> joined{};
  for (Mask left = members; left != 0; left &= left - 1) {
    const auto& seen = seen_[static_cast<std::size_t>(__builtin_ctz(left))];
    std::transform(
        joined.begin(),
        joined.end(),
        seen.begin(),
        joined.begin(),
        [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  }
  for (Mask left = members | ~live; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(left));
    joined[lane] = times_[lane]++;
  }
  if ((live & ~members) == 0) {
    joined[kWholeWarp] = times_[kWholeWarp]++;
  }
  for (Mask left = members; left != 0; left &= left - 1) {
    seen_[static_cast<std::size_t>(__builtin_ctz(left))] = joined;
  }
}

bool WarpOrder::is_before(
    Party earlier,
    std::uint32_t time,
    Party later,
    Mask live) const {
  if (earlier == later && earlier != kWholeWarp) {
    return true;
  }
  if (later != kWholeWarp) {
    return seen_[later][earlier] >= time;
  }
  for (Mask left = live; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(left));
    if (lane != earlier && seen_[lane][earlier] < time) {
      return false;
    }
  }
  return true;
}

} // namespace cudasim::engine
