// Numbers of a distribution out of random bits. Source: the device functions of
// cuRAND, which its host functions agree with (curand_uniform.h,
// curand_normal.h).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace accelerator::rand {

constexpr double kPi = 3.14159265358979323846;

inline float to_uniform(std::uint32_t bits) {
  return static_cast<float>(bits) * 0x1p-32F + 0x1p-33F;
}

/// Of two draws, of which the second has the high bits.
inline double to_uniform(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t bits =
      std::uint64_t{low} ^ (std::uint64_t{high} << (53 - 32));
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}

/// In the middle of what the bits stand for.
inline double to_middle(std::uint32_t bits) {
  return bits * 0x1p-32 + 0x1p-33;
}

/// Box and Muller's transform.
/// @param turns the angle, in full turns.
inline std::array<float, 2> box_muller(float uniform, float turns) {
  const float radius = std::sqrt(-2.0F * std::log(uniform));
  const float angle = turns * static_cast<float>(2 * kPi);
  return {radius * std::sin(angle), radius * std::cos(angle)};
}

inline std::array<double, 2> box_muller(double uniform, double turns) {
  const double radius = std::sqrt(-2.0 * std::log(uniform));
  const double angle = 2 * turns * kPi;
  return {radius * std::sin(angle), radius * std::cos(angle)};
}

/// The inverse of the normal distribution function, below its middle: a first
/// guess, and Halley's method. Source: M. Abramowitz and I. Stegun, "Handbook
/// of mathematical functions", 26.2.23.
inline double lower_normal_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(p));
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) /
          (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
      t;
  for (int i = 0; i < 3; ++i) {
    const double error = std::erfc(-x / std::sqrt(2.0)) / 2 - p;
    const double step =
        error * std::sqrt(2 * kPi) * std::exp(std::min(x * x / 2, 700.0));
    x -= step / (1 + x * step / 2);
  }
  return x;
}

/// Of a uniform number as an integer of so many bits, in the precision of T.
template <typename T>
T normal_quantile(std::uint64_t number, int bits) {
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  const bool is_upper = number > half;
  const std::uint64_t mirrored = is_upper ? 2 * half - 1 - number : number;
  const T p = static_cast<T>(mirrored) * std::ldexp(T{1}, -bits) +
      std::ldexp(T{1}, -bits - 1);
  // Rounding can have brought it to the middle or beyond.
  const double result = p <= T{0.5}
      ? lower_normal_quantile(static_cast<double>(p))
      : -lower_normal_quantile(1 - static_cast<double>(p));
  return static_cast<T>(is_upper ? -result : result);
}

} // namespace accelerator::rand
