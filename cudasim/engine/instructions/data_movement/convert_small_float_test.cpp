// Floats of 4 to 8 bits against a search through all numbers of the format.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {

namespace small {

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;

struct Format {
  const char* name;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  /// Magnitudes that are numbers: from 0 to this one.
  U32 largest;
  /// What NaN becomes.
  U32 not_number;

  int bits() const {
    return 1 + exponent_bits + mantissa_bits;
  }
  int apart() const {
    return bits() == 4 ? 4 : 8;
  }
  /// Of a number; NaN and infinity of those that have them.
  double value(U32 code) const {
    const U32 magnitude = code & ((1u << (bits() - 1)) - 1);
    const int exponent = static_cast<int>(magnitude >> mantissa_bits);
    const int mantissa =
        static_cast<int>(magnitude & ((1u << mantissa_bits) - 1));
    double number = std::ldexp(
        mantissa + (exponent == 0 ? 0 : 1 << mantissa_bits),
        (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
    if (magnitude > largest) {
      number = magnitude == 0x7c ? HUGE_VAL : std::nan("");
    }
    return (code >> (bits() - 1) & 1) != 0 ? -number : number;
  }
  /// The code of the number that is nearest, of two the even one.
  U32 nearest(double x) const {
    if (std::isnan(x)) {
      return not_number;
    }
    if (std::fabs(x) >= value(largest)) {
      return sign(x) | largest;
    }
    U32 best = 0;
    for (U32 code = 1; code <= largest; ++code) {
      const double is = std::fabs(value(code) - std::fabs(x));
      const double was = std::fabs(value(best) - std::fabs(x));
      if (is < was || (is == was && code % 2 == 0)) {
        best = code;
      }
    }
    return sign(x) | best;
  }
  U32 sign(double x) const {
    return std::signbit(x) ? 1u << (bits() - 1) : 0;
  }
};
const Format kFormats[] = {
    {"e4m3x2", 4, 3, 7, 0x7e, 0x7f},
    {"e5m2x2", 5, 2, 15, 0x7b, 0x7f},
    {"e2m3x2", 2, 3, 1, 0x1f, 0x1f},
    {"e3m2x2", 3, 2, 3, 0x1f, 0x1f},
    {"e2m1x2", 2, 1, 1, 0x07, 0x07}};

/// A float near a border of roundings.
struct Near {
  float value;
};
struct NearHalves {
  U32 bits;
};
struct NearBrains {
  U32 bits;
};
/// Any two bytes.
struct Bytes {
  U16 bits;
};

std::vector<float> borders() {
  std::vector<float> all = {0, HUGE_VALF, NAN, 1e30f, 1e-30f, 1e-44f};
  for (const Format& format : kFormats) {
    for (U32 code = 0; code < format.largest; ++code) {
      const auto here = static_cast<float>(format.value(code));
      const auto between =
          (here + static_cast<float>(format.value(code + 1))) / 2;
      for (const float x :
           {here,
            between,
            std::nextafterf(between, 0),
            std::nextafterf(between, HUGE_VALF)}) {
        all.push_back(x);
      }
    }
    const auto largest = static_cast<float>(format.value(format.largest));
    for (const float factor : {1.0f, 1.03f, 1.05f, 1.2f, 2.0f, 16.0f}) {
      all.push_back(largest * factor);
    }
  }
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(-all[i]);
  }
  return all;
}

std::vector<Bits> sixteen_borders(Sixteen format) {
  std::vector<Bits> all;
  for (const float x : borders()) {
    const Bits bits = encode(format, x, Rounding::kNearest);
    all.insert(all.end(), {bits, bits + 1});
  }
  return pairs(all);
}

} // namespace small

template <>
inline std::vector<Bits> Kind<small::Near>::edges() {
  std::vector<Bits> all;
  for (const float x : small::borders()) {
    all.push_back(bits_to<std::uint32_t>(x));
  }
  return all;
}
template <>
inline std::vector<Bits> Kind<small::NearHalves>::edges() {
  return small::sixteen_borders(Sixteen::kHalf);
}
template <>
inline std::vector<Bits> Kind<small::NearBrains>::edges() {
  return small::sixteen_borders(Sixteen::kBrain);
}
template <>
inline std::vector<Bits> Kind<small::Bytes>::edges() {
  std::vector<Bits> all;
  for (Bits byte = 0; byte < 256; ++byte) {
    all.push_back(byte << 8 | (byte * 73 + 5) % 256);
  }
  return all;
}

namespace small {
namespace {

/// .relu: nothing below zero, and one zero.
double rectified(bool is, double x) {
  return is && x <= 0 ? 0.0 : x;
}

/// The pair of formats that fit into eight bits together is in a register of
/// eight.
std::string to_eight(const std::string& name, const std::string& sources) {
  return "{.reg .b8 %x;\n" + name + " %x, " + sources +
      ";\nmov.b16 $d0, {%x, 0};\n}\n";
}
std::string from_eight(const std::string& name) {
  return "{.reg .b8 %x;\ncvt.u8.u16 %x, $0;\n" + name + " $d0, %x;\n}\n";
}

void check_format(const Format& format) {
  const bool eight = format.bits() == 4;
  for (const bool relu : {false, true}) {
    const auto joined = [&](double high, double low) {
      return static_cast<U16>(
          format.nearest(rectified(relu, high)) << format.apart() |
          format.nearest(rectified(relu, low)));
    };
    const std::string to =
        std::string("cvt.rn.satfinite.") + (relu ? "relu." : "") + format.name;
    check<U16, Near, Near>(
        to + ".f32",
        [&](Near a, Near b) { return joined(a.value, b.value); },
        eight ? to_eight(to + ".f32", "$0, $1") : "");
    check<U16, NearHalves>(
        to + ".f16x2",
        [&](NearHalves a) {
          return joined(
              decode(Sixteen::kHalf, static_cast<U16>(a.bits >> 16)),
              decode(Sixteen::kHalf, static_cast<U16>(a.bits)));
        },
        eight ? to_eight(to + ".f16x2", "$0") : "");
    check<U16, NearBrains>(
        to + ".bf16x2",
        [&](NearBrains a) {
          return joined(
              decode(Sixteen::kBrain, static_cast<U16>(a.bits >> 16)),
              decode(Sixteen::kBrain, static_cast<U16>(a.bits)));
        },
        eight ? to_eight(to + ".bf16x2", "$0") : "");
    const auto widened = [&](Sixteen wide, U32 codes) {
      const auto one = [&](U32 code) -> U32 {
        return encode(
            wide, rectified(relu, format.value(code)), Rounding::kNearest);
      };
      const U32 mask = (1u << format.bits()) - 1;
      return one(codes >> format.apart() & mask) << 16 | one(codes & mask);
    };
    const std::string from = std::string("cvt.rn.") + (relu ? "relu." : "");
    for (const bool brain : {false, true}) {
      const std::string name =
          from + (brain ? "bf16x2." : "f16x2.") + format.name;
      const std::string code = eight ? from_eight(name) : "";
      if (brain) {
        check<BF16x2, Bytes>(
            name,
            [&](Bytes a) { return BF16x2{widened(Sixteen::kBrain, a.bits)}; },
            code);
      } else {
        check<F16x2, Bytes>(
            name,
            [&](Bytes a) { return F16x2{widened(Sixteen::kHalf, a.bits)}; },
            code);
      }
    }
  }
}

TEST(ConvertSmallFloat, AllFormats) {
  for (const Format& format : kFormats) {
    check_format(format);
  }
}

/// The power of two next to a magnitude, by its exponent from -127 on.
U32 power(double x, bool up, bool finite) {
  if (std::isnan(x)) {
    return 0xff;
  }
  if (std::isinf(x)) {
    return finite ? 0xfe : 0xff;
  }
  U32 code = 0;
  for (; code < 0xff; ++code) {
    const double next =
        std::ldexp(1.0, static_cast<int>(code) - 127 + (up ? 0 : 1));
    if (up ? next >= std::fabs(x) : next > std::fabs(x)) {
      break;
    }
  }
  return finite && code == 0xff ? 0xfe : code;
}

TEST(ConvertSmallFloat, PowersOfTwo) {
  for (const bool up : {false, true}) {
    for (const bool finite : {false, true}) {
      const auto joined = [&](double high, double low) {
        return static_cast<U16>(
            power(high, up, finite) << 8 | power(low, up, finite));
      };
      const std::string name = std::string(up ? "cvt.rp." : "cvt.rz.") +
          (finite ? "satfinite." : "") + "ue8m0x2.";
      check<U16, float, float>(name + "f32", joined);
      check<U16, BF16x2>(name + "bf16x2", [&](BF16x2 a) {
        return joined(
            decode(Sixteen::kBrain, static_cast<U16>(a.bits >> 16)),
            decode(Sixteen::kBrain, static_cast<U16>(a.bits)));
      });
    }
  }
  check<BF16x2, Bytes>("cvt.rn.bf16x2.ue8m0x2", [](Bytes a) {
    const auto one = [](U32 code) -> U32 {
      return encode(
          Sixteen::kBrain,
          code == 0xff ? std::nan("")
                       : std::ldexp(1.0, static_cast<int>(code) - 127),
          Rounding::kNearest);
    };
    return BF16x2{one(a.bits >> 8) << 16 | one(a.bits & 0xff)};
  });
}

} // namespace
} // namespace small
} // namespace cudasim::engine::testing
