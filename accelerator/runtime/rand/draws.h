// Numbers of a distribution out of random bits. Source: the device functions of
// cuRAND, which its host functions agree with (curand_uniform.h,
// curand_normal.h).
#pragma once

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

} // namespace accelerator::rand
