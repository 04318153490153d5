// Unrolls loops whose number of rounds is known, where that tells which places
// of variables they access.
#pragma once

#include <set>

#include "cudasim/engine/optimization/values.h"

namespace cudasim::engine::optimization {

/// Puts so many copies of a loop in front of it as it has rounds; the loop
/// itself stays behind them, and goes when no way leads there. Of loops within
/// each other with one of the blocks `wanted`, the smallest is taken.
/// @returns whether there was one.
bool unroll_loops(
    FlatFunction& flat,
    const FlowGraph& flow,
    Values& values,
    const std::set<std::uint32_t>& wanted);

} // namespace cudasim::engine::optimization
