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

/// Copies a call's arguments to where the callee has its parameters.
/// @param begin first byte of the callee's local frame.
void pass_arguments(
    Warp& warp,
    const Frame& caller,
    const Control& call,
    const Code& callee,
    std::uint64_t begin,
    Mask active);

/// Copies a function's results to where the call that made its frame wants
/// them.
void pass_results(Warp& warp, const Frame& callee, Mask active);

} // namespace cudasim::engine
