// Conversions to floating point. Source: PTX ISA 9.7.9.21 (cvt).
#include <fenv.h>

#include "cudasim/engine/instructions/data_movement/conversion.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

int host_rounding(U64 round) {
  return round == kZero ? FE_TOWARDZERO
      : round == kDown  ? FE_DOWNWARD
      : round == kUp    ? FE_UPWARD
                        : FE_TONEAREST;
}

/// An integer, or a double, as one of the floating-point types.
template <typename S>
double to_double(S x, U64 round) {
  const int before = fegetround();
  fesetround(host_rounding(round));
  volatile S source = x;
  volatile double result = static_cast<double>(source);
  fesetround(before);
  return result;
}
template <typename S>
float to_float(S x, U64 round) {
  if (round == kNearest || round == kNone) {
    return static_cast<float>(x);
  }
  const int before = fegetround();
  fesetround(host_rounding(round));
  volatile S source = x;
  volatile float result = static_cast<float>(source);
  fesetround(before);
  return result;
}

/// A number as a double that rounds to 16 bits as the number itself does.
template <typename S>
double for_sixteen(S x) {
  if constexpr (sizeof(S) == 8 && static_cast<S>(0.5f) == 0) {
    // Beyond 53 bits: what is cut off is kept as one bit.
    const bool negative = x < 0;
    U64 magnitude = negative ? 0 - static_cast<U64>(x) : static_cast<U64>(x);
    if (magnitude >> 53 != 0 && (magnitude & 0x7ff) != 0) {
      magnitude = (magnitude & ~0x7ffull) | 0x800;
    }
    const auto value = static_cast<double>(magnitude);
    return negative ? -value : value;
  } else {
    return static_cast<double>(x);
  }
}

template <typename F, typename S>
U16 to_sixteen(S x, U64 round) {
  const double value = for_sixteen(x);
  const U16 near = F::narrow(value);
  const double back = F::widen(near);
  if (round == kNearest || round == kNone || value != value || back == value) {
    return near;
  }
  const bool above = back > value;
  const bool down = round == kDown || (round == kZero && value > 0);
  const bool up = round == kUp || (round == kZero && value < 0);
  const bool negative = (near & 0x8000) != 0;
  if (above && down) {
    return static_cast<U16>(
        (near & 0x7fff) == 0 ? 0x8001
            : negative       ? near + 1
                             : near - 1);
  }
  if (!above && up) {
    return static_cast<U16>(
        (near & 0x7fff) == 0 ? 1
            : negative       ? near - 1
                             : near + 1);
  }
  return near;
}

template <typename To>
struct Writer;
template <>
struct Writer<Single> {
  template <typename S>
  static float run(S x, U64 round) {
    return to_float(x, round);
  }
  static float saturate(float x) {
    return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f;
  }
};
template <>
struct Writer<Double> {
  template <typename S>
  static double run(S x, U64 round) {
    return round == kNearest || round == kNone ? static_cast<double>(x)
                                               : to_double(x, round);
  }
  static double saturate(double x) {
    return x > 0 ? (x < 1 ? x : 1.0) : 0.0;
  }
};
template <typename F>
struct Writer<Sixteen<F>> {
  template <typename S>
  static U16 run(S x, U64 round) {
    return to_sixteen<F, S>(x, round);
  }
  static U16 saturate(U16 x) {
    const float value = F::widen(x);
    return value > 0 ? (value < 1 ? x : F::narrow(1.0f)) : U16{0};
  }
  /// The largest number in the place of an infinity.
  static U16 finite(U16 x) {
    return (x & 0x7fff) == F::kExponent ? static_cast<U16>(x - 1) : x;
  }
};

