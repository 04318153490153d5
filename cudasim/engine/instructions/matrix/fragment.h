// Fragments of wmma's matrices: which lane holds which element.
// PTX ISA 9.7.14.3 and .4 leave open which lane has which element of a
// fragment; here
//
//   A and B  each lane has a run of a row of A, or of a column of B,
//   C and D  as mma.sync has them, which is what devices since 7.5 do: lane L
//            has pairs in the columns 2 (L % 4) and the next.
//
// So the layout in memory matters to loads and stores, but not to wmma.mma.
#pragma once

#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine {
namespace {

/// The operand of that number, of however many.
inline Slot operand(const Inst& inst, int index) {
  const Slot* slots = inst.more != nullptr ? inst.more : inst.operands;
  return slots[index];
}

struct Place {
  int row;
  int column;
};

enum Role { kA, kB, kC };

/// A matrix of a product, and how the lanes hold it.
struct Fragment {
  Role role;
  int rows;
  int columns;
  int bytes; // of an element: 1, 2, 4 or 8

  constexpr int elements() const {
    return rows * columns / kLanes;
  }
  /// Elements in a register.
  constexpr int packed() const {
    return bytes >= 4 ? 1 : 4 / bytes;
  }
  constexpr int registers() const {
    return elements() / packed();
  }
  constexpr Place place(int lane, int element) const {
    const int pair = element / 2;
    switch (role) {
      case kA: {
        const int at = lane * elements() + element;
        return {at / columns, at % columns};
      }
      case kB: {
        const int at = lane * elements() + element;
        return {at % rows, at / rows};
      }
      case kC:
        break;
    }
    const int halves = rows / 8;
    return {
        lane / 4 + 8 * (pair % halves),
        2 * (lane % 4) + element % 2 + 8 * (pair / halves)};
  }
};

constexpr Fragment fragment(Role role, int m, int n, int k, int bytes) {
  return role == kA ? Fragment{kA, m, k, bytes}
      : role == kB  ? Fragment{kB, k, n, bytes}
                    : Fragment{kC, m, n, bytes};
}

/// The element as a number of its size.
inline U64 read_bits(
    Warp& warp,
    Slot slot,
    const Fragment& f,
    int lane,
    int e) {
  if (f.bytes == 8) {
    return lanes<U64>(warp, slot)[lane];
  }
  const U32 word = lanes<U32>(warp, slot)[lane];
  return f.bytes == 4 ? word : word >> (8 * f.bytes * (e % f.packed()));
}

} // namespace
} // namespace cudasim::engine
