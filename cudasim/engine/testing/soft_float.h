// 16-bit floats by their definition: tables of all values, and rounding by
// looking for the neighbours. Slow, and shares nothing with the handlers.
#pragma once

#include <cstdint>

namespace cudasim::engine::testing {

/// How a result that lies between two numbers of a format is rounded.
enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp };

/// A format with a sign, 5 or 8 bits of exponent and 10 or 7 of mantissa.
enum class Sixteen : std::uint8_t { kHalf, kBrain };

/// The number behind 16 bits.
double decode(Sixteen format, std::uint16_t bits);

/// A number that may not fit into one double: `value`, and the sign of what it
/// is too small (1) or too large (-1) by; the rest is smaller than any distance
/// that matters.
struct Exact {
  long double value;
  int rest = 0;
};

/// The bits of a number rounded to a format; 0x7fff for NaN. Overflow gives
/// infinity, or the largest number where the rounding goes towards zero.
std::uint16_t encode(Sixteen format, Exact exact, Rounding rounding);

Exact sum(double a, double b);
/// a * b + c for a and b with at most 24 bits.
Exact fused(double a, double b, double c);

/// Denormal numbers become zeros of the same sign.
std::uint16_t flushed(Sixteen format, std::uint16_t bits);
float flushed(float value);
double flushed(double value);

} // namespace cudasim::engine::testing