template <typename To, typename From>
Flow integer_to_float(Warp& warp, const Inst& inst, Mask active) {
  using S = typename From::Value;
  using D = typename To::Stored;
  S source[kLanes];
  read_register(warp, inst.operands[1], inst.widths[1], source);
  D* d = lanes<D>(warp, inst.operands[0]);
  const U64 round = inst.immediate & 7;
  if (round == kNearest && (inst.immediate & kSaturate) == 0) {
    for_lanes(
        d, active, [&](int i) { return Writer<To>::run(source[i], kNearest); });
    return Flow::kNext;
  }
  const bool saturated = (inst.immediate & kSaturate) != 0;
  for (int i = 0; i < kLanes; ++i) {
    if ((active >> i & 1) != 0) {
      const D value = Writer<To>::run(source[i], round);
      d[i] = saturated ? Writer<To>::saturate(value) : value;
    }
  }
  return Flow::kNext;
}

/// Between floats of different types. `round` is that of the result.
template <typename To, typename From>
Flow float_to_float(Warp& warp, const Inst& inst, Mask active) {
  using D = typename To::Stored;
  using V = typename From::Value;
  const auto* a = lanes<typename From::Stored>(warp, inst.operands[1]);
  D* d = lanes<D>(warp, inst.operands[0]);
  const U64 round = inst.immediate & 7;
  const bool saturated = (inst.immediate & kSaturate) != 0;
  const bool flushed = (inst.immediate & kFlush) != 0;
  const bool rectified = (inst.immediate & kRelu) != 0;
  const bool bounded = (inst.immediate & kFinite) != 0;
  const auto convert = [&](int i) {
    V value = From::read(a[i]);
    // A GPU flushes nothing in front of a narrower result, of which only
    // rounding away from zero tells.
    if (sizeof(V) == 4 && sizeof(D) != 2 && flushed) {
      value = static_cast<V>(flush(static_cast<float>(value)));
    }
    if (rectified && value <= 0) {
      value = 0; // positive, for either zero
    }
    D result = Writer<To>::run(value, round);
    if constexpr (sizeof(D) == 4) {
      result = flushed ? flush(result) : result;
    } else if constexpr (sizeof(D) == 2) {
      result = bounded ? Writer<To>::finite(result) : result;
    }
    return saturated ? Writer<To>::saturate(result) : result;
  };
  if (round == kNearest || round == kNone) {
    for_lanes(d, active, convert);
    return Flow::kNext;
  }
  for (int i = 0; i < kLanes; ++i) {
    if ((active >> i & 1) != 0) {
      d[i] = convert(i);
    }
  }
  return Flow::kNext;
}

/// To an integral value of the same type.
template <typename T>
Flow float_to_integral(Warp& warp, const Inst& inst, Mask active) {
  using V = typename T::Value;
  using D = typename T::Stored;
  const D* a = lanes<D>(warp, inst.operands[1]);
  D* d = lanes<D>(warp, inst.operands[0]);
  const U64 round = inst.immediate & 7;
  const bool saturated = (inst.immediate & kSaturate) != 0;
  const bool flushed = (inst.immediate & kFlush) != 0;
  for_lanes(d, active, [&](int i) {
    V value = T::read(a[i]);
    if (sizeof(V) == 4 && flushed) {
      value = static_cast<V>(flush(static_cast<float>(value)));
    }
    const D result =
        Writer<T>::run(round_to_integral<V>(value, round), kNearest);
    return saturated ? Writer<T>::saturate(result) : result;
  });
  return Flow::kNext;
}

/// Two floats into a pair: the first operand goes to the upper half.
template <typename F>
Flow pack(Warp& warp, const Inst& inst, Mask active) {
  const float* a = lanes<float>(warp, inst.operands[1]);
  const float* b = lanes<float>(warp, inst.operands[2]);
  U32* d = lanes<U32>(warp, inst.operands[0]);
  const U64 round = inst.immediate & 7;
  const bool rectified = (inst.immediate & kRelu) != 0;
  const bool bounded = (inst.immediate & kFinite) != 0;
  const auto one = [&](float x) -> U32 {
    const U16 near =
        to_sixteen<F, float>(rectified && x <= 0 ? 0.0f : x, round);
    return bounded ? Writer<Sixteen<F>>::finite(near) : near;
  };
  for_lanes(d, active, [&](int i) { return one(a[i]) << 16 | one(b[i]); });
  return Flow::kNext;
}

