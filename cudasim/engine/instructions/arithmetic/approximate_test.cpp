// Approximations: within the errors that PTX ISA 9.7.3 states, and its tables
// of special values.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

/// How far a result may be from the exact one.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// The largest operand that a tolerance of sin and cos holds for.
constexpr double kPi = 3.14159265358979323846;

/// Whether a float is near a number that a float may not hold.
bool near(float is, double right, Tolerance tolerance) {
  if (std::isnan(right)) {
    return std::isnan(is);
  }
  const double most = std::numeric_limits<float>::max();
  if (std::fabs(right) > most || right == 0) {
    // Infinity, and a zero with its sign.
    const double special =
        std::fabs(right) > most ? std::copysign(INFINITY, right) : right;
    return (is == special && std::signbit(is) == std::signbit(right)) ||
        (std::isfinite(right) && right != 0 &&
         std::fabs(is - right) <= std::fabs(right) * tolerance.relative);
  }
  // Denormal results have an error of one unit in the last place at most.
  const double smallest = std::numeric_limits<float>::denorm_min();
  return std::fabs(is - right) <=
      std::fabs(right) * tolerance.relative + tolerance.absolute + smallest;
}

/// With .ftz a denormal result is zero; one that is about to be may be either.
bool near_flushed(float is, double right, Tolerance tolerance) {
  const double smallest = std::numeric_limits<float>::min();
  if (right != 0 && std::fabs(right) < smallest * (1 + 1e-6)) {
    if (is == 0 && std::signbit(is) == std::signbit(right)) {
      return true;
    }
    return std::fabs(is) >= smallest && near(is, right, tolerance);
  }
  return near(is, right, tolerance);
}

/// Checks name.approx.f32 and name.approx.ftz.f32.
/// @param tolerance for an operand.
void check_function(
    const std::string& name,
    const std::function<double(double)>& function,
    const std::function<Tolerance(double)>& tolerance) {
  // accept() gets the operand as the expectation.
  const auto operand = [](float a) { return a; };
  check<float, float>(name + ".f32", operand, "", [&](float is, float a) {
    return near(is, function(a), tolerance(a));
  });
  if (name == "tanh.approx") {
    return;
  }
  std::string flushing = name + ".ftz.f32";
  check<float, float>(flushing, operand, "", [&](float is, float a) {
    return near_flushed(is, function(flushed(a)), tolerance(a));
  });
}

std::function<Tolerance(double)> relative(double error) {
  return [=](double) { return Tolerance{error, 0}; };
}

TEST(Approximate, ReciprocalsAndRoots) {
  check_function(
      "rcp.approx", [](double a) { return 1 / a; }, relative(std::exp2(-23)));
  check_function(
      "sqrt.approx",
      [](double a) { return std::sqrt(a); },
      relative(std::exp2(-23)));
  check_function(
      "rsqrt.approx",
      [](double a) { return 1 / std::sqrt(a); },
      relative(std::exp2(-22.9)));
}

TEST(Approximate, SineAndCosine) {
  // The absolute error holds in [-pi, pi]; beyond it grows with the operand.
  const auto tolerance = [](double a) {
    return Tolerance{
        0,
        std::fabs(a) <= kPi ? std::exp2(-20.5)
                            : std::fabs(a) * std::exp2(-20.5)};
  };
  check_function("sin.approx", [](double a) { return std::sin(a); }, tolerance);
  check_function("cos.approx", [](double a) { return std::cos(a); }, tolerance);
}

TEST(Approximate, LogarithmAndExponential) {
  check_function(
      "lg2.approx",
      [](double a) { return std::log2(a); },
      [](double a) {
        return a > 0.5 && a < 2 ? Tolerance{0, std::exp2(-22)}
                                : Tolerance{std::exp2(-22.6), 0};
      });
  check_function(
      "ex2.approx",
      [](double a) { return std::exp2(a); },
      relative(std::exp2(-22.5)));
}

TEST(Approximate, Tangent) {
  check_function(
      "tanh.approx",
      [](double a) { return std::tanh(a); },
      relative(std::exp2(-11)));
}

/// Two units in the last place of a quotient, for divisors that PTX names.
void check_division(const std::string& name, bool flush) {
  check<float, float, float>(
      name,
      [&](float a, float b) {
        return flush ? flushed(flushed(a) / flushed(b)) : a / b;
      },
      "",
      [&](float is, float right) {
        if (std::isnan(right) || std::isinf(right) || right == 0) {
          return std::isnan(right) ? std::isnan(is) : is == right;
        }
        return std::fabs(double{is} - right) <=
            2 * std::fabs(double{std::nextafterf(right, INFINITY)} - right) * 2;
      });
}

TEST(Approximate, Division) {
  check_division("div.approx.f32", false);
  check_division("div.approx.ftz.f32", true);
  check_division("div.full.f32", false);
  check_division("div.full.ftz.f32", true);
}

/// Only the upper 32 bits of a double count, and denormal numbers are zeros.
double seed_operand(double a) {
  return flushed(
      bits_to<double>(bits_to<std::uint64_t>(a) & 0xffffffff00000000ull));
}

TEST(Approximate, SeedsInDoublePrecision) {
  const auto near_double = [](double is, double right, double error) {
    return std::isnan(right)              ? std::isnan(is)
        : std::isinf(right) || right == 0 ? is == right
                                          : std::fabs(is / right - 1) <= error;
  };
  const auto seed = [&](double is, double right) {
    return near_double(is, flushed(right), std::exp2(-20)) &&
        (std::isnan(is) || (bits_to<std::uint64_t>(is) & 0xffffffffu) == 0);
  };
  check<double, double>(
      "rcp.approx.ftz.f64",
      [](double a) { return 1 / seed_operand(a); },
      "",
      seed);
  check<double, double>(
      "rsqrt.approx.ftz.f64",
      [](double a) { return 1 / std::sqrt(seed_operand(a)); },
      "",
      seed);
  check<double, double>(
      "rsqrt.approx.f64",
      [](double a) { return 1 / std::sqrt(a); },
      "",
      [&](double is, double right) {
        return near_double(is, right, std::exp2(-50));
      });
}

} // namespace
} // namespace cudasim::engine::testing
