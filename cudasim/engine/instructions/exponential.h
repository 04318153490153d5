// 2^a in single precision (ex2.approx, PTX ISA 9.7.3): 2^n for the nearest
// integer n, times a series of 2^(a - n). Powers of integers are exact. Errors
// are below 2^-23; PTX allows 2^-22.5. Without a call, so that several lanes
// are computed at a time; by the handler and by native code in the same steps.
#pragma once

#include <cstdint>

namespace cudasim::engine {

struct Exponential {
  /// Beyond these, the result is infinite, or zero.
  static constexpr float kMost = 130;
  static constexpr float kLeast = -160;
  /// A number that has no bits for fractions: to add it rounds.
  static constexpr float kWhole = 0x1.8p23f;
  static constexpr int kTerms = 8;
  /// ln(2)^i / i!, from i = 7 on.
  static constexpr float kSeries[kTerms] = {
      1.5252733804e-5f,
      1.5403530393e-4f,
      1.3333558146e-3f,
      9.6181291076e-3f,
      5.5504108665e-2f,
      2.4022650696e-1f,
      6.9314718056e-1f,
      1.0f};
  // Of a float: what is added to its exponent, and the bits behind that.
  static constexpr std::int32_t kBias = 127;
  static constexpr std::int32_t kFractionBits = 23;
};

} // namespace cudasim::engine
