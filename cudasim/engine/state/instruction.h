// The form of one decoded instruction, and of the handler that executes it.
//
// Instruction handlers see this header. They are compiled once for each set of
// machine instructions (instructions/), so nothing in it may be an inline
// function of a linkage that the linker could merge across them: keep it to
// plain data and templates in this namespace that are always inlined.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudasim::engine {

inline constexpr int kLanes = 32;
/// One bit for each lane of a warp.
using Mask = std::uint32_t;
inline constexpr Mask kAllLanes = 0xffffffffu;

/// How many lanes a mask has. Not the compiler's builtin, which is a call of a
/// library where the processor may lack the instruction.
constexpr std::uint32_t lane_count(Mask mask) {
  mask -= mask >> 1 & 0x55555555u;
  mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
  return ((mask + (mask >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

/// Where the 32 values of an operand are: a byte offset into the warp's
/// registers, or, with kConstantBit, into the kernel's constants (immediates,
/// repeated for each lane). A register of 8 or 16 bits takes 32 x 2 bytes, one
/// of 32 bits 32 x 4, one of 64 bits 32 x 8, and a predicate one Mask. All
/// start on a multiple of 64 bytes, except predicates (4).
using Slot = std::uint32_t;
inline constexpr Slot kConstantBit = 0x80000000u;
inline constexpr Slot kNoSlot = 0xffffffffu;

struct Warp;
struct Inst;

/// What the warp's loop has to do after an instruction.
enum class Flow : std::uint8_t {
  kNext, // go on with the next instruction
  kControl, // branch, call, return, exit, barrier: warp/warp_runner.h
  kFault, // warp.fault is set; the kernel is to be stopped
  kYield, // let another warp run first, then go on with the next instruction
};

/// Executes an instruction for the lanes in `active` (never empty; the guard is
/// already applied). Registers of other lanes stay as they are.
using Handler = Flow (*)(Warp& warp, const Inst& inst, Mask active);

inline constexpr int kOperands = 9; // of a vector of 8, and its address

/// One decoded instruction: 64 bytes and a bit, read-only while a kernel runs.
struct Inst {
  Handler run = nullptr;
  /// Destinations first, then sources, in PTX's order; a vector operand takes
  /// one slot for each element. kNoSlot: "_" or not there. An instruction with
  /// more than kOperands has all of them in `more`, and none here.
  Slot operands[kOperands] = {
      kNoSlot,
      kNoSlot,
      kNoSlot,
      kNoSlot,
      kNoSlot,
      kNoSlot,
      kNoSlot,
      kNoSlot,
      kNoSlot};
  /// Bytes of the register behind each operand (2, 4, 8; 0 for a predicate).
  /// It can be more than the instruction's type has (ld, st, cvt).
  std::uint8_t widths[kOperands] = {};
  Slot guard = kNoSlot;
  bool guard_negated = false;
  /// Number of destinations among the operands.
  std::uint8_t destinations = 0;
  /// Bit i: operand i is a predicate to be read inverted ("!p").
  std::uint16_t negated = 0;
  /// PTX line, for reports.
  std::uint32_t line = 0;
  /// Constant part of an address in bytes.
  std::int64_t offset = 0;
  /// Of its own meaning in each family (lane clamp, comparison, rounding …).
  std::uint64_t immediate = 0;
  const Slot* more = nullptr;
  std::uint32_t more_count = 0;
  /// Index of this instruction in its function.
  std::uint32_t index = 0;
};

} // namespace cudasim::engine
