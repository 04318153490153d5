// What calls copy between the local frames of functions.
#pragma once

#include <cstdint>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/state/warp.h"
#include "cudasim/engine/warp/frame.h"

namespace cudasim::engine {

/// Whether a call passes what a function takes. Direct calls do, as the
/// verifier saw; an indirect one may find another function than it says.
bool fits(const Control& call, const Code& callee);

/// Copies a call's arguments to where the callee has its parameters, and notes
/// what there is from alloca.
void pass_arguments(
    Warp& warp,
    const Control& call,
    Frame& callee,
    Mask active);

/// Where what the lanes have from alloca begins: the end of the others' room.
std::uint64_t lowest_stack_top(const Warp& warp, Mask active);

/// Copies a function's results to where the call that made its frame wants
/// them, and frees what it has from alloca.
void pass_results(Warp& warp, const Frame& callee, Mask active);

} // namespace cudasim::engine
