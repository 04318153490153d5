// The functions of the device runtime that kernels call: printf, assert, malloc
// and free, and those in device_runtime/. Source: CUDA programming guide,
// "Formatted output", "Assertion", "Dynamic global memory allocation".
#pragma once

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/state/warp.h"
#include "cudasim/engine/warp/enclosing_block.h"

namespace cudasim::engine {

/// Runs a builtin for the active lanes.
/// @returns false on a fault, which is then in the warp.
bool call_builtin(
    Warp& warp,
    EnclosingBlock& block,
    const Inst& inst,
    const Control& control,
    Mask active);

} // namespace cudasim::engine