/// float to tf32: 10 bits of mantissa. kNone: ties away from zero, and NaN
/// keeps what is left of it.
Flow to_tf32(Warp& warp, const Inst& inst, Mask active) {
  const float* a = lanes<float>(warp, inst.operands[1]);
  U32* d = lanes<U32>(warp, inst.operands[0]);
  const bool bounded = (inst.immediate & kFinite) != 0;
  const bool rectified = (inst.immediate & kRelu) != 0;
  const U64 round = inst.immediate & 7;
  for_lanes(d, active, [&](int i) {
    if (round != kNone && a[i] != a[i]) {
      return 0x7fffffffu;
    }
    const U32 bits = rectified && a[i] <= 0 ? 0 : bits_as<U32>(a[i]);
    const bool special = (bits & 0x7f800000u) == 0x7f800000u;
    const U32 up = round == kZero ? 0
        : round == kNearest       ? 0xfff + (bits >> 13 & 1)
                                  : 0x1000;
    const U32 near = (bits + (special ? 0 : up)) & ~0x1fffu;
    return bounded && (near & 0x7fffffffu) == 0x7f800000u ? near - 0x2000u
                                                          : near;
  });
  return Flow::kNext;
}

// clang-format off
#define CUDASIM_TF32(mode, round)                                            \
  {"cvt." mode ".tf32.f32", "=t1 t2", "9.7.8", to_tf32, round},             \
  {"cvt." mode ".relu.tf32.f32", "=t1 t2", "9.7.8", to_tf32,                \
   round | kRelu},                                                           \
  {"cvt." mode ".satfinite.tf32.f32", "=t1 t2", "9.7.8", to_tf32,           \
   round | kFinite},                                                         \
  {"cvt." mode ".relu.satfinite.tf32.f32", "=t1 t2", "9.7.8", to_tf32,      \
   round | kRelu | kFinite},
