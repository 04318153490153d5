// Floating-point arithmetic rounded to nearest even, against MPFR.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

/// Modifiers of single precision.
struct Modifiers {
  bool flush;
  bool saturate;
  std::string text() const {
    return std::string(flush ? ".ftz" : "") + (saturate ? ".sat" : "");
  }
  float before(float x) const {
    return flush ? flushed(x) : x;
  }
  float after(float x) const {
    x = before(x);
    if (saturate) {
      x = std::isnan(x) || x <= 0 ? 0.0f : std::fmin(x, 1.0f);
    }
    return x;
  }
};
constexpr Modifiers kPlain{false, false};
constexpr Modifiers kFlush{true, false};
constexpr Modifiers kSaturate{false, true};
constexpr Modifiers kBoth{true, true};

/// An operation on numbers of either format.
auto nearest(Operation operation) {
  return [=](auto... operands) {
    return compute(operation, Rounding::kNearest, operands...);
  };
}

template <typename F>
void check_unary(const std::string& name, F compute, bool flushes = true) {
  check<double, double>(name + ".f64", [&](double a) { return compute(a); });
  for (const Modifiers& m : {kPlain, kFlush}) {
    if (!m.flush || flushes) {
      check<float, float>(name + m.text() + ".f32", [&](float a) {
        return m.after(compute(m.before(a)));
      });
    }
  }
}

template <typename F>
void check_binary(const std::string& name, F compute, bool saturates) {
  check<double, double, double>(
      name + ".f64", [&](double a, double b) { return compute(a, b); });
  for (const Modifiers& m : {kPlain, kFlush, kSaturate, kBoth}) {
    if (!m.saturate || saturates) {
      check<float, float, float>(
          name + m.text() + ".f32", [&](float a, float b) {
            return m.after(compute(m.before(a), m.before(b)));
          });
    }
  }
}

TEST(Float, SumsAndProducts) {
  for (const char* rounding : {"", ".rn"}) {
    check_binary(std::string("add") + rounding, nearest(Operation::kAdd), true);
    check_binary(
        std::string("sub") + rounding, nearest(Operation::kSubtract), true);
    check_binary(
        std::string("mul") + rounding, nearest(Operation::kMultiply), true);
  }
}

TEST(Float, AddsAndMultipliesWithOneRounding) {
  const auto fused = nearest(Operation::kMultiplyAdd);
  for (const std::string name : {"fma.rn", "mad.rn"}) {
    check<double, double, double, double>(name + ".f64", fused);
    for (const Modifiers& m : {kPlain, kFlush, kSaturate, kBoth}) {
      check<float, float, float, float>(
          name + m.text() + ".f32", [&](float a, float b, float c) {
            return m.after(fused(m.before(a), m.before(b), m.before(c)));
          });
    }
  }
}

TEST(Float, QuotientsAndRoots) {
  const auto quotient = nearest(Operation::kDivide);
  check_binary("div.rn", quotient, false);
  check_unary("rcp.rn", [&](auto a) { return quotient(decltype(a){1}, a); });
  check_unary("sqrt.rn", nearest(Operation::kSquareRoot));
}

/// A number wins against NaN, and +0 is more than -0.
template <typename T>
T larger(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) ? b : a;
  }
  if (a == b) {
    return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}
template <typename T>
T smaller(T a, T b) {
  return -larger(-a, -b);
}
template <typename T>
bool any_nan(T a, T b) {
  return std::isnan(a) || std::isnan(b);
}

TEST(Float, SmallerAndLarger) {
  check_binary("max", [](auto a, auto b) { return larger(a, b); }, false);
  check_binary("min", [](auto a, auto b) { return smaller(a, b); }, false);
  for (const Modifiers& m : {kPlain, kFlush}) {
    check<float, float, float>(
        "max" + m.text() + ".NaN.f32", [&](float a, float b) {
          return any_nan(a, b) ? NAN : larger(m.before(a), m.before(b));
        });
    check<float, float, float>(
        "min" + m.text() + ".NaN.f32", [&](float a, float b) {
          return any_nan(a, b) ? NAN : smaller(m.before(a), m.before(b));
        });
  }
}

TEST(Float, SmallerAndLargerOfMagnitudesWithTheSignOfTheProduct) {
  for (const bool most : {false, true}) {
    for (const bool keeps_nan : {false, true}) {
      for (const Modifiers& m : {kPlain, kFlush}) {
        check<float, float, float>(
            std::string(most ? "max" : "min") + m.text() +
                (keeps_nan ? ".NaN" : "") + ".xorsign.abs.f32",
            [&](float a, float b) {
              if ((keeps_nan && any_nan(a, b)) ||
                  (std::isnan(a) && std::isnan(b))) {
                return std::numeric_limits<float>::quiet_NaN();
              }
              const float x = std::fabs(m.before(a));
              const float y = std::fabs(m.before(b));
              const bool negative = std::signbit(a) != std::signbit(b);
              return std::copysign(
                  most ? larger(x, y) : smaller(x, y), negative ? -1.0f : 1.0f);
            });
      }
    }
  }
}

/// The numbers among three, in order: -0 is less than +0.
TEST(Float, SmallestAndLargestOfThree) {
  for (const bool most : {false, true}) {
    for (const std::string modifier : {"", ".NaN"}) {
      for (const std::string magnitudes : {"", ".abs"}) {
        for (const Modifiers& m : {kPlain, kFlush}) {
          check<float, float, float, float>(
              std::string(most ? "max" : "min") + m.text() + modifier +
                  magnitudes + ".f32",
              [&](float a, float b, float c) {
                std::vector<float> numbers;
                for (const float x : {a, b, c}) {
                  if (!std::isnan(x)) {
                    const float flushed = m.before(x);
                    numbers.push_back(
                        magnitudes.empty() ? flushed : std::fabs(flushed));
                  }
                }
                if (numbers.empty() ||
                    (!modifier.empty() && numbers.size() < 3)) {
                  return std::numeric_limits<float>::quiet_NaN();
                }
                std::sort(numbers.begin(), numbers.end(), [](float x, float y) {
                  return x < y ||
                      (x == y && std::signbit(x) && !std::signbit(y));
                });
                return most ? numbers.back() : numbers.front();
              });
        }
      }
    }
  }
}

TEST(Float, Signs) {
  check_unary("abs", [](auto a) { return std::fabs(a); });
  check_unary("neg", [](auto a) { return -a; });
  // The sign of the first operand on the second.
  check<float, float, float>(
      "copysign.f32", [](float a, float b) { return std::copysign(b, a); });
  check<double, double, double>(
      "copysign.f64", [](double a, double b) { return std::copysign(b, a); });
}

template <typename T>
void check_tests(const std::string& type) {
  const auto classify = [&](const std::string& test, auto accept) {
    check<Pred, T>("testp." + test + "." + type, [&](T a) {
      return Pred{accept(std::fpclassify(a))};
    });
  };
  classify("finite", [](int c) { return c != FP_NAN && c != FP_INFINITE; });
  classify("infinite", [](int c) { return c == FP_INFINITE; });
  classify("number", [](int c) { return c != FP_NAN; });
  classify("notanumber", [](int c) { return c == FP_NAN; });
  // Zeros count as normal (PTX ISA 9.7.3, testp).
  classify("normal", [](int c) { return c == FP_NORMAL || c == FP_ZERO; });
  classify("subnormal", [](int c) { return c == FP_SUBNORMAL; });
}

TEST(Float, Classes) {
  check_tests<float>("f32");
  check_tests<double>("f64");
}

} // namespace
} // namespace cudasim::engine::testing
