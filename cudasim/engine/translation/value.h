// What is known of a register's values in the 32 lanes while code is made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "cudasim/engine/state/instruction.h"

namespace cudasim::engine {

/// How the lanes' values of a register lie. An affine one is base + stride x
/// lane, modulo its width; stride 0: all lanes have the same.
struct ValueShape {
  bool affine = false;
  std::int64_t stride = 0;

  bool operator==(const ValueShape& other) const {
    return affine == other.affine && stride == other.stride;
  }
  bool uniform() const {
    return affine && stride == 0;
  }
};

inline constexpr ValueShape kUniform{true, 0};
inline constexpr ValueShape kVarying{false, 0};

/// What holds where both do.
inline ValueShape meet(ValueShape a, ValueShape b) {
  return a == b ? a : kVarying;
}

using Shapes = std::map<Slot, ValueShape>;

/// A value in the code that is made: the base, a scalar, where it is affine;
/// else a vector of 32 lanes.
struct Value {
  ValueShape shape;
  int bits = 32; // of a lane's value; 1: a predicate
  std::string text; // a name, or a constant

  bool literal() const {
    return !text.empty() && text[0] != '%';
  }
};

} // namespace cudasim::engine
