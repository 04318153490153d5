// Conversions to floating point against numbers of 80 bits, which hold every
// integer and double exactly, rounded once by MPFR.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>

#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

struct Mode {
  const char* name;
  Rounding rounding;
};
constexpr Mode kModes[] = {
    {"rn", Rounding::kNearest},
    {"rz", Rounding::kZero},
    {"rm", Rounding::kDown},
    {"rp", Rounding::kUp}};

/// A floating-point type: its name, its numbers, and how a result is made.
template <typename T>
struct Format;
template <>
struct Format<float> {
  static constexpr const char* kName = "f32";
  static long double value(float x) {
    return x;
  }
  static float make(long double x, const Mode& mode) {
    return rounded<float>(x, mode.rounding);
  }
  static float flush(float x) {
    return flushed(x);
  }
};
template <>
struct Format<double> {
  static constexpr const char* kName = "f64";
  static long double value(double x) {
    return x;
  }
  static double make(long double x, const Mode& mode) {
    return rounded<double>(x, mode.rounding);
  }
  static double flush(double x) {
    return x;
  }
};
template <>
struct Format<F16> {
  static constexpr const char* kName = "f16";
  static long double value(F16 x) {
    return decode(Sixteen::kHalf, x.bits);
  }
  static F16 make(long double x, const Mode& mode) {
    return {encode(Sixteen::kHalf, x, mode.rounding)};
  }
  static F16 flush(F16 x) {
    return x;
  }
};
template <>
struct Format<BF16> {
  static constexpr const char* kName = "bf16";
  static long double value(BF16 x) {
    return decode(Sixteen::kBrain, x.bits);
  }
  static BF16 make(long double x, const Mode& mode) {
    return {encode(Sixteen::kBrain, x, mode.rounding)};
  }
  // Denormal numbers of bfloat16 are those of f32.
  static BF16 flush(BF16 x) {
    return {flushed(Sixteen::kBrain, x.bits)};
  }
};

/// To [0, 1]; NaN gives 0.
template <typename D>
D saturated(D x) {
  const long double value = Format<D>::value(x);
  return std::isnan(value) || value <= 0 ? Format<D>::make(0, kModes[0])
      : value > 1                        ? Format<D>::make(1, kModes[0])
                                         : x;
}

template <typename T>
std::string integer_name() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(sizeof(T) * 8);
}

template <typename D, typename S>
void check_integer() {
  using R = std::conditional_t<sizeof(S) == 1, std::uint16_t, S>;
  for (const Mode& mode : kModes) {
    for (const bool saturate : {false, true}) {
      check<D, R>(
          std::string("cvt.") + mode.name + (saturate ? ".sat." : ".") +
              Format<D>::kName + "." + integer_name<S>(),
          [&](R a) {
            const D result = Format<D>::make(static_cast<S>(a), mode);
            return saturate ? saturated(result) : result;
          });
    }
  }
}

template <typename S>
void check_integers() {
  check_integer<F16, S>();
  check_integer<BF16, S>();
  check_integer<float, S>();
  check_integer<double, S>();
}

TEST(ConvertToFloat, FromIntegers) {
  check_integers<std::uint8_t>();
  check_integers<std::int8_t>();
  check_integers<std::uint16_t>();
  check_integers<std::int16_t>();
  check_integers<std::uint32_t>();
  check_integers<std::int32_t>();
  check_integers<std::uint64_t>();
  check_integers<std::int64_t>();
}

/// @param prefix "cvt" or "cvt.rn" and the like.
template <typename D, typename S>
void check_forms(const std::string& prefix, const Mode& mode) {
  const std::string types =
      std::string(".") + Format<D>::kName + "." + Format<S>::kName;
  for (const std::string modifiers : {"", ".ftz", ".sat", ".ftz.sat"}) {
    const bool flush = modifiers.find("ftz") != std::string::npos;
    check<D, S>(prefix + modifiers + types, [&](S a) {
      // .ftz is about f32 numbers, whichever side they are on; not in front of
      // f16 (measured on an H200).
      const bool first = flush && sizeof(D) != 2;
      D result = Format<D>::make(
          Format<S>::value(first ? Format<S>::flush(a) : a), mode);
      if (flush && std::is_same_v<D, float>) {
        result = Format<D>::flush(result);
      }
      return modifiers.find("sat") != std::string::npos ? saturated(result)
                                                        : result;
    });
  }
  check<D, S>(prefix + ".relu" + types, [&](S a) {
    const long double value = Format<S>::value(a);
    return Format<D>::make(value <= 0 ? 0 : value, mode);
  });
}

TEST(ConvertToFloat, Widens) {
  check_forms<float, F16>("cvt", kModes[0]);
  check_forms<float, BF16>("cvt", kModes[0]);
  check_forms<double, F16>("cvt", kModes[0]);
  check_forms<double, BF16>("cvt", kModes[0]);
  check_forms<double, float>("cvt", kModes[0]);
  check_forms<F16, F16>("cvt", kModes[0]);
  check_forms<float, float>("cvt", kModes[0]);
  check_forms<double, double>("cvt", kModes[0]);
}

template <typename D, typename S>
void check_narrow() {
  for (const Mode& mode : kModes) {
    check_forms<D, S>(std::string("cvt.") + mode.name, mode);
  }
}

TEST(ConvertToFloat, NarrowsInAllRoundings) {
  check_narrow<float, double>();
  check_narrow<F16, float>();
  check_narrow<BF16, float>();
  check_narrow<F16, double>();
  check_narrow<BF16, double>();
  check_narrow<BF16, F16>();
  check_narrow<F16, BF16>();
}

