// Where warps of a block wait for each other although no barrier says so.
#pragma once

#include <cstdint>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/lowering/control_flow_graph.h"

namespace cudasim::engine {

/// Plain stores to global memory that a thread can get to with a plain load
/// from global memory behind it and no barrier in between.
///
/// A GPU issues the loads of all warps of a block before the first of them has
/// its value, so what they load was there before any of them stores. Programs
/// depend on it: torch.compile of PyTorch 2.9 counts an optimizer's steps by a
/// kernel in which each thread loads the count, adds one and stores it.
///
/// @param code with its instructions, controls and accesses.
/// @returns indices of instructions, rising.
std::vector<std::uint32_t> first_stores(
    const Code& code,
    const ControlFlowGraph& graph);

} // namespace cudasim::engine
