// What native code calls of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// Writes an affine value (ValueShape) to a register of the frame, cut to
/// `bytes` a lane. Out of line, so that the rare ways out of a region are
/// short.
void write_affine(
    std::byte* place,
    std::uint64_t base,
    std::uint64_t stride,
    std::uint64_t row,
    std::uint32_t bytes);

/// A collective instruction of a warp whose 32 lanes are all there.
Flow execute_collective(Warp* warp, const Inst* inst, const Control* control);

} // namespace cudasim::engine
