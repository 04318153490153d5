// Half and bfloat16 arithmetic, against MPFR.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;

struct Format {
  Sixteen sixteen;
  const char* name;
};
constexpr Format kHalf{Sixteen::kHalf, "f16"};
constexpr Format kBrain{Sixteen::kBrain, "bf16"};

/// What an instruction does to 16 bits around its operation.
struct Modifiers {
  bool flush = false;
  bool saturate = false;
  bool relu = false;
  std::string text() const {
    return std::string(flush ? ".ftz" : "") + (saturate ? ".sat" : "") +
        (relu ? ".relu" : "");
  }
  U16 before(Sixteen format, U16 x) const {
    return flush ? flushed(format, x) : x;
  }
  U16 after(Sixteen format, U16 x) const {
    x = before(format, x);
    const double value = decode(format, x);
    if (saturate) {
      return std::isnan(value) || value <= 0 ? 0
          : value > 1 ? encode(format, 1.0L, Rounding::kNearest)
                      : x;
    }
    return relu && value <= 0 ? 0 : x;
  }
};
constexpr Modifiers kPlain{};
constexpr Modifiers kFlush{true, false, false};
constexpr Modifiers kSaturate{false, true, false};
constexpr Modifiers kFlushSaturate{true, true, false};
constexpr Modifiers kRelu{false, false, true};
constexpr Modifiers kFlushRelu{true, false, true};

/// Checks the single and the packed form.
/// @param compute from 16-bit operands to 16 bits.
template <typename One, typename Two, typename... Source, typename F>
void check_format(
    const Format& format,
    const std::string& name,
    const Modifiers& m,
    F compute,
    Source...) {
  const auto single = [&](std::conditional_t<true, U16, Source>... x) {
    return m.after(
        format.sixteen,
        compute(format.sixteen, m.before(format.sixteen, x)...));
  };
  const std::string text = name + m.text() + "." + format.name;
  check<One, std::conditional_t<true, One, Source>...>(
      text, [&](std::conditional_t<true, One, Source>... x) {
        return One{single(x.bits...)};
      });
  check<Two, std::conditional_t<true, Two, Source>...>(
      text + "x2", [&](std::conditional_t<true, Two, Source>... x) {
        const U32 low = single(static_cast<U16>(x.bits)...);
        const U32 high = single(static_cast<U16>(x.bits >> 16)...);
        return Two{high << 16 | low};
      });
}
template <typename F, typename... Source>
void check_half(
    const std::string& name,
    const Modifiers& m,
    F compute,
    Source... sources) {
  check_format<F16, F16x2>(kHalf, name, m, compute, sources...);
}
template <typename F, typename... Source>
void check_brain(
    const std::string& name,
    const Modifiers& m,
    F compute,
    Source... sources) {
  check_format<BF16, BF16x2>(kBrain, name, m, compute, sources...);
}

U16 add(Sixteen f, U16 a, U16 b) {
  return compute(f, Operation::kAdd, a, b);
}
U16 subtract(Sixteen f, U16 a, U16 b) {
  return compute(f, Operation::kSubtract, a, b);
}
U16 multiply(Sixteen f, U16 a, U16 b) {
  return compute(f, Operation::kMultiply, a, b);
}
U16 multiply_add(Sixteen f, U16 a, U16 b, U16 c) {
  return compute(f, Operation::kMultiplyAdd, a, b, c);
}

TEST(Half, SumsAndProducts) {
  for (const std::string rounding : {"", ".rn"}) {
    for (const Modifiers& m : {kPlain, kFlush, kSaturate, kFlushSaturate}) {
      check_half("add" + rounding, m, add, 0, 0);
      check_half("sub" + rounding, m, subtract, 0, 0);
      check_half("mul" + rounding, m, multiply, 0, 0);
    }
    check_brain("add" + rounding, kPlain, add, 0, 0);
    check_brain("sub" + rounding, kPlain, subtract, 0, 0);
    check_brain("mul" + rounding, kPlain, multiply, 0, 0);
  }
}

TEST(Half, AddsAndMultipliesWithOneRounding) {
  for (const Modifiers& m :
       {kPlain, kFlush, kSaturate, kFlushSaturate, kRelu, kFlushRelu}) {
    check_half("fma.rn", m, multiply_add, 0, 0, 0);
  }
  check_brain("fma.rn", kPlain, multiply_add, 0, 0, 0);
  check_brain("fma.rn", kRelu, multiply_add, 0, 0, 0);
}

U16 larger(Sixteen f, U16 a, U16 b) {
  const double x = decode(f, a);
  const double y = decode(f, b);
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) ? b : a;
  }
  return x == y ? ((a & 0x8000) != 0 ? b : a) : x > y ? a : b;
}
U16 smaller(Sixteen f, U16 a, U16 b) {
  return larger(f, a ^ 0x8000, b ^ 0x8000) ^ 0x8000;
}
template <U16 (*kChoose)(Sixteen, U16, U16)>
U16 unless_nan(Sixteen f, U16 a, U16 b) {
  return std::isnan(decode(f, a)) || std::isnan(decode(f, b))
      ? 0x7fff
      : kChoose(f, a, b);
}

