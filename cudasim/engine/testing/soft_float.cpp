#include "cudasim/engine/testing/soft_float.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace cudasim::engine::testing {
namespace {

int mantissa_bits(Sixteen format) {
  return format == Sixteen::kHalf ? 10 : 7;
}
int bias(Sixteen format) {
  return format == Sixteen::kHalf ? 15 : 127;
}
std::uint16_t infinity(Sixteen format) {
  return static_cast<std::uint16_t>(
      (2 * bias(format) + 1) << mantissa_bits(format));
}

/// All numbers that are not negative, in order; the last one stands where
/// infinity begins.
std::vector<double> make_table(Sixteen format) {
  std::vector<double> table;
  for (std::uint32_t bits = 0; bits < infinity(format); ++bits) {
    const int exponent = static_cast<int>(bits >> mantissa_bits(format));
    const int fraction =
        static_cast<int>(bits & ((1u << mantissa_bits(format)) - 1));
    const int hidden = exponent == 0 ? 0 : 1 << mantissa_bits(format);
    table.push_back(std::ldexp(
        hidden + fraction,
        std::max(exponent, 1) - bias(format) - mantissa_bits(format)));
  }
  table.push_back(std::ldexp(1.0, bias(format) + 1));
  return table;
}

const std::vector<double>& table_of(Sixteen format) {
  static const std::vector<double> half = make_table(Sixteen::kHalf);
  static const std::vector<double> brain = make_table(Sixteen::kBrain);
  return format == Sixteen::kHalf ? half : brain;
}

} // namespace

double decode(Sixteen format, std::uint16_t bits) {
  const std::uint16_t magnitude = bits & 0x7fff;
  const double value = magnitude > infinity(format) ? NAN
      : magnitude == infinity(format)               ? INFINITY
                                      : table_of(format)[magnitude];
  return (bits & 0x8000) != 0 ? -value : value;
}

std::uint16_t encode(Sixteen format, Exact exact, Rounding rounding) {
  if (std::isnan(exact.value)) {
    return 0x7fff;
  }
  const bool negative =
      std::signbit(exact.value) || (exact.value == 0 && exact.rest < 0);
  const std::uint16_t sign = negative ? 0x8000 : 0;
  const long double magnitude = std::fabs(exact.value);
  const int rest = negative ? -exact.rest : exact.rest;
  if (std::isinf(magnitude)) {
    return sign | infinity(format);
  }
  const bool away = (rounding == Rounding::kUp && !negative) ||
      (rounding == Rounding::kDown && negative);
  const std::vector<double>& table = table_of(format);
  // The last entry that is not more than the number.
  auto above = std::upper_bound(table.begin(), table.end(), magnitude);
  auto below = above - 1;
  if (*below == magnitude && rest < 0 && below != table.begin()) {
    above = below--;
  }
  const auto code = [&](auto place) {
    return static_cast<std::uint16_t>(
        sign | static_cast<std::uint16_t>(place - table.begin()));
  };
  if (*below == magnitude && rest == 0 && above != table.end()) {
    return code(below);
  }
  if (above == table.end()) {
    return rounding == Rounding::kNearest || away
        ? sign | infinity(format)
        : static_cast<std::uint16_t>(code(below) - 1);
  }
  if (rounding != Rounding::kNearest) {
    return code(away ? above : below);
  }
  const long double middle = (static_cast<long double>(*below) + *above) / 2;
  if (magnitude == middle && rest == 0) {
    return (below - table.begin()) % 2 == 0 ? code(below) : code(above);
  }
  return magnitude < middle || (magnitude == middle && rest < 0) ? code(below)
                                                                 : code(above);
}

Exact sum(double a, double b) {
  const double total = a + b;
  if (!std::isfinite(total)) {
    return {total, 0};
  }
  // What rounding has cut off is a double itself (T. J. Dekker, 1971).
  const double b_part = total - a;
  const double a_part = total - b_part;
  const double error = (a - a_part) + (b - b_part);
  return {total, error > 0 ? 1 : error < 0 ? -1 : 0};
}

Exact fused(double a, double b, double c) {
  return sum(a * b, c);
}

std::uint16_t flushed(Sixteen format, std::uint16_t bits) {
  const bool denormal = (bits & 0x7fff) >> mantissa_bits(format) == 0;
  return denormal ? bits & 0x8000 : bits;
}
float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}
double flushed(double value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0, value)
                                                : value;
}

} // namespace cudasim::engine::testing
