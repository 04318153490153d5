// Loads and stores of wmma's fragments: a matrix in memory, of which each lane
// has some elements. Source: PTX ISA 9.7.14.4.3 and .4.
#pragma once

#include "cudasim/engine/instructions/addressing.h"
#include "cudasim/engine/instructions/matrix/fragment.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

// What a load or store is told by its immediate.
constexpr U64 code_of(
    Role role,
    int m,
    int n,
    int k,
    int bytes,
    int registers,
    bool by_rows,
    int parts = 1) {
  return static_cast<U64>(role) | static_cast<U64>(m) << 8 |
      static_cast<U64>(n) << 16 | static_cast<U64>(k) << 24 |
      static_cast<U64>(bytes) << 32 | static_cast<U64>(registers) << 40 |
      static_cast<U64>(by_rows ? 1 : 0) << 48 | static_cast<U64>(parts) << 56;
}

/// A load or a store of a fragment.
struct Transfer {
  Fragment shape;
  int registers; // half precision has some of A's and B's elements twice
  bool by_rows;
  int parts; // elements of the matrix in one that is moved

  explicit Transfer(U64 code)
      : shape(fragment(
            static_cast<Role>(code & 0xff),
            static_cast<int>(code >> 8 & 0xff),
            static_cast<int>(code >> 16 & 0xff),
            static_cast<int>(code >> 24 & 0xff),
            static_cast<int>(code >> 32 & 0xff))),
        registers(static_cast<int>(code >> 40 & 0xff)),
        by_rows((code >> 48 & 1) != 0),
        parts(static_cast<int>(code >> 56)) {}

  int lines() const {
    return by_rows ? shape.rows : shape.columns;
  }
  int line_bytes() const {
    return (by_rows ? shape.columns : shape.rows) * shape.bytes;
  }
  /// Where the element is, given where the lines are.
  char* element(const U64* host, int lane, int e) const {
    const Place place = shape.place(lane, e % shape.elements());
    const int line = by_rows ? place.row : place.column;
    const int inner = by_rows ? place.column : place.row;
    return reinterpret_cast<char*>(host[line]) + inner * shape.bytes;
  }
};

/// The beginnings of the lines in the host's memory, one in the place of each
/// lane. Address and stride are those of the first lane: they have to be the
/// same in all.
template <Space kSpace>
bool locate_lines(
    Warp& warp,
    const Inst& inst,
    const Transfer& transfer,
    int address,
    int stride,
    Mask active,
    bool is_write,
    U64* host) {
  const int lane = __builtin_ctz(active);
  const Slot base = operand(inst, address);
  U64 start = static_cast<U64>(inst.offset);
  if (base != kNoSlot) {
    start += lanes<U64>(warp, base)[lane];
  }
  const int count = static_cast<int>(
      inst.more != nullptr ? inst.more_count : static_cast<U32>(kOperands));
  const Slot step = stride < count ? operand(inst, stride) : kNoSlot;
  const U64 bytes = static_cast<U64>(transfer.shape.bytes);
  const U64 distance = step == kNoSlot
      ? static_cast<U64>(transfer.line_bytes())
      : lanes<U32>(warp, step)[lane] * bytes / static_cast<U64>(transfer.parts);
  for (int i = 0; i < kLanes; ++i) {
    host[i] = start + static_cast<U64>(i) * distance;
  }
  const Mask lines =
      transfer.lines() == kLanes ? kAllLanes : (1u << transfer.lines()) - 1;
  return locate_addresses<kSpace>(
      warp,
      inst,
      lines,
      static_cast<U32>(transfer.line_bytes()),
      static_cast<U32>(bytes),
      is_write,
      host);
}

template <Space kSpace>
Flow load_fragment(Warp& warp, const Inst& inst, Mask active) {
  const Transfer transfer(inst.immediate);
  const Fragment& shape = transfer.shape;
  const int count = transfer.registers;
  U64 host[kLanes];
  if (!locate_lines<kSpace>(
          warp, inst, transfer, count, count + 1, active, false, host)) {
    return Flow::kFault;
  }
  for (int r = 0; r < count; ++r) {
    U64 result[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      U64 word = 0;
      for (int e = 0; e < shape.packed(); ++e) {
        U64 bits = 0;
        __builtin_memcpy(
            &bits,
            transfer.element(host, lane, r * shape.packed() + e),
            static_cast<unsigned>(shape.bytes));
        word |= bits << (8 * shape.bytes * e);
      }
      result[lane] = word;
    }
    const Slot slot = operand(inst, r);
    if (shape.bytes == 8) {
      for_lanes(
          lanes<U64>(warp, slot), active, [&](int i) { return result[i]; });
    } else {
      for_lanes(lanes<U32>(warp, slot), active, [&](int i) {
        return static_cast<U32>(result[i]);
      });
    }
  }
  return Flow::kNext;
}

template <Space kSpace>
Flow store_fragment(Warp& warp, const Inst& inst, Mask active) {
  const Transfer transfer(inst.immediate);
  const Fragment& shape = transfer.shape;
  const int count = transfer.registers;
  U64 host[kLanes];
  if (!locate_lines<kSpace>(
          warp, inst, transfer, 0, count + 1, active, true, host)) {
    return Flow::kFault;
  }
  for (int e = 0; e < shape.elements(); ++e) {
    const Slot slot = operand(inst, 1 + e / shape.packed());
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((active >> lane & 1) != 0) {
        const U64 bits = read_bits(warp, slot, shape, lane, e);
        __builtin_memcpy(
            transfer.element(host, lane, e),
            &bits,
            static_cast<unsigned>(shape.bytes));
      }
    }
  }
  return Flow::kNext;
}

// How elements are stored, and what is computed with.

} // namespace
} // namespace cudasim::engine::CUDASIM_ISA
