// Instructions for which all lanes of a mask have to be there: bar.warp.sync,
// shfl.sync, vote.sync, ...
#pragma once

#include <vector>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/state/warp.h"
#include "cudasim/engine/warp/splits.h"

namespace cudasim::engine {

/// All lanes that the active ones wait for.
Mask members_of(Warp& warp, const Control& control, Mask active);

/// Whether a split gathers with another one. Lanes of one mask can come to
/// different places of a program, if it is the same instruction that is there
/// (CUDA programming guide, "Warp shuffle functions" and the like).
bool meet(const Split& leader, const Split& split);

/// Runs the handler of an instruction, for the lanes of each member mask by
/// themselves: one instruction can serve several groups of lanes.
Flow run_collective(
    Warp& warp,
    const Inst& inst,
    const Control& control,
    Mask active);

/// The same for splits at different places: their operands are brought together
/// in registers of its own.
Flow run_collective(Warp& warp, const std::vector<Split>& splits, Mask all);

} // namespace cudasim::engine
