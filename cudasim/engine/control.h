// Handlers that only hand over to the scheduler or say what is not supported.
#pragma once

#include <string_view>

#include "cudasim/engine/code.h"
#include "cudasim/engine/warp.h"

namespace cudasim::engine {

/// Runs nothing: the scheduler looks the instruction up in Code::controls.
Flow control_instruction(Warp& warp, const Inst& inst, Mask active);

/// Faults with kUnsupported; the report names the instruction.
Flow unsupported_instruction(Warp& warp, const Inst& inst, Mask active);

/// A function of the device runtime; kNone for all others.
Builtin builtin_named(std::string_view name);

} // namespace cudasim::engine
