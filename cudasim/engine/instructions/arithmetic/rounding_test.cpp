// Floating-point arithmetic with directed rounding, against MPFR.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <string>

#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

struct Mode {
  const char* name;
  Rounding rounding;
};
constexpr Mode kModes[] = {
    {"rz", Rounding::kZero},
    {"rm", Rounding::kDown},
    {"rp", Rounding::kUp}};

/// The forms of an operation: f64, and f32 with all modifiers.
/// @param expected result of a rounding mode and operands of either format.
template <typename... Source, typename F>
void check_forms(const std::string& name, F expected, Source...) {
  for (const Mode& mode : kModes) {
    const std::string rounded = name + "." + mode.name;
    check<double, std::conditional_t<true, double, Source>...>(
        rounded + ".f64", [&](std::conditional_t<true, double, Source>... x) {
          return expected(mode.rounding, x...);
        });
    for (const bool flush : {false, true}) {
      for (const bool saturate : {false, true}) {
        check<float, Source...>(
            rounded + (flush ? ".ftz" : "") + (saturate ? ".sat" : "") + ".f32",
            [&](Source... x) {
              float result =
                  expected(mode.rounding, (flush ? flushed(x) : x)...);
              result = flush ? flushed(result) : result;
              return !saturate                        ? result
                  : std::isnan(result) || result <= 0 ? 0.0f
                                                      : std::fmin(result, 1.0f);
            });
      }
    }
  }
}

auto directed(Operation operation) {
  return [=](Rounding rounding, auto... operands) {
    return compute(operation, rounding, operands...);
  };
}

TEST(Rounding, TwoOperands) {
  check_forms("add", directed(Operation::kAdd), 0.f, 0.f);
  check_forms("sub", directed(Operation::kSubtract), 0.f, 0.f);
  check_forms("mul", directed(Operation::kMultiply), 0.f, 0.f);
  check_forms("div", directed(Operation::kDivide), 0.f, 0.f);
}

TEST(Rounding, ThreeOperands) {
  check_forms("fma", directed(Operation::kMultiplyAdd), 0.f, 0.f, 0.f);
  check_forms("mad", directed(Operation::kMultiplyAdd), 0.f, 0.f, 0.f);
}

TEST(Rounding, OneOperand) {
  const auto reciprocal = [](Rounding rounding, auto a) {
    return compute(Operation::kDivide, rounding, decltype(a){1}, a);
  };
  check_forms("rcp", reciprocal, 0.f);
  check_forms("sqrt", directed(Operation::kSquareRoot), 0.f);
}

TEST(Rounding, TheHostsModeIsAsBefore) {
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

} // namespace
} // namespace cudasim::engine::testing