template <typename T>
void check_integral() {
  const auto round = [](const std::string& rounding, long double x) {
    return rounding == "rni" ? std::nearbyint(x)
        : rounding == "rzi"  ? std::trunc(x)
        : rounding == "rmi"  ? std::floor(x)
                             : std::ceil(x);
  };
  for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"}) {
    for (const std::string modifier : {"", ".ftz", ".sat"}) {
      check<T, T>(
          "cvt." + rounding + modifier + "." + Format<T>::kName + "." +
              Format<T>::kName,
          [&](T a) {
            const long double value =
                Format<T>::value(modifier == ".ftz" ? Format<T>::flush(a) : a);
            const T result = Format<T>::make(round(rounding, value), kModes[0]);
            return modifier == ".sat" ? saturated(result) : result;
          });
    }
  }
}

TEST(ConvertToFloat, RoundsToIntegralValues) {
  check_integral<F16>();
  check_integral<BF16>();
  check_integral<float>();
  check_integral<double>();
}

template <typename Two>
void check_pack(Sixteen format, const std::string& type) {
  for (const Mode& mode : {kModes[0], kModes[1]}) {
    for (const bool relu : {false, true}) {
      const auto one = [&](float x) -> std::uint32_t {
        return encode(format, relu && x <= 0 ? 0.0f : x, mode.rounding);
      };
      // The first operand goes to the upper half.
      check<Two, float, float>(
          std::string("cvt.") + mode.name + (relu ? ".relu." : ".") + type +
              ".f32",
          [&](float a, float b) { return Two{one(a) << 16 | one(b)}; });
    }
  }
}

TEST(ConvertToFloat, PacksTwoFloats) {
  check_pack<F16x2>(Sixteen::kHalf, "f16x2");
  check_pack<BF16x2>(Sixteen::kBrain, "bf16x2");
}

/// The nearest number that is finite: what is beyond all numbers is the last.
std::uint32_t finite(Sixteen format, std::uint32_t bits) {
  const std::uint32_t infinity = format == Sixteen::kHalf ? 0x7c00 : 0x7f80;
  return (bits & 0x7fff) == infinity ? bits - 1 : bits;
}

template <typename One, typename Two>
void check_finite(Sixteen format, const std::string& type) {
  for (const Mode& mode : {kModes[0], kModes[1]}) {
    for (const std::string relu : {"", ".relu"}) {
      const auto one = [&](float x) {
        return finite(
            format,
            encode(format, !relu.empty() && x <= 0 ? 0.0f : x, mode.rounding));
      };
      const std::string prefix =
          std::string("cvt.") + mode.name + relu + ".satfinite." + type;
      check<One, float>(prefix + ".f32", [&](float a) {
        return One{static_cast<std::uint16_t>(one(a))};
      });
      check<Two, float, float>(prefix + "x2.f32", [&](float a, float b) {
        return Two{one(a) << 16 | one(b)};
      });
    }
  }
}

TEST(ConvertToFloat, TheLargestNumberStandsForInfinity) {
  check_finite<F16, F16x2>(Sixteen::kHalf, "f16");
  check_finite<BF16, BF16x2>(Sixteen::kBrain, "bf16");
  check<float, float>("cvt.rna.satfinite.tf32.f32", [](float a) {
    const float largest = bits_to<float>(0x7f7fe000u);
    // A NaN loses the bits that tf32 lacks, and with them may become infinite.
    const auto cut = bits_to<float>(bits_to<std::uint32_t>(a) & ~0x1fffu);
    if (std::isnan(cut)) {
      return cut;
    }
    if (std::isnan(a) || std::fabs(a) >= largest) {
      return std::copysign(largest, a);
    }
    const int exponent = a == 0 ? 0 : std::max(std::ilogb(a), -126);
    const double unit = std::ldexp(1.0, exponent - 10);
    return static_cast<float>(
        std::copysign(std::round(std::fabs(a) / unit) * unit, a));
  });
}

TEST(ConvertToFloat, Tf32InOtherRoundings) {
  for (const std::string mode : {"rn", "rz"}) {
    for (const std::string relu : {"", ".relu"}) {
      for (const std::string finite : {"", ".satfinite"}) {
        check<float, float>(
            "cvt." + mode + relu + finite + ".tf32.f32", [&](float a) {
              if (std::isnan(a) || (!relu.empty() && a <= 0)) {
                return std::isnan(a) ? a : 0.0f;
              }
              const float largest = bits_to<float>(0x7f7fe000u);
              if (std::isinf(a)) {
                return finite.empty() ? a : std::copysign(largest, a);
              }
              const int exponent = a == 0 ? 0 : std::max(std::ilogb(a), -126);
              const double unit = std::ldexp(1.0, exponent - 10);
              const double steps = a / unit; // exact
              const auto near = static_cast<float>(
                  (mode == "rn" ? std::nearbyint(steps) : std::trunc(steps)) *
                  unit);
              return std::copysign(
                  finite.empty() ? near : std::clamp(near, -largest, largest),
                  a);
            });
      }
    }
  }
}

TEST(ConvertToFloat, Tf32HasTenBitsOfMantissa) {
  check<float, float>("cvt.rna.tf32.f32", [](float a) {
    if (!std::isfinite(a)) {
      // The bits that tf32 lacks are cleared, of a NaN as well.
      return bits_to<float>(bits_to<std::uint32_t>(a) & ~0x1fffu);
    }
    if (a == 0) {
      return a;
    }
    // Ties go away from zero. Denormal numbers have the smallest exponent.
    const int exponent = std::max(std::ilogb(a), -126);
    const double unit = std::ldexp(1.0, exponent - 10);
    return static_cast<float>(std::round(a / unit) * unit);
  });
}

} // namespace
} // namespace cudasim::engine::testing
