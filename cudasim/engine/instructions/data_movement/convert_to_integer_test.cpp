// Conversions to integers, with registers wider than the types.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

using Wide = __int128;

/// The register that holds a type when it is as small as can be.
template <typename T>
using Smallest = std::conditional_t<
    sizeof(T) <= 2,
    std::uint16_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <typename T>
std::string name_of() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(sizeof(T) * 8);
}

template <typename T>
T clamped(Wide value) {
  return static_cast<T>(std::clamp<Wide>(
      value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// A value of a type in a register: extended by its own sign.
template <typename R, typename T>
R extended(T value) {
  return static_cast<R>(static_cast<std::int64_t>(value));
}

template <typename D, typename S, typename DR, typename SR>
void check_registers() {
  const std::string types = name_of<D>() + "." + name_of<S>();
  check<DR, SR>("cvt." + types, [](SR a) {
    return extended<DR>(static_cast<D>(static_cast<S>(a)));
  });
  check<DR, SR>("cvt.sat." + types, [](SR a) {
    return extended<DR>(clamped<D>(static_cast<S>(a)));
  });
}

template <typename D, typename S>
void check_pair() {
  check_registers<D, S, Smallest<D>, Smallest<S>>();
  // The type in the low bits of a wider register.
  check_registers<D, S, std::uint64_t, Smallest<S>>();
  check_registers<D, S, Smallest<D>, std::uint64_t>();
  if (sizeof(D) < 4) {
    check_registers<D, S, std::uint32_t, Smallest<S>>();
  }
}

template <typename S>
void check_source() {
  check_pair<std::uint8_t, S>();
  check_pair<std::int8_t, S>();
  check_pair<std::uint16_t, S>();
  check_pair<std::int16_t, S>();
  check_pair<std::uint32_t, S>();
  check_pair<std::int32_t, S>();
  check_pair<std::uint64_t, S>();
  check_pair<std::int64_t, S>();
}

TEST(ConvertToInteger, FromIntegers) {
  check_source<std::uint8_t>();
  check_source<std::int8_t>();
  check_source<std::uint16_t>();
  check_source<std::int16_t>();
  check_source<std::uint32_t>();
  check_source<std::int32_t>();
  check_source<std::uint64_t>();
  check_source<std::int64_t>();
}

/// A floating-point type as a source.
template <typename T>
struct Source;
template <>
struct Source<float> {
  static constexpr const char* kName = "f32";
  static double value(float x, bool flush) {
    return flush ? flushed(x) : x;
  }
};
template <>
struct Source<double> {
  static constexpr const char* kName = "f64";
  static double value(double x, bool) {
    return x;
  }
};
template <>
struct Source<F16> {
  static constexpr const char* kName = "f16";
  static double value(F16 x, bool) {
    return decode(Sixteen::kHalf, x.bits);
  }
};
template <>
struct Source<BF16> {
  static constexpr const char* kName = "bf16";
  static double value(BF16 x, bool flush) {
    return decode(
        Sixteen::kBrain, flush ? flushed(Sixteen::kBrain, x.bits) : x.bits);
  }
};

double integral(const std::string& rounding, double x) {
  return rounding == "rni" ? std::nearbyint(x)
      : rounding == "rzi"  ? std::trunc(x)
      : rounding == "rmi"  ? std::floor(x)
                           : std::ceil(x);
}

/// NaN gives 0, or the highest bit alone when the source is f64 or the result
/// has 64 bits (PTX ISA 9.7.9.21, cvt, "Integer notes").
template <typename D, typename S>
D converted(double x) {
  if (std::isnan(x)) {
    const bool zero = !std::is_same_v<S, double> && sizeof(D) < 8;
    return zero ? D{0}
                : static_cast<D>(std::uint64_t{1} << (sizeof(D) * 8 - 1));
  }
  // 2^100 is far outside of every integer type and fits into 128 bits.
  return clamped<D>(static_cast<Wide>(std::clamp(x, -0x1p100, 0x1p100)));
}

template <typename D, typename S>
void check_float() {
  for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"}) {
    for (const std::string modifiers : {"", ".sat", ".ftz", ".ftz.sat"}) {
      const bool flush = modifiers.find("ftz") != std::string::npos;
      const auto expected = [&](S a) {
        return converted<D, S>(integral(rounding, Source<S>::value(a, flush)));
      };
      const std::string text = "cvt." + rounding + modifiers + "." +
          name_of<D>() + "." + Source<S>::kName;
      using R = Smallest<D>;
      check<R, S>(text, [&](S a) { return extended<R>(expected(a)); });
      if constexpr (std::is_same_v<S, BF16>) {
        continue; // its registers are never wider
      }
      check<std::uint64_t, S>(
          text, [&](S a) { return extended<std::uint64_t>(expected(a)); });
    }
  }
}

template <typename S>
void check_float_source() {
  check_float<std::uint8_t, S>();
  check_float<std::int8_t, S>();
  check_float<std::uint16_t, S>();
  check_float<std::int16_t, S>();
  check_float<std::uint32_t, S>();
  check_float<std::int32_t, S>();
  check_float<std::uint64_t, S>();
  check_float<std::int64_t, S>();
}

TEST(ConvertToInteger, FromFloat) {
  check_float_source<float>();
}
TEST(ConvertToInteger, FromDouble) {
  check_float_source<double>();
}
TEST(ConvertToInteger, FromHalf) {
  check_float_source<F16>();
}
TEST(ConvertToInteger, FromBrainFloat) {
  check_float_source<BF16>();
}

} // namespace
} // namespace cudasim::engine::testing
