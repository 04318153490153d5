// Arithmetic in single precision on sources of 16 bits, against MPFR.
#include <gtest/gtest.h>

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
    {"", Rounding::kNearest},
    {".rn", Rounding::kNearest},
    {".rz", Rounding::kZero},
    {".rm", Rounding::kDown},
    {".rp", Rounding::kUp}};

float saturated(float x) {
  return std::isnan(x) || x <= 0 ? 0.0f : std::fmin(x, 1.0f);
}

template <typename T>
void check_mixed(Sixteen format, const std::string& type) {
  for (const Mode& mode : kModes) {
    for (const bool clamps : {false, true}) {
      const auto name = [&](const std::string& operation) {
        return operation + mode.name + (clamps ? ".sat" : "") + ".f32." + type;
      };
      const auto value = [&](T x) {
        return static_cast<float>(decode(format, x.bits));
      };
      const auto result = [&](Operation operation, auto... x) {
        const float y = compute(operation, mode.rounding, x...);
        return clamps ? saturated(y) : y;
      };
      check<float, T, float>(name("add"), [&](T a, float c) {
        return result(Operation::kAdd, value(a), c);
      });
      check<float, T, float>(name("sub"), [&](T a, float c) {
        return result(Operation::kSubtract, value(a), c);
      });
      check<float, T, T, float>(name("fma"), [&](T a, T b, float c) {
        return result(Operation::kMultiplyAdd, value(a), value(b), c);
      });
    }
  }
}

TEST(Mixed, HalvesAndFloats) {
  check_mixed<F16>(Sixteen::kHalf, "f16");
}

TEST(Mixed, BrainFloatsAndFloats) {
  check_mixed<BF16>(Sixteen::kBrain, "bf16");
}

} // namespace
} // namespace cudasim::engine::testing