/// Of magnitudes, with the sign of the product; NaN has none.
template <U16 (*kChoose)(Sixteen, U16, U16)>
U16 with_sign_of_product(Sixteen f, U16 a, U16 b) {
  const U16 magnitude = kChoose(f, a & 0x7fff, b & 0x7fff);
  return std::isnan(decode(f, magnitude))
      ? U16{0x7fff}
      : static_cast<U16>(magnitude | ((a ^ b) & 0x8000));
}

TEST(Half, SmallerAndLargerOfMagnitudesWithTheSignOfTheProduct) {
  const auto check_all =
      [](const std::string& modifier, auto most, auto least) {
        for (const Modifiers& m : {kPlain, kFlush}) {
          check_half("max" + modifier, m, most, 0, 0);
          check_half("min" + modifier, m, least, 0, 0);
        }
        check_brain("max" + modifier, kPlain, most, 0, 0);
        check_brain("min" + modifier, kPlain, least, 0, 0);
      };
  check_all(
      ".xorsign.abs",
      with_sign_of_product<larger>,
      with_sign_of_product<smaller>);
  check_all(
      ".NaN.xorsign.abs",
      with_sign_of_product<unless_nan<larger>>,
      with_sign_of_product<unless_nan<smaller>>);
}

TEST(Half, SmallerAndLarger) {
  for (const Modifiers& m : {kPlain, kFlush}) {
    check_half("max", m, larger, 0, 0);
    check_half("min", m, smaller, 0, 0);
    check_half("max.NaN", m, unless_nan<larger>, 0, 0);
    check_half("min.NaN", m, unless_nan<smaller>, 0, 0);
  }
  check_brain("max", kPlain, larger, 0, 0);
  check_brain("min", kPlain, smaller, 0, 0);
  check_brain("max.NaN", kPlain, unless_nan<larger>, 0, 0);
  check_brain("min.NaN", kPlain, unless_nan<smaller>, 0, 0);
}

TEST(Half, Signs) {
  const auto absolute = [](Sixteen, U16 a) { return U16(a & 0x7fff); };
  const auto negative = [](Sixteen, U16 a) { return U16(a ^ 0x8000); };
  for (const Modifiers& m : {kPlain, kFlush}) {
    check_half("abs", m, absolute, 0);
    check_half("neg", m, negative, 0);
  }
  check_brain("abs", kPlain, absolute, 0);
  check_brain("neg", kPlain, negative, 0);
}

/// Accepts what is as close to a function as PTX ISA 9.7.4 asks for.
/// @param relative, @param absolute error.
bool near(double is, double right, double relative, double absolute) {
  if (std::isnan(right) || std::isinf(right) || std::isinf(is)) {
    return std::isnan(right)
        ? std::isnan(is)
        : is == right || std::isinf(is) == std::isinf(right);
  }
  return std::fabs(is - right) <= std::fabs(right) * relative + absolute;
}

template <typename One, typename Two, typename F>
void check_near(
    const std::string& name,
    const Format& format,
    F function,
    double relative,
    double absolute) {
  const auto good = [&](U32 is, U32 operand) {
    const auto bits = static_cast<U16>(operand);
    const double right = function(decode(format.sixteen, bits));
    const U16 rounded_right = encode(format.sixteen, right, Rounding::kNearest);
    return near(
        decode(format.sixteen, static_cast<U16>(is)),
        std::isinf(decode(format.sixteen, rounded_right)) ? INFINITY : right,
        relative,
        absolute);
  };
  // The expectation is the operand; accept() knows the function.
  check<One, One>(
      name + "." + format.name,
      [](One a) { return a; },
      "",
      [&](One is, One a) { return good(is.bits, a.bits); });
  check<Two, Two>(
      name + "." + format.name + "x2",
      [](Two a) { return a; },
      "",
      [&](Two is, Two a) {
        return good(is.bits & 0xffff, a.bits & 0xffff) &&
            good(is.bits >> 16, a.bits >> 16);
      });
}

TEST(Half, Approximations) {
  const auto exponential = [](double a) { return std::exp2(a); };
  const auto tangent = [](double a) { return std::tanh(a); };
  check_near<F16, F16x2>(
      "ex2.approx", kHalf, exponential, std::exp2(-9.9), std::exp2(-24));
  check_near<BF16, BF16x2>(
      "ex2.approx.ftz", kBrain, exponential, std::exp2(-7), std::exp2(-126));
  check_near<F16, F16x2>("tanh.approx", kHalf, tangent, 0, std::exp2(-10.987));
  check_near<BF16, BF16x2>("tanh.approx", kBrain, tangent, 0, std::exp2(-8));
}

} // namespace
} // namespace cudasim::engine::testing
