// Where warps of a block wait for each other although no barrier says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/lowering/control_flow_graph.h"
#include "cudasim/engine/lowering/register_allocation.h"

namespace cudasim::engine {

/// Plain stores to global memory that a thread can get to with a load behind it
/// that the whole block does at one address, and no barrier in between.
///
/// A GPU issues the loads of all warps of a block before the first of them has
/// its value, so what they load was there before any of them stores. Programs
/// depend on it: torch.compile of PyTorch 2.9 counts an optimizer's steps by a
/// kernel in which each thread loads the count, adds one and stores it.
///
/// @param code with its instructions, controls and accesses.
/// @param common which instructions have operands that are the same for all
/// threads of a block.
/// @returns indices of instructions, rising.
std::vector<std::uint32_t> first_stores(
    const Code& code,
    const ControlFlowGraph& graph,
    const std::vector<bool>& common);

/// Which instructions have no operand that depends on the thread: on its
/// indices, or on what was computed or loaded with them.
/// @param threads registers that say which thread it is.
/// @param accesses of each instruction, its guard first. @param registers how
/// many there are.
std::vector<bool> common_instructions(
    const std::vector<std::uint32_t>& threads,
    const std::vector<Access>& accesses,
    std::size_t registers);

} // namespace cudasim::engine
