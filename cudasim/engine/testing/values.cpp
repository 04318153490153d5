#include "cudasim/engine/testing/values.h"

namespace cudasim::engine::testing {
namespace {

/// IEEE-like numbers of a format: zeros, the smallest and largest of each
/// class, small integers, halves, infinities and NaNs, of both signs.
std::vector<Bits> format_edges(int bits, int mantissa, int bias) {
  const Bits one = static_cast<Bits>(bias) << mantissa;
  const Bits infinity = static_cast<Bits>(2 * bias + 1) << mantissa;
  const Bits step = Bits{1} << mantissa;
  const Bits half_step = step >> 1;
  std::vector<Bits> all;
  for (const Bits magnitude :
       {Bits{0},
        Bits{1}, // the smallest denormal number
        step - 1, // the largest
        step, // the smallest normal number
        step + 1,
        one - step, // 0.5
        one - step + 1,
        one - 1,
        one,
        one + 1,
        one + half_step, // 1.5
        one + step, // 2
        one + step + (half_step >> 1), // 2.5
        one + 7 * step, // 128
        one + 8 * step - 1,
        infinity - 1, // the largest number
        infinity - step,
        infinity,
        infinity + 1, // NaN
        infinity + half_step}) {
    all.push_back(magnitude);
    all.push_back(magnitude | Bits{1} << (bits - 1));
  }
  // Halfway between two numbers of each shorter format, and next to it.
  for (const int shorter : {7, 10, 23}) {
    if (shorter < mantissa) {
      const Bits half_unit = Bits{1} << (mantissa - shorter - 1);
      for (const Bits magnitude :
           {one + half_unit, one + 3 * half_unit, one + 3 * half_unit - 1}) {
        all.push_back(magnitude);
        all.push_back(magnitude | Bits{1} << (bits - 1));
      }
    }
  }
  return all;
}

} // namespace

std::vector<Bits> integer_edges(int bits) {
  const Bits mask = bits == 64 ? ~Bits{0} : (Bits{1} << bits) - 1;
  const Bits top = Bits{1} << (bits - 1);
  std::vector<Bits> all;
  for (const Bits value :
       {Bits{0},
        Bits{1},
        Bits{2},
        Bits{3},
        Bits{7},
        Bits{31},
        Bits{32},
        Bits{127},
        Bits{128},
        Bits{255},
        Bits{256},
        top - 1,
        top,
        top + 1,
        mask,
        mask - 1,
        mask >> 2,
        Bits{0x5555555555555555},
        Bits{0xaaaaaaaaaaaaaaaa},
        Bits{0x8000800080008000},
        Bits{0x7fff7fff7fff7fff},
        Bits{0x80808080},
        Bits{0xffff0000ffff0000}}) {
    all.push_back(value & mask);
  }
  return all;
}

std::vector<Bits> float_edges(int bits) {
  return bits == 16 ? format_edges(16, 10, 15)
      : bits == 32  ? format_edges(32, 23, 127)
                    : format_edges(64, 52, 1023);
}

std::vector<Bits> bfloat_edges() {
  return format_edges(16, 7, 127);
}

std::vector<Bits> pairs(const std::vector<Bits>& halves, int bits) {
  std::vector<Bits> all;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    all.push_back(halves[i] << bits | halves[(i * 7 + 3) % halves.size()]);
  }
  return all;
}

std::vector<Bits> amount_edges() {
  std::vector<Bits> all;
  for (Bits amount = 0; amount <= 66; ++amount) {
    all.push_back(amount);
  }
  for (const Bits amount : {127u, 128u, 255u, 256u, 257u, 0x80000000u, ~0u}) {
    all.push_back(amount);
  }
  return all;
}

} // namespace cudasim::engine::testing
