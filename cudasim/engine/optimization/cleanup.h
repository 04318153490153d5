// Takes out what is of no use: branches that are known, copies, dead code.
#pragma once

#include "cudasim/engine/optimization/values.h"

namespace cudasim::engine::optimization {

/// Makes jumps of branches, and numbers of results, that are known.
void fold_constants(FlatFunction& flat, const FlowGraph& flow, Values& values);

/// Lets steps read what a register was copied from, within each block.
void propagate_copies(FlatFunction& flat, const FlowGraph& flow);

/// Takes out steps without another effect than to write registers that nobody
/// reads.
/// @returns whether there was one: others may be of no use without it.
bool remove_dead_steps(FlatFunction& flat);

/// Numbers the registers that are left from 0 on.
void renumber_registers(FlatFunction& flat);

} // namespace cudasim::engine::optimization
