// MPFR, as exact_arithmetic.h calls it, and the host's processor agree where
// both know an operation.
#include "cudasim/engine/testing/exact_arithmetic.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

namespace cudasim::engine::testing {
namespace {

struct Mode {
  Rounding rounding;
  int host;
};
constexpr Mode kModes[] = {
    {Rounding::kNearest, FE_TONEAREST},
    {Rounding::kZero, FE_TOWARDZERO},
    {Rounding::kDown, FE_DOWNWARD},
    {Rounding::kUp, FE_UPWARD}};

template <typename T>
T opaque(T value) {
  volatile T copy = value;
  return copy;
}

template <typename T>
T of_host(Operation operation, int mode, T a, T b, T c) {
  std::fesetround(mode);
  const T x = opaque(a);
  T result = 0;
  switch (operation) {
    case Operation::kAdd:
      result = opaque(x + opaque(b));
      break;
    case Operation::kSubtract:
      result = opaque(x - opaque(b));
      break;
    case Operation::kMultiply:
      result = opaque(x * opaque(b));
      break;
    case Operation::kDivide:
      result = opaque(x / opaque(b));
      break;
    case Operation::kMultiplyAdd:
      result = opaque(std::fma(x, opaque(b), opaque(c)));
      break;
    case Operation::kSquareRoot:
      result = opaque(std::sqrt(x));
      break;
  }
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename T>
bool same(T a, T b) {
  return (a == b && std::signbit(a) == std::signbit(b)) ||
      (std::isnan(a) && std::isnan(b));
}

/// Numbers of all sizes: near the borders of the format, and near each other.
template <typename T>
T number(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {
      0, 1, -1, Limits::denorm_min(), Limits::min(), Limits::max(), INFINITY};
  const auto choice = random() % 16;
  if (choice < std::size(special)) {
    return (random() & 1) != 0 ? -special[choice] : special[choice];
  }
  const int most = choice == 15 ? Limits::max_exponent : 8;
  const T mantissa = static_cast<T>(random() >> 11) * std::exp2(T{-52});
  const int exponent = static_cast<int>(random() % (2 * most + 1)) - most;
  const T value =
      std::ldexp(mantissa, choice == 14 ? -Limits::max_exponent + 4 : exponent);
  return (random() & 1) != 0 ? -value : value;
}

template <typename T>
void check() {
  std::mt19937_64 random(1);
  for (int sample = 0; sample < 4000; ++sample) {
    const T a = number<T>(random);
    const T b = number<T>(random);
    const T c = number<T>(random);
    for (const Operation operation :
         {Operation::kAdd,
          Operation::kSubtract,
          Operation::kMultiply,
          Operation::kDivide,
          Operation::kMultiplyAdd,
          Operation::kSquareRoot}) {
      for (const Mode& mode : kModes) {
        const T exact = compute(operation, mode.rounding, a, b, c);
        const T host = of_host(operation, mode.host, a, b, c);
        ASSERT_TRUE(same(exact, host))
            << std::hexfloat << "operation " << int(operation) << ", mode "
            << mode.host << " of " << a << ", " << b << ", " << c << ": "
            << exact << " and " << host;
      }
    }
  }
}

TEST(ExactArithmetic, OfFloatsIsTheHosts) {
  check<float>();
}

TEST(ExactArithmetic, OfDoublesIsTheHosts) {
  check<double>();
}

TEST(ExactArithmetic, SixteenBitsComeBack) {
  for (const Sixteen format : {Sixteen::kHalf, Sixteen::kBrain}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double value = decode(format, static_cast<std::uint16_t>(bits));
      ASSERT_EQ(
          encode(format, value, Rounding::kNearest),
          std::isnan(value) ? 0x7fff : bits);
    }
  }
}

/// From the definitions of the formats.
TEST(ExactArithmetic, SixteenBitsAreRounded) {
  const auto half = [](double value, Rounding rounding) {
    return encode(Sixteen::kHalf, value, rounding);
  };
  const auto brain = [](double value, Rounding rounding) {
    return encode(Sixteen::kBrain, value, rounding);
  };
  EXPECT_EQ(half(1 + std::exp2(-11), Rounding::kNearest), 0x3c00);
  EXPECT_EQ(half(1 + 3 * std::exp2(-11), Rounding::kNearest), 0x3c02);
  EXPECT_EQ(half(1 + std::exp2(-11), Rounding::kUp), 0x3c01);
  EXPECT_EQ(half(65520, Rounding::kNearest), 0x7c00);
  EXPECT_EQ(half(65519, Rounding::kNearest), 0x7bff);
  EXPECT_EQ(half(1e9, Rounding::kZero), 0x7bff);
  EXPECT_EQ(half(std::exp2(-25), Rounding::kNearest), 0);
  EXPECT_EQ(half(1.5 * std::exp2(-25), Rounding::kNearest), 1);
  EXPECT_EQ(half(-std::exp2(-30), Rounding::kDown), 0x8001);
  EXPECT_EQ(brain(1 + std::exp2(-8), Rounding::kNearest), 0x3f80);
  EXPECT_EQ(brain(std::exp2(-133), Rounding::kNearest), 1);
  EXPECT_EQ(brain(std::exp2(-134), Rounding::kUp), 1);
  EXPECT_EQ(brain(3.4e38, Rounding::kNearest), 0x7f80);
}

TEST(ExactArithmetic, SixteenBitsAreComputedWithOneRounding) {
  // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20; less 1, and more than half a unit.
  EXPECT_EQ(
      compute(Sixteen::kHalf, Operation::kMultiplyAdd, 0x3c01, 0x3c01, 0xbc00),
      encode(
          Sixteen::kHalf, std::exp2(-9) + std::exp2(-20), Rounding::kNearest));
  EXPECT_EQ(compute(Sixteen::kHalf, Operation::kAdd, 0x3c00, 0xbc00), 0);
  EXPECT_EQ(
      compute(Sixteen::kBrain, Operation::kMultiply, 0x7f7f, 0x4000), 0x7f80);
}

} // namespace
} // namespace cudasim::engine::testing
