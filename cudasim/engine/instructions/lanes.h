// Loops over the 32 lanes of a warp. A result is computed for all lanes, which
// the compiler turns into vector instructions, and then kept for the active
// ones.
#pragma once

#include "cudasim/engine/instructions/family.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {
namespace {

using I8 = signed char;
using U8 = unsigned char;
using I16 = short;
using U16 = unsigned short;
using I32 = int;
using U32 = unsigned int;
using I64 = long long;
using U64 = unsigned long long;

/// The bits of a value as another type of the same size.
template <typename To, typename From>
[[gnu::always_inline]] inline To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  __builtin_memcpy(&result, &value, sizeof(To));
  return result;
}

/// A denormal number as zero of the same sign (.ftz).
[[gnu::always_inline]] inline float flush(float x) {
  const U32 bits = bits_as<U32>(x);
  return (bits & 0x7f800000u) == 0 ? bits_as<float>(bits & 0x80000000u) : x;
}

/// d[i] = compute(i) for the active lanes.
template <typename T, typename Compute>
[[gnu::always_inline]] inline void for_lanes(
    T* d,
    Mask active,
    Compute compute) {
  if (active == kAllLanes) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) {
      d[i] = compute(i);
    }
    return;
  }
  T result[kLanes];
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) {
    result[i] = compute(i);
  }
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) {
    d[i] = (active >> i & 1) != 0 ? result[i] : d[i];
  }
}

/// One bit for each lane for which compute(i) is true.
template <typename Compute>
[[gnu::always_inline]] inline Mask lane_mask(Compute compute) {
  U8 set[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    set[i] = compute(i) ? 1 : 0;
  }
  Mask mask = 0;
  for (int word = 0; word < kLanes / 8; ++word) {
    U64 eight;
    __builtin_memcpy(&eight, set + 8 * word, 8);
    // Gathers the low bits of eight bytes into one byte.
    mask |= static_cast<Mask>((eight * 0x0102040810204080ull) >> 56)
        << (8 * word);
  }
  return mask;
}

/// Sets a predicate's bits of the active lanes.
[[gnu::always_inline]] inline void write_predicate(
    Warp& warp,
    Slot slot,
    Mask active,
    Mask value) {
  if (slot != kNoSlot) {
    Mask& bits = predicate(warp, slot);
    bits = (bits & ~active) | (value & active);
  }
}

/// A source predicate, inverted where the text says "!".
[[gnu::always_inline]] inline Mask read_predicate(
    Warp& warp,
    const Inst& inst,
    int operand) {
  const Mask bits = predicate(warp, inst.operands[operand]);
  return (inst.negated >> operand & 1) != 0 ? ~bits : bits;
}

template <typename Op, typename D, typename A = D>
Flow unary(Warp& warp, const Inst& inst, Mask active) {
  D* d = lanes<D>(warp, inst.operands[0]);
  const A* a = lanes<A>(warp, inst.operands[1]);
  for_lanes(d, active, [&](int i) { return static_cast<D>(Op::run(a[i])); });
  return Flow::kNext;
}

template <typename Op, typename D, typename A = D, typename B = A>
Flow binary(Warp& warp, const Inst& inst, Mask active) {
  D* d = lanes<D>(warp, inst.operands[0]);
  const A* a = lanes<A>(warp, inst.operands[1]);
  const B* b = lanes<B>(warp, inst.operands[2]);
  for_lanes(
      d, active, [&](int i) { return static_cast<D>(Op::run(a[i], b[i])); });
  return Flow::kNext;
}

template <
    typename Op,
    typename D,
    typename A = D,
    typename B = A,
    typename C = A>
Flow ternary(Warp& warp, const Inst& inst, Mask active) {
  D* d = lanes<D>(warp, inst.operands[0]);
  const A* a = lanes<A>(warp, inst.operands[1]);
  const B* b = lanes<B>(warp, inst.operands[2]);
  const C* c = lanes<C>(warp, inst.operands[3]);
  for_lanes(d, active, [&](int i) {
    return static_cast<D>(Op::run(a[i], b[i], c[i]));
  });
  return Flow::kNext;
}

} // namespace
} // namespace cudasim::engine
