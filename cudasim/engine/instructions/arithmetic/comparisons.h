// The comparisons of two values that setp and set have.
#pragma once

namespace cudasim::engine {
namespace {

struct Equal {
  template <typename T>
  static bool run(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool run(T a, T b) {
    return a < b || a > b;
  }
};
struct Less {
  template <typename T>
  static bool run(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <typename T>
  static bool run(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool run(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  static bool run(T a, T b) {
    return a >= b;
  }
};
// True when an operand is NaN.
struct EqualUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a < b || a > b);
  }
};
struct NotEqualUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return a != b;
  }
};
struct LessUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a >= b);
  }
};
struct LessEqualUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a > b);
  }
};
struct GreaterUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a <= b);
  }
};
struct GreaterEqualUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a < b);
  }
};
struct Numbers {
  template <typename T>
  static bool run(T a, T b) {
    return a == a && b == b;
  }
};
struct NotNumbers {
  template <typename T>
  static bool run(T a, T b) {
    return a != a || b != b;
  }
};

} // namespace
} // namespace cudasim::engine
