// Floating-point formats of 4 to 8 bits. Source: PTX ISA 5.2.3 (alternate
// floating-point data formats).
#pragma once

#include "cudasim/engine/instructions/half_types.h"

namespace cudasim::engine {
namespace {

/// A sign, an exponent and a mantissa.
/// @tparam kLargest the magnitude that stands for all beyond it.
/// @tparam kNotNumber what NaN becomes: NaN, or the largest number of formats
/// that have none.
template <
    int kExponentBits,
    int kMantissaBits,
    int kBias,
    U8 kLargest,
    U8 kNotNumber>
struct SmallFloat {
  static constexpr int kBits = 1 + kExponentBits + kMantissaBits;
  static constexpr U32 kMagnitude = (1u << (kBits - 1)) - 1;

  /// Rounded to the nearest, ties to even; infinities become finite.
  [[gnu::always_inline]] static U32 narrow(float x) {
    constexpr I32 kLeastExponent = 1 - kBias;
    const U32 bits = bits_as<U32>(x);
    const U32 magnitude = bits & 0x7fffffffu;
    const U32 sign = bits >> 31 << (kBits - 1);
    // Numbers that float has as denormal ones become zeros here.
    const I32 exponent = static_cast<I32>(magnitude >> 23) - 127;
    const I32 below = exponent < kLeastExponent ? kLeastExponent - exponent : 0;
    const I32 wanted = 23 - kMantissaBits + below;
    const I32 shift = wanted > 25 ? 25 : wanted;
    const U32 mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const U32 cut = mantissa >> shift;
    const U32 rest = mantissa & ((1u << shift) - 1);
    const U32 half = 1u << (shift - 1);
    const U32 near =
        cut + (rest > half || (rest == half && (cut & 1) != 0) ? 1 : 0);
    // The mantissa's leading one counts as one of the exponent.
    const I32 code = static_cast<I32>(near) +
        (below != 0 ? 0 : (exponent + kBias - 1) * (1 << kMantissaBits));
    const U32 finite = code > kLargest ? kLargest : static_cast<U32>(code);
    return x != x ? kNotNumber : sign | finite;
  }

  /// The exact value.
  [[gnu::always_inline]] static float widen(U32 code) {
    const U32 magnitude = code & kMagnitude;
    // As float has it, but for the bias of exponents.
    const float scale = bits_as<float>(static_cast<U32>(254 - kBias) << 23);
    float value = bits_as<float>(magnitude << (23 - kMantissaBits)) * scale;
    if (kBits == 8 && magnitude > kLargest) {
      value = magnitude == kLargest + 1u && kMantissaBits == 2
          ? __builtin_inff()
          : bits_as<float>(0x7fffffffu);
    }
    return (code >> (kBits - 1) & 1) != 0 ? -value : value;
  }
};

using E4M3 = SmallFloat<4, 3, 7, 0x7e, 0x7f>;
using E5M2 = SmallFloat<5, 2, 15, 0x7b, 0x7f>;
using E2M3 = SmallFloat<2, 3, 1, 0x1f, 0x1f>;
using E3M2 = SmallFloat<3, 2, 3, 0x1f, 0x1f>;
using E2M1 = SmallFloat<2, 1, 1, 0x07, 0x07>;

/// Powers of two from 2^-127 on; 0xff is NaN.
struct UE8M0 {
  /// Of the magnitude. @param up to the next power, or down.
  [[gnu::always_inline]] static U32 narrow(float x, bool up, bool finite) {
    const U32 magnitude = bits_as<U32>(x) & 0x7fffffffu;
    const bool beyond = up && magnitude < 0x7f800000u &&
        magnitude > 0x00400000u && (magnitude & 0x7fffffu) != 0;
    const U32 code = (magnitude >> 23) + (beyond ? 1 : 0);
    return x != x ? 0xff : finite && code == 0xff ? 0xfe : code;
  }
  [[gnu::always_inline]] static float widen(U32 code) {
    return code == 0xff ? bits_as<float>(0x7fffffffu)
        : code == 0     ? bits_as<float>(0x00400000u)
                        : bits_as<float>(code << 23);
  }
};

} // namespace
} // namespace cudasim::engine
