#include "cudasim/engine/translation/helpers.h"

#include "cudasim/engine/memory/access.h"

namespace cudasim::engine {

std::uint32_t find_memory(
    const RegionState* state,
    std::uint64_t low,
    std::uint64_t high,
    std::uint32_t is_write) {
  const bool writes = is_write != 0;
  return find_range(*state->warp, low, high, writes) &&
          is_cached(*state->ranges, low, high, writes)
      ? 1
      : 0;
}

Flow execute_collective(Warp* warp, const Inst* inst, const Control* control) {
  return control->handler(*warp, *inst, kAllLanes);
}

} // namespace cudasim::engine
