// What the conversions between types share: how a value of a type lies in a
// register, and rounding to integral values.
#pragma once

#include "cudasim/engine/instructions/half_types.h"

namespace cudasim::engine {
namespace {

/// Rounding: of the value for floats, to an integral value for the rest.
enum Round : U64 { kNone, kNearest, kZero, kDown, kUp };
/// Flags of Entry::immediate beside the rounding.
constexpr U64 kSaturate = 8;
constexpr U64 kFlush = 16;
constexpr U64 kRelu = 32;
constexpr U64 kFinite = 64; // no infinity: the largest number in its place

// What a type is in a register and in arithmetic.
template <typename T>
struct Integer {
  using Stored = T;
  using Value = T;
  static constexpr bool kIsFloat = false;
  static T read(T x) {
    return x;
  }
};
struct Single {
  using Stored = float;
  using Value = float;
  static constexpr bool kIsFloat = true;
  static float read(float x) {
    return x;
  }
};
struct Double {
  using Stored = double;
  using Value = double;
  static constexpr bool kIsFloat = true;
  static double read(double x) {
    return x;
  }
};
template <typename F>
struct Sixteen {
  using Stored = U16;
  using Value = float;
  static constexpr bool kIsFloat = true;
  static float read(U16 x) {
    return F::widen(x);
  }
};

/// Reads the low bytes of a register that may be wider than its type.
template <typename T>
[[gnu::always_inline]] inline void read_register(
    Warp& warp,
    Slot slot,
    int width,
    T* values) {
  // A type smaller than its register is in the register's low bytes.
  if (sizeof(T) == 1 || width != sizeof(T)) {
    for (int i = 0; i < kLanes; ++i) {
      const U64 word = width == 2 ? lanes<U16>(warp, slot)[i]
          : width == 4            ? lanes<U32>(warp, slot)[i]
                                  : lanes<U64>(warp, slot)[i];
      __builtin_memcpy(&values[i], &word, sizeof(T));
    }
    return;
  }
  __builtin_memcpy(values, lanes<T>(warp, slot), sizeof(T) * kLanes);
}

template <typename Wide, typename T>
[[gnu::always_inline]] inline void write_as(
    Warp& warp,
    Slot slot,
    Mask active,
    const T* values) {
  Wide* d = lanes<Wide>(warp, slot);
  for_lanes(d, active, [&](int i) { return static_cast<Wide>(values[i]); });
}

/// Writes integers, extended by their own sign to the register's width.
template <typename T>
[[gnu::always_inline]] inline void write_register(
    Warp& warp,
    Slot slot,
    int width,
    Mask active,
    const T* values) {
  switch (width) {
    case 2:
      write_as<U16>(warp, slot, active, values);
      break;
    case 4:
      write_as<U32>(warp, slot, active, values);
      break;
    default:
      write_as<U64>(warp, slot, active, values);
  }
}

template <typename T>
T round_to_integral(T x, U64 round) {
  switch (round) {
    case kNearest:
      return sizeof(T) == 4
          ? static_cast<T>(__builtin_rintf(static_cast<float>(x)))
          : static_cast<T>(__builtin_rint(x));
    case kZero:
      return sizeof(T) == 4
          ? static_cast<T>(__builtin_truncf(static_cast<float>(x)))
          : static_cast<T>(__builtin_trunc(x));
    case kDown:
      return sizeof(T) == 4
          ? static_cast<T>(__builtin_floorf(static_cast<float>(x)))
          : static_cast<T>(__builtin_floor(x));
    case kUp:
      return sizeof(T) == 4
          ? static_cast<T>(__builtin_ceilf(static_cast<float>(x)))
          : static_cast<T>(__builtin_ceil(x));
    default:
      return x;
  }
}

} // namespace
} // namespace cudasim::engine
