// What native code calls of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/state/warp.h"
#include "cudasim/engine/translation/region.h"

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

/// A load or a store of lanes that lie anywhere, one lane after another.
/// @param addresses of the lanes, of 64 bits; those of shared memory begin at
/// 0 and have 32. A lane that accesses nothing has that of another.
/// @param numbers of all lanes, the first of each, then the second of each.
/// @param mask lanes that store; all of them load.
/// @returns 0 where a lane may not access its memory, or where it is not known
/// that it may: nothing was accessed, and a handler has to look closer.
using ScatteredAccess = std::uint32_t(
    const RegionState* state,
    const void* addresses,
    std::byte* numbers,
    std::uint32_t mask);
/// Bytes of a lane, at most.
constexpr int kMostScatteredBytes = 16;
/// @param count numbers of each lane: 1, 2 or 4, of `bits` each.
ScatteredAccess* scattered_access(
    bool is_load,
    bool is_shared,
    int bits,
    int count);

/// Arithmetic of floats in all lanes.
/// @param numbers of 32 lanes each, one operand behind the other; what comes of
/// them takes the place of the first.
using RoundedArithmetic = void(float* numbers);
/// @param operation of PTX: add, sub, mul, fma or mad.
/// @param rounding rz, rm or rp (PTX ISA 9.7.3).
/// @param operands becomes how many it has.
/// @returns null where there is none.
RoundedArithmetic* rounded_arithmetic(
    const std::string& operation,
    const std::string& rounding,
    int* operands);

/// Whether [low, high) is in one allocation that the warp may access, which is
/// then among those that it touched last.
std::uint32_t find_memory(
    const RegionState* state,
    std::uint64_t low,
    std::uint64_t high,
    std::uint32_t is_write);

/// A collective instruction of a warp whose 32 lanes are all there.
Flow execute_collective(Warp* warp, const Inst* inst, const Control* control);

} // namespace cudasim::engine
