// How instruction families hand their handlers to the registry.
//
// A family is one .cpp file in a folder below, compiled three times: for the
// x86-64 baseline, x86-64-v3 (AVX2, FMA) and x86-64-v4 (AVX-512), with
// CUDASIM_ISA set to baseline, v3 or v4. It defines
//
//   namespace cudasim::engine::CUDASIM_ISA { Family integer_family(); }
//
// and everything else in an unnamed namespace. It includes no header with
// inline functions of its own (no <vector>, <string>, <algorithm>): the linker
// keeps one copy of such a function for the whole library, and that copy could
// have instructions that the machine lacks.
//
// A row is all that is known of an instruction: how it is written, what its
// operands are, where the PTX ISA describes it, and what executes it. Lowering,
// the verifier (engine/verify), the checks of CUDASIM_CHECK=1, the fuzzer and
// docs/coverage/cudasim.md read the rows; nothing about an instruction is told
// elsewhere, except its targets (engine/targets/table.h). Of one without a
// handler, which the warp's loop executes, the immediate says what that does
// (immediate_of, code/control.h).
//
// The key is an opcode with its modifiers. The order of those that are no types
// does not matter: "vote.sync.ballot.b32" is also found as
// "vote.ballot.sync.b32" (canonical_key, key.h). Rows with the same key differ
// in their operands.
//
// The operands are separated by blanks, in PTX's order:
//
//   t            a value of the last type in the key: a register or a constant
//   t1, t2, …    of the first, second, … type in the key
//   wide         of a type twice as wide as the last one
//   u32, pred, … of this type
//   =t           a register that is written
//   =t|pred      the same, and perhaps a predicate: "d|p"; =t|pred! always one
//   =t|-         the same for a handler that has a place for the predicate
//   {4*=t}|pred  so many registers that are written, and perhaps a predicate
//   #u32         a constant
//   {4*t}        so many values in braces
//   members      the member mask of a collective
//   [shared]     an address in this space, or in "generic" ones
//   [shared:8], [shared:t], [shared:4*t]  and how many bytes each lane accesses
//   [shared:#2]  as many as operand 2 says, a constant
//   [shared:16@8]       only the first 8 lanes do
//   [shared:16x8*t]     16 lines of 8 values for the warp as a whole; the next
//                value, if any, says how far apart, in such values
//   [shared:8x4*t/8]    in eighths of them
//   [object:2*t] a register with a texture or surface, and two coordinates, as
//                [%rd1, {%f1, %f2}]; [object] without
//   [object:layer+2*t]  the number of a layer in front of them
//   <[…], >[…], <>[…]  which are read, written, both at once
//   label, targets     where a branch goes
//
// Behind a value: "_" it may be discarded, "~" its register may be wider than
// its type, "!" it is no constant, "%" a special register may stand for it, "&"
// the address of a variable may ("&shared": of one there), ":4|8|16", ":0..15",
// ":0..64/32" constants that are allowed, from, to and in steps; behind an
// operand: "?" it may be missing. "unary", "binary", "ternary" are "=t t", "=t
// t t" and
// "=t t t t". In front of all: "warp:" all lanes of the warp have to be there,
// "orders:" what others did before comes before what the thread does next.
//
// Operands reach the handler as in PTX, those in braces one after the other.
// What is discarded has a register too; kNoSlot is an operand that is missing,
// at the end or behind "d|". The address of lines has a register of 64 bits.
//
// Beside its rows a family names the opcodes of which it has all forms, so that
// one without a row is none: "and" with all types, "add:integers" where all
// types are ones of integers or bits, "ld:older" of older devices, without
// clusters and the like.
#pragma once

#include <cstddef>

#include "cudasim/engine/state/instruction.h"

namespace cudasim::engine {

/// One instruction that a family executes.
struct Entry {
  const char* key;
  const char* operands;
  /// The chapter of the PTX ISA 8.4 that describes it.
  const char* section;
  Handler handler;
  /// Goes to Inst::immediate, unless a second address has its offset there.
  unsigned long long immediate = 0;
};

struct Family {
  const char* name;
  const Entry* entries;
  std::size_t count;
  const char* complete = ""; // opcodes, separated by blanks
};

} // namespace cudasim::engine
