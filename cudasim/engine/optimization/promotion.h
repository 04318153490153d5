// Puts variables into registers: those of which every access is at a known
// place ("scalar replacement of aggregates").
#pragma once

#include <set>

#include "cudasim/engine/optimization/values.h"

namespace cudasim::engine::optimization {

struct PromotionResult {
  std::size_t variables = 0; // that are in registers now
  /// Blocks with an access somewhere in a variable which would be at a known
  /// place if a loop were unrolled.
  std::set<std::uint32_t> indexed;
};

/// Replaces loads and stores of each variable that nothing else can see.
/// Variables whose address is kept, compared or passed on stay, and so do
/// accesses beyond a variable, misaligned, volatile or atomic ones.
PromotionResult promote_variables(
    FlatFunction& flat,
    const FlowGraph& flow,
    Values& values);

} // namespace cudasim::engine::optimization