#define CUDASIM_FORM(text, handler, flags, d, s) \
  {text "." #d "." #s, "=t1~ t2~", "9.7.8", handler, flags},
// Registers of bf16, and those on the other side of it, are never wider.
#define CUDASIM_EXACT(text, handler, flags, d, s) \
  {text "." #d "." #s, "=t1 t2", "9.7.8", handler, flags},
#define CUDASIM_I2F_ROUND(text, kRound, d, D, s, S) \
  CUDASIM_FORM(text, (integer_to_float<D, Integer<S>>), kRound, d, s)
#define CUDASIM_I2F_CLAMP(text, kRound, d, D, s, S)               \
  CUDASIM_I2F_ROUND(text, kRound, d, D, s, S)                     \
  CUDASIM_FORM(text ".sat", (integer_to_float<D, Integer<S>>),    \
               kRound | kSaturate, d, s)
#define CUDASIM_ROUNDINGS(use, d, D, s, S) \
  use("cvt.rn", kNearest, d, D, s, S)      \
  use("cvt.rz", kZero, d, D, s, S)         \
  use("cvt.rm", kDown, d, D, s, S)         \
  use("cvt.rp", kUp, d, D, s, S)
#define CUDASIM_INTEGER_TO_FLOATS(s, S)                                 \
  CUDASIM_ROUNDINGS(CUDASIM_I2F_CLAMP, f16, Sixteen<Half>, s, S)        \
  CUDASIM_ROUNDINGS(CUDASIM_I2F_CLAMP, f32, Single, s, S)               \
  CUDASIM_ROUNDINGS(CUDASIM_I2F_CLAMP, f64, Double, s, S)
#define CUDASIM_I2F_BRAIN(text, kRound, d, D, s, S) \
  CUDASIM_EXACT(text, (integer_to_float<D, Integer<S>>), kRound, d, s)
#define CUDASIM_WIDE_INTEGER_TO_FLOATS(s, S)                            \
  CUDASIM_INTEGER_TO_FLOATS(s, S)                                       \
  CUDASIM_ROUNDINGS(CUDASIM_I2F_BRAIN, bf16, Sixteen<Brain>, s, S)
// Between floats. bf16 has neither .sat nor .ftz, and only numbers of 32 bits
// are flushed.
#define CUDASIM_F2F(text, kRound, d, D, s, S) \
  CUDASIM_FORM(text, (float_to_float<D, S>), kRound, d, s)
#define CUDASIM_F2F_CLAMP(text, kRound, d, D, s, S)   \
  CUDASIM_F2F(text, kRound, d, D, s, S)               \
  CUDASIM_F2F(text ".sat", kRound | kSaturate, d, D, s, S)
#define CUDASIM_F2F_FLUSH(text, kRound, d, D, s, S)               \
  CUDASIM_F2F_CLAMP(text, kRound, d, D, s, S)                     \
  CUDASIM_F2F(text ".ftz", kRound | kFlush, d, D, s, S)           \
  CUDASIM_F2F(text ".ftz.sat", kRound | kFlush | kSaturate, d, D, s, S)
#define CUDASIM_BRAIN(text, kRound, d, D, s, S) \
  CUDASIM_EXACT(text, (float_to_float<D, S>), kRound, d, s)
#define CUDASIM_RELU(use, d, D, s, S)                  \
  use("cvt.rn.relu", kNearest | kRelu, d, D, s, S)     \
  use("cvt.rz.relu", kZero | kRelu, d, D, s, S)
// To an integral value of the same type.
#define CUDASIM_INTEGRAL(text, kRound, t, T) \
  CUDASIM_FORM(text, float_to_integral<T>, kRound, t, t)
#define CUDASIM_INTEGRAL_BRAIN(text, kRound, t, T) \
  CUDASIM_EXACT(text, float_to_integral<T>, kRound, t, t)
#define CUDASIM_INTEGRAL_CLAMP(text, kRound, t, T)  \
  CUDASIM_INTEGRAL(text, kRound, t, T)              \
  CUDASIM_INTEGRAL(text ".sat", kRound | kSaturate, t, T)
#define CUDASIM_INTEGRAL_FLUSH(text, kRound, t, T)  \
  CUDASIM_INTEGRAL_CLAMP(text, kRound, t, T)        \
  CUDASIM_INTEGRAL(text ".ftz", kRound | kFlush, t, T)
#define CUDASIM_INTEGRALS(use, t, T) \
  use("cvt.rni", kNearest, t, T)     \
  use("cvt.rzi", kZero, t, T)        \
  use("cvt.rmi", kDown, t, T)        \
  use("cvt.rpi", kUp, t, T)
#define CUDASIM_PACKED(text, F, flags, d, operands) \
  {text "." #d ".f32", operands, "9.7.8", pack<F>, flags},
#define CUDASIM_PACK(F, d, operands)                                  \
  CUDASIM_PACKED("cvt.rn", F, kNearest, d, operands)                  \
  CUDASIM_PACKED("cvt.rz", F, kZero, d, operands)                     \
  CUDASIM_PACKED("cvt.rn.relu", F, kNearest | kRelu, d, operands)     \
  CUDASIM_PACKED("cvt.rz.relu", F, kZero | kRelu, d, operands)        \
  CUDASIM_FINITE(CUDASIM_PACKED, F, d, operands)
#define CUDASIM_FINITE(use, F, d, operands)                               \
  use("cvt.rn.satfinite", F, kNearest | kFinite, d, operands)             \
  use("cvt.rz.satfinite", F, kZero | kFinite, d, operands)                \
  use("cvt.rn.relu.satfinite", F, kNearest | kRelu | kFinite, d, operands) \
  use("cvt.rz.relu.satfinite", F, kZero | kRelu | kFinite, d, operands)
#define CUDASIM_NARROW_TO_FINITE(text, F, flags, d, operands) \
  {text "." #d ".f32",                                        \
   operands,                                                  \
   "9.7.8",                                                   \
   float_to_float<Sixteen<F>, Single>,                        \
   flags},

constexpr Entry kEntries[] = {
    CUDASIM_INTEGER_TO_FLOATS(u8, U8)
    CUDASIM_INTEGER_TO_FLOATS(s8, I8)
    CUDASIM_WIDE_INTEGER_TO_FLOATS(u16, U16)
    CUDASIM_WIDE_INTEGER_TO_FLOATS(s16, I16)
    CUDASIM_WIDE_INTEGER_TO_FLOATS(u32, U32)
    CUDASIM_WIDE_INTEGER_TO_FLOATS(s32, I32)
    CUDASIM_WIDE_INTEGER_TO_FLOATS(u64, U64)
    CUDASIM_WIDE_INTEGER_TO_FLOATS(s64, I64)
    CUDASIM_F2F_FLUSH("cvt", kNone, f32, Single, f16, Sixteen<Half>)
    CUDASIM_F2F_FLUSH("cvt", kNone, f32, Single, f32, Single)
    CUDASIM_F2F_FLUSH("cvt", kNone, f64, Double, f32, Single)
    CUDASIM_F2F_CLAMP("cvt", kNone, f64, Double, f16, Sixteen<Half>)
    CUDASIM_F2F_CLAMP("cvt", kNone, f16, Sixteen<Half>, f16, Sixteen<Half>)
    CUDASIM_F2F_CLAMP("cvt", kNone, f64, Double, f64, Double)
    CUDASIM_BRAIN("cvt", kNone, f32, Single, bf16, Sixteen<Brain>)
    CUDASIM_BRAIN("cvt", kNone, f64, Double, bf16, Sixteen<Brain>)
    CUDASIM_ROUNDINGS(CUDASIM_F2F_FLUSH, f32, Single, f64, Double)
    CUDASIM_ROUNDINGS(CUDASIM_F2F_FLUSH, f16, Sixteen<Half>, f32, Single)
    CUDASIM_ROUNDINGS(CUDASIM_F2F_CLAMP, f16, Sixteen<Half>, f64, Double)
    CUDASIM_ROUNDINGS(CUDASIM_BRAIN, bf16, Sixteen<Brain>, f32, Single)
    CUDASIM_ROUNDINGS(CUDASIM_BRAIN, bf16, Sixteen<Brain>, f64, Double)
    CUDASIM_ROUNDINGS(CUDASIM_BRAIN, bf16, Sixteen<Brain>, f16, Sixteen<Half>)
    CUDASIM_ROUNDINGS(CUDASIM_BRAIN, f16, Sixteen<Half>, bf16, Sixteen<Brain>)
    CUDASIM_RELU(CUDASIM_F2F, f16, Sixteen<Half>, f32, Single)
    CUDASIM_RELU(CUDASIM_BRAIN, bf16, Sixteen<Brain>, f32, Single)
    CUDASIM_INTEGRALS(CUDASIM_INTEGRAL_CLAMP, f16, Sixteen<Half>)
    CUDASIM_INTEGRALS(CUDASIM_INTEGRAL_BRAIN, bf16, Sixteen<Brain>)
    CUDASIM_INTEGRALS(CUDASIM_INTEGRAL_FLUSH, f32, Single)
    CUDASIM_INTEGRALS(CUDASIM_INTEGRAL_CLAMP, f64, Double)
    CUDASIM_PACK(Half, f16x2, "=t1~ t2~ t2~")
    CUDASIM_PACK(Brain, bf16x2, "=t1 t2 t2")
    CUDASIM_FINITE(CUDASIM_NARROW_TO_FINITE, Half, f16, "=t1~ t2~")
    CUDASIM_FINITE(CUDASIM_NARROW_TO_FINITE, Brain, bf16, "=t1 t2")
    {"cvt.rna.tf32.f32", "=t1 t2~", "9.7.8", to_tf32},
    {"cvt.rna.satfinite.tf32.f32", "=t1 t2~", "9.7.8", to_tf32, kFinite},
    CUDASIM_TF32("rn", kNearest)
    CUDASIM_TF32("rz", kZero)
};
// clang-format on

} // namespace

Family convert_to_float_family() {
  return {"convert_to_float", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
