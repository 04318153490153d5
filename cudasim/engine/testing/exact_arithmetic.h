// Floating-point arithmetic that is computed exactly and rounded once, to any
// format and in any direction: by MPFR, which shares nothing with the handlers.
#pragma once

#include <cstdint>

namespace cudasim::engine::testing {

/// How a result that lies between two numbers of a format is rounded.
enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp };

/// A format with a sign, 5 or 8 bits of exponent and 10 or 7 of mantissa.
enum class Sixteen : std::uint8_t { kHalf, kBrain };

enum class Operation : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMultiplyAdd,
  kSquareRoot,
};

/// a + b, a - b, a * b, a / b, a * b + c or the square root of a.
float compute(
    Operation operation,
    Rounding rounding,
    float a,
    float b = 0,
    float c = 0);
double compute(
    Operation operation,
    Rounding rounding,
    double a,
    double b = 0,
    double c = 0);
/// The same for 16-bit floats, rounded to the nearest; 0x7fff for NaN.
std::uint16_t compute(
    Sixteen format,
    Operation operation,
    std::uint16_t a,
    std::uint16_t b = 0,
    std::uint16_t c = 0);

/// A number rounded to float or double.
template <typename T>
T rounded(long double value, Rounding rounding);
template <>
float rounded<float>(long double value, Rounding rounding);
template <>
double rounded<double>(long double value, Rounding rounding);

/// The number behind 16 bits.
double decode(Sixteen format, std::uint16_t bits);

/// The bits of a number rounded to a format; 0x7fff for NaN.
std::uint16_t encode(Sixteen format, long double value, Rounding rounding);

/// Denormal numbers become zeros of the same sign.
std::uint16_t flushed(Sixteen format, std::uint16_t bits);
float flushed(float value);
double flushed(double value);

} // namespace cudasim::engine::testing
