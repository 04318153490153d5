// Arithmetic of pairs of floats, against MPFR.
#include <gtest/gtest.h>

#include <string>

#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

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

/// Each half by itself.
/// @tparam S the sources, all of them pairs.
template <typename... S>
void check_pairs(const std::string& name, Operation operation) {
  for (const Mode& mode : kModes) {
    for (const bool flushes : {false, true}) {
      const auto before = [&](U64 bits) {
        const auto x = bits_to<float>(static_cast<U32>(bits));
        return flushes ? flushed(x) : x;
      };
      const auto one = [&](auto... bits) -> U64 {
        const float x = compute(operation, mode.rounding, before(bits)...);
        return bits_to<U32>(flushes ? flushed(x) : x);
      };
      check<F32x2, S...>(
          name + mode.name + (flushes ? ".ftz" : "") + ".f32x2", [&](S... x) {
            return F32x2{one((x.bits >> 32)...) << 32 | one(x.bits...)};
          });
    }
  }
}

TEST(SinglePair, SumsAndProducts) {
  check_pairs<F32x2, F32x2>("add", Operation::kAdd);
  check_pairs<F32x2, F32x2>("sub", Operation::kSubtract);
  check_pairs<F32x2, F32x2>("mul", Operation::kMultiply);
}

TEST(SinglePair, AddsAndMultipliesWithOneRounding) {
  check_pairs<F32x2, F32x2, F32x2>("fma", Operation::kMultiplyAdd);
}

} // namespace
} // namespace cudasim::engine::testing
