// Where a split of a warp is, while it is executed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/warp/warp_runner.h"

namespace cudasim::engine {

/// Where a split is, in a form that the loop can keep in registers.
struct WarpRunner::Cursor {
  [[gnu::always_inline]] Cursor(const Split& split, bool loads_only)
      : pc(split.pc),
        mask(split.mask),
        code(split.frame->code),
        program(code->instructions.data()),
        join(
            split.join != nullptr && split.join->frame == split.frame
                ? split.join->pc
                : kNowhere),
        stop(join) {
    if (loads_only) {
      stop_at_store();
    }
  }

  /// Stops at the next store too, if no branch is taken before.
  void stop_at_store() {
    const auto& stores = code->first_stores;
    const auto store = std::lower_bound(stores.begin(), stores.end(), pc);
    stop = join;
    if (store != stores.end() && (join < pc || *store < join)) {
      stop = *store;
    }
  }

  std::uint32_t pc;
  Mask mask;
  const Code* code;
  const Inst* program;
  std::uint32_t join; // where the others are to be met
  std::uint32_t stop; // the same, or a store that is before
};

} // namespace cudasim::engine
