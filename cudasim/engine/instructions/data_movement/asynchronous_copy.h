// What cp.async does. Source: PTX ISA 9.7.9 (data movement).
#pragma once

#include "cudasim/engine/instructions/addressing.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

constexpr U32 kLargestCopy = 16; // bytes: the size of nearly all copies

/// Copies of all lanes that are of the largest size, where the lanes lie well.
/// @param reads all of what is copied; false: it is zeros.
/// @returns whether it was done.
[[gnu::always_inline]] inline bool copy_groups(
    Warp& warp,
    const Inst& inst,
    bool reads) {
  U64 target[kGroups];
  U64 source[kGroups];
  if (locate_groups<kShared, U32, 4>(
          warp,
          inst.operands[0],
          inst.widths[0],
          static_cast<U64>(inst.offset),
          true,
          target) != Layout::kRuns ||
      (reads &&
       locate_groups<kGeneric, U32, 4>(
           warp,
           inst.operands[1],
           inst.widths[1],
           static_cast<U64>(inst.immediate),
           false,
           source) != Layout::kRuns)) {
    return false;
  }
  for (int group = 0; group < kGroups; ++group) {
    auto* const to = reinterpret_cast<char*>(target[group]);
    if (reads) {
      __builtin_memcpy(
          to,
          reinterpret_cast<const char*>(source[group]),
          kGroup * kLargestCopy);
    } else {
      __builtin_memset(to, 0, kGroup * kLargestCopy);
    }
  }
  return true;
}

/// cp.async: done at once, so that waiting for it has nothing to do. What is
/// not read of `size` bytes is written as zeros: a lane reads as many as its
/// last operand says, or none where that is a predicate and set.
template <bool kIgnores>
Flow copy(Warp& warp, const Inst& inst, Mask active) {
  const U32 size = lanes<U32>(warp, inst.operands[2])[__builtin_ctz(active)];
  U32 bytes[kLanes];
  if (kIgnores) {
    const Mask ignored = read_predicate(warp, inst, 3);
    for (int i = 0; i < kLanes; ++i) {
      bytes[i] = (ignored >> i & 1) != 0 ? 0 : size;
    }
  } else {
    const bool all = inst.operands[3] == kNoSlot;
    const U32* given = lanes<U32>(warp, inst.operands[all ? 2 : 3]);
    for (int i = 0; i < kLanes; ++i) {
      bytes[i] = given[i] < size ? given[i] : size;
    }
  }
  const bool alike = active == kAllLanes && size == kLargestCopy &&
      __builtin_memcmp(bytes, bytes + 1, sizeof(bytes) - sizeof(U32)) == 0;
  if (alike && (bytes[0] == 0 || bytes[0] == kLargestCopy) &&
      copy_groups(warp, inst, bytes[0] != 0)) {
    return Flow::kNext;
  }
  U64 target[kLanes];
  if (!locate<kShared>(
          warp,
          inst,
          inst.operands[0],
          inst.widths[0],
          static_cast<U64>(inst.offset),
          active,
          size,
          size,
          true,
          target)) {
    return Flow::kFault;
  }
  for (Mask left = active; left != 0;) {
    // The lanes that read as much as the first of those that are left.
    const U32 count = bytes[__builtin_ctz(left)];
    Mask alike = 0;
    for (int i = 0; i < kLanes; ++i) {
      alike |= (bytes[i] == count ? 1u : 0u) << i;
    }
    alike &= left;
    left &= ~alike;
    U64 source[kLanes];
    if (count != 0 &&
        !locate<kGeneric>(
            warp,
            inst,
            inst.operands[1],
            inst.widths[1],
            inst.immediate,
            alike,
            count,
            count == size ? size : 1,
            false,
            source)) {
      return Flow::kFault;
    }
    for (; alike != 0; alike &= alike - 1) {
      const int i = __builtin_ctz(alike);
      auto* const to = reinterpret_cast<char*>(target[i]);
      const auto* const from = reinterpret_cast<const char*>(source[i]);
      if (count == kLargestCopy) {
        __builtin_memcpy(to, from, kLargestCopy);
      } else if (count == 0 && size == kLargestCopy) { // behind a matrix's end
        __builtin_memset(to, 0, kLargestCopy);
      } else {
        __builtin_memcpy(to, count != 0 ? from : to, count);
        __builtin_memset(to + count, 0, size - count);
      }
    }
  }
  return Flow::kNext;
}

} // namespace
} // namespace cudasim::engine::CUDASIM_ISA
