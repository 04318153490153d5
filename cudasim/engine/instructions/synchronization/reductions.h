// The operations by which atomics and reductions of a warp combine two values.
#pragma once

#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine {
namespace {

struct Add {
  template <typename T>
  static T run(T a, T b) {
    if constexpr (static_cast<T>(0.5f) == 0) {
      // Signed numbers wrap around.
      return static_cast<T>(static_cast<U64>(a) + static_cast<U64>(b));
    } else {
      return a + b;
    }
  }
};
struct Minimum {
  template <typename T>
  static T run(T a, T b) {
    return a < b ? a : b;
  }
};
struct Maximum {
  template <typename T>
  static T run(T a, T b) {
    return a > b ? a : b;
  }
};
struct And {
  template <typename T>
  static T run(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T run(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T run(T a, T b) {
    return a ^ b;
  }
};

} // namespace
} // namespace cudasim::engine
