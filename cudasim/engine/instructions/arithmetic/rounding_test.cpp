// Floating-point arithmetic with directed rounding, against the processor's
// scalar instructions in that rounding mode.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <string>

#include "cudasim/engine/testing/instruction_harness.h"
#include "cudasim/engine/testing/soft_float.h"

namespace cudasim::engine::testing {
namespace {

struct Mode {
  const char* name;
  int host;
};
constexpr Mode kModes[] = {
    {"rz", FE_TOWARDZERO},
    {"rm", FE_DOWNWARD},
    {"rp", FE_UPWARD}};

/// compute() in a rounding mode of the host.
template <typename F>
auto in_mode(int mode, F compute) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile auto result = compute();
  std::fesetround(before);
  return static_cast<std::remove_volatile_t<decltype(result)>>(result);
}

/// The forms of an operation: f64, and f32 with all modifiers.
/// @param compute on volatile operands, so that nothing is computed early.
template <typename... Source, typename F>
void check_forms(const std::string& operation, F compute, Source...) {
  for (const Mode& mode : kModes) {
    const std::string name = operation + "." + mode.name;
    check<double, std::conditional_t<true, double, Source>...>(
        name + ".f64", [&](std::conditional_t<true, double, Source>... x) {
          return in_mode(mode.host, [&] { return compute(x...); });
        });
    for (const bool flush : {false, true}) {
      for (const bool saturate : {false, true}) {
        check<float, Source...>(
            name + (flush ? ".ftz" : "") + (saturate ? ".sat" : "") + ".f32",
            [&](Source... x) {
              float result = in_mode(mode.host, [&] {
                return compute((flush ? flushed(x) : x)...);
              });
              result = flush ? flushed(result) : result;
              return !saturate                        ? result
                  : std::isnan(result) || result <= 0 ? 0.0f
                                                      : std::fmin(result, 1.0f);
            });
      }
    }
  }
}

// Operands that the compiler cannot know, so that it computes at run time.
template <typename T>
T opaque(T value) {
  volatile T copy = value;
  return copy;
}

TEST(Rounding, TwoOperands) {
  check_forms(
      "add", [](auto a, auto b) { return opaque(a) + opaque(b); }, 0.f, 0.f);
  check_forms(
      "sub", [](auto a, auto b) { return opaque(a) - opaque(b); }, 0.f, 0.f);
  check_forms(
      "mul", [](auto a, auto b) { return opaque(a) * opaque(b); }, 0.f, 0.f);
  check_forms(
      "div", [](auto a, auto b) { return opaque(a) / opaque(b); }, 0.f, 0.f);
}

TEST(Rounding, ThreeOperands) {
  const auto compute = [](auto a, auto b, auto c) {
    return std::fma(opaque(a), opaque(b), opaque(c));
  };
  check_forms("fma", compute, 0.f, 0.f, 0.f);
  check_forms("mad", compute, 0.f, 0.f, 0.f);
}

TEST(Rounding, OneOperand) {
  check_forms(
      "rcp", [](auto a) { return opaque(decltype(a){1}) / opaque(a); }, 0.f);
  check_forms("sqrt", [](auto a) { return std::sqrt(opaque(a)); }, 0.f);
}

TEST(Rounding, TheHostsModeIsAsBefore) {
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

} // namespace
} // namespace cudasim::engine::testing
