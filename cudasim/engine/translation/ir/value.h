// What is known of a register's values in the 32 lanes while code is made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/state/instruction.h"

namespace cudasim::engine {

/// Lanes of a row: blocks of 16 threads in x have two rows in a warp.
inline constexpr int kRowLanes = kLanes / 2;

/// How the lanes' values of a register lie. An affine one is, modulo its width,
/// base + stride x lane in the first row, and `row` more in the second one.
struct ValueShape {
  bool affine = false;
  std::int64_t stride = 0;
  std::int64_t row = 0;

  bool operator==(const ValueShape& other) const {
    return affine == other.affine && stride == other.stride && row == other.row;
  }
  /// All lanes have the same.
  bool uniform() const {
    return affine && stride == 0 && row == 0;
  }
  /// base + stride x lane in all 32 lanes.
  bool straight() const {
    return affine &&
        static_cast<std::uint64_t>(row) ==
        static_cast<std::uint64_t>(stride) * kRowLanes;
  }
  /// The least and the most that a lane has beyond the base; of values of at
  /// most 32 bits.
  std::int64_t least() const {
    return std::min<std::int64_t>(0, stride * (kRowLanes - 1)) +
        std::min<std::int64_t>(0, row);
  }
  std::int64_t most() const {
    return std::max<std::int64_t>(0, stride * (kRowLanes - 1)) +
        std::max<std::int64_t>(0, row);
  }
};

inline constexpr ValueShape kUniform{true, 0, 0};
inline constexpr ValueShape kVarying{false, 0, 0};

/// What holds where both do.
inline ValueShape meet(ValueShape a, ValueShape b) {
  return a == b ? a : kVarying;
}

/// How the values of some lanes lie.
/// @param place a register of a warp's frame. @param bytes of a lane's value;
/// 0: a predicate.
ValueShape shape_of(const std::byte* place, int bytes, Mask mask);

using Shapes = std::map<Slot, ValueShape>;

/// A value in the code that is made: the base, a scalar, where it is affine;
/// else a vector of 32 lanes.
struct Value {
  ValueShape shape;
  int bits = 32; // of a lane's value; 1: a predicate
  std::string text; // a name, or a constant
  /// The load that it is of, which is not written yet; kNowhere: it is.
  std::uint32_t deferred = kNowhere;

  bool literal() const {
    return shape.affine && !text.empty() && text[0] != '%';
  }
};

/// The bits of a type's name such as "u32": 16, 32 or 64; 0 where it is
/// another, or does not begin with one of `letters`.
int bits_of(const std::string& type, const char* letters);

/// The lower bits of a number, extended by their sign.
std::int64_t cut(std::int64_t value, int bits);

/// The shape that an affine value of a shape `a` + `b` x factor has.
ValueShape sum_of(
    const ValueShape& a,
    const ValueShape& b,
    std::int64_t factor,
    int bits);

/// The number of a value that is a constant (Value::literal).
std::int64_t literal_value(const Value& value);

} // namespace cudasim::engine
