// 16-bit floating point: IEEE half and bfloat16, converted through float.
#pragma once

#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine {
namespace {

struct Half {
  U16 bits;
  [[gnu::always_inline]] static float widen(U16 bits) {
    return static_cast<float>(bits_as<_Float16>(bits));
  }
  [[gnu::always_inline]] static U16 narrow(float x) {
    return x != x ? U16{0x7fff} : bits_as<U16>(static_cast<_Float16>(x));
  }
  [[gnu::always_inline]] static U16 narrow(double x) {
    return x != x ? U16{0x7fff} : bits_as<U16>(static_cast<_Float16>(x));
  }
  static constexpr U16 kNan = 0x7fff;
  static constexpr U16 kExponent = 0x7c00;
};

struct Brain {
  U16 bits;
  [[gnu::always_inline]] static float widen(U16 bits) {
    return bits_as<float>(static_cast<U32>(bits) << 16);
  }
  [[gnu::always_inline]] static U16 narrow(float x) {
    const U32 word = bits_as<U32>(x);
    const U32 rounded = word + 0x7fff + (word >> 16 & 1);
    return x != x ? U16{0x7fff} : static_cast<U16>(rounded >> 16);
  }
  /// Through float rounded to odd, so that rounding twice does no harm.
  [[gnu::always_inline]] static U16 narrow(double x) {
    float near = static_cast<float>(x);
    U32 word = bits_as<U32>(near);
    if (static_cast<double>(near) != x && x == x) {
      // Towards zero, then the last bit set: what was cut off is not lost.
      const bool away = (x < 0 ? -static_cast<double>(near)
                               : static_cast<double>(near)) > (x < 0 ? -x : x);
      word = (word - (away ? 1 : 0)) | 1;
      near = bits_as<float>(word);
    }
    return narrow(near);
  }
  static constexpr U16 kNan = 0x7fff;
  static constexpr U16 kExponent = 0x7f80;
};

} // namespace
} // namespace cudasim::engine
