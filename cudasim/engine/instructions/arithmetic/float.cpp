// Floating-point arithmetic rounded to nearest even. Source: PTX ISA 9.7.3.
#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

/// To [0, 1], NaN to 0.
template <typename T>
inline T saturate(T x) {
  return x > 0 ? (x < 1 ? x : T{1}) : T{0};
}
/// NVIDIA's devices give one NaN only.
inline float canonical(float x) {
  return x != x ? bits_as<float>(0x7fffffffu) : x;
}
inline double canonical(double x) {
  return x != x ? bits_as<double>(0x7fffffffffffffffull) : x;
}

struct Add {
  template <typename T>
  static T run(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <typename T>
  static T run(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <typename T>
  static T run(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <typename T>
  static T run(T a, T b) {
    return a / b;
  }
};
struct FusedMultiplyAdd {
  static float run(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
  }
  static double run(double a, double b, double c) {
    return __builtin_fma(a, b, c);
  }
};
struct Reciprocal {
  template <typename T>
  static T run(T a) {
    return T{1} / a;
  }
};
struct SquareRoot {
  static float run(float a) {
    return __builtin_sqrtf(a);
  }
  static double run(double a) {
    return __builtin_sqrt(a);
  }
};
// NaN loses against a number; -0 is less than +0.
template <bool kMaximum>
struct Extreme {
  template <typename T>
  static T run(T a, T b) {
    if (a != a) {
      return canonical(b);
    }
    if (b != b) {
      return a;
    }
    if (a == b) {
      return (__builtin_signbit(a) != 0) == kMaximum ? b : a;
    }
    return (a < b) == kMaximum ? b : a;
  }
};
template <bool kMaximum>
struct ExtremeNan {
  template <typename T>
  static T run(T a, T b) {
    return a != a || b != b ? canonical(a + b) : Extreme<kMaximum>::run(a, b);
  }
};
struct Absolute {
  static float run(float a) {
    return bits_as<float>(bits_as<U32>(a) & 0x7fffffffu);
  }
  static double run(double a) {
    return bits_as<double>(bits_as<U64>(a) & 0x7fffffffffffffffull);
  }
};
struct Negate {
  static float run(float a) {
    return bits_as<float>(bits_as<U32>(a) ^ 0x80000000u);
  }
  static double run(double a) {
    return bits_as<double>(bits_as<U64>(a) ^ 0x8000000000000000ull);
  }
};
struct CopySign {
  static float run(float a, float b) {
    return bits_as<float>(
        (bits_as<U32>(a) & 0x80000000u) | (bits_as<U32>(b) & 0x7fffffffu));
  }
  static double run(double a, double b) {
    return bits_as<double>(
        (bits_as<U64>(a) & 0x8000000000000000ull) |
        (bits_as<U64>(b) & 0x7fffffffffffffffull));
  }
};

/// Of three numbers.
template <typename Op>
struct OfThree {
  static float run(float a, float b, float c) {
    return Op::run(Op::run(a, b), c);
  }
};
/// .abs: of magnitudes.
template <typename Op>
struct OfMagnitudes {
  template <typename... T>
  static float run(T... operands) {
    return Op::run(Absolute::run(operands)...);
  }
};
/// .xorsign.abs: of magnitudes, with the sign that the product would have. NaN
/// has none.
template <typename Op>
struct CrossedSigns {
  static float run(float a, float b) {
    const float magnitude = OfMagnitudes<Op>::run(a, b);
    const U32 sign = (bits_as<U32>(a) ^ bits_as<U32>(b)) & 0x80000000u;
    return magnitude != magnitude
        ? magnitude
        : bits_as<float>(bits_as<U32>(magnitude) | sign);
  }
};

/// .ftz flushes operands and result, .sat clamps the result.
template <typename Op, bool kFlush, bool kSaturate>
struct Modified {
  template <typename... T>
  static float run(T... operands) {
    float x =
        kFlush ? flush(Op::run(flush(operands)...)) : Op::run(operands...);
    return kSaturate ? saturate(x) : x;
  }
};
template <typename Op>
struct SaturatedDouble {
  template <typename... T>
  static double run(T... operands) {
    return saturate(Op::run(operands...));
  }
};

enum Test { kFinite, kInfinite, kNumber, kNotNumber, kNormal, kSubnormal };

template <typename T, Test kTest>
Flow test(Warp& warp, const Inst& inst, Mask active) {
  const T* a = lanes<T>(warp, inst.operands[1]);
  const Mask set = lane_mask([&](int i) {
    const bool nan = a[i] != a[i];
    const bool infinite = __builtin_isinf(a[i]) != 0;
    const bool normal = __builtin_isnormal(a[i]) != 0;
    switch (kTest) {
      case kFinite:
        return !nan && !infinite;
      case kInfinite:
        return infinite;
      case kNumber:
        return !nan;
      case kNotNumber:
        return nan;
      case kNormal:
        return normal || a[i] == 0;
      case kSubnormal:
        return !normal && !nan && !infinite && a[i] != 0;
    }
    return false;
  });
  write_predicate(warp, inst.operands[0], active, set);
  return Flow::kNext;
}

#define CUDASIM_MODIFIERS(text, shape, Op)                                  \
  {text ".f32", #shape, "9.7.3", shape<Modified<Op, false, false>, float>}, \
      {text ".ftz.f32",                                                     \
       #shape,                                                              \
       "9.7.3",                                                             \
       shape<Modified<Op, true, false>, float>},                            \
      {text ".sat.f32",                                                     \
       #shape,                                                              \
       "9.7.3",                                                             \
       shape<Modified<Op, false, true>, float>},                            \
      {text ".ftz.sat.f32",                                                 \
       #shape,                                                              \
       "9.7.3",                                                             \
       shape<Modified<Op, true, true>, float>},
#define CUDASIM_FLUSH(text, shape, Op)                                      \
  {text ".f32", #shape, "9.7.3", shape<Modified<Op, false, false>, float>}, \
      {text ".ftz.f32",                                                     \
       #shape,                                                              \
       "9.7.3",                                                             \
       shape<Modified<Op, true, false>, float>},
#define CUDASIM_EXTREMES(text, Op)                             \
  CUDASIM_FLUSH(text, binary, Op)                              \
  CUDASIM_FLUSH(text ".xorsign.abs", binary, CrossedSigns<Op>) \
  CUDASIM_FLUSH(text, ternary, OfThree<Op>)                    \
  CUDASIM_FLUSH(text ".abs", ternary, OfMagnitudes<OfThree<Op>>)
#define CUDASIM_DOUBLE(text, shape, Op) \
  {text ".f64", #shape, "9.7.3", shape<Op, double>},
#define CUDASIM_TESTS(name, T)                                              \
  {"testp.finite." #name, "=pred t", "9.7.3", test<T, kFinite>},            \
      {"testp.infinite." #name, "=pred t", "9.7.3", test<T, kInfinite>},    \
      {"testp.number." #name, "=pred t", "9.7.3", test<T, kNumber>},        \
      {"testp.notanumber." #name, "=pred t", "9.7.3", test<T, kNotNumber>}, \
      {"testp.normal." #name, "=pred t", "9.7.3", test<T, kNormal>},        \
      {"testp.subnormal." #name, "=pred t", "9.7.3", test<T, kSubnormal>},

constexpr Entry kEntries[] = {
    CUDASIM_MODIFIERS("add", binary, Add) CUDASIM_MODIFIERS(
        "add.rn",
        binary,
        Add) CUDASIM_MODIFIERS("sub", binary, Subtract)
        CUDASIM_MODIFIERS("sub.rn", binary, Subtract) CUDASIM_MODIFIERS(
            "mul",
            binary,
            Multiply) CUDASIM_MODIFIERS("mul.rn", binary, Multiply)
            CUDASIM_MODIFIERS("fma.rn", ternary, FusedMultiplyAdd)
                CUDASIM_MODIFIERS("mad.rn", ternary, FusedMultiplyAdd)
                    CUDASIM_FLUSH("div.rn", binary, Divide) CUDASIM_FLUSH(
                        "rcp.rn",
                        unary,
                        Reciprocal) CUDASIM_FLUSH("sqrt.rn", unary, SquareRoot)
                        CUDASIM_EXTREMES("min", Extreme<false>)
                            CUDASIM_EXTREMES("max", Extreme<true>)
                                CUDASIM_EXTREMES("min.NaN", ExtremeNan<false>)
                                    CUDASIM_EXTREMES(
                                        "max.NaN",
                                        ExtremeNan<true>)
                                        CUDASIM_FLUSH("abs", unary, Absolute)
                                            CUDASIM_FLUSH("neg", unary, Negate){
                                                "copysign.f32",
                                                "binary",
                                                "9.7.3",
                                                binary<CopySign, float>},
    CUDASIM_DOUBLE("add", binary, Add) CUDASIM_DOUBLE(
        "add.rn",
        binary,
        Add) CUDASIM_DOUBLE("sub", binary, Subtract)
        CUDASIM_DOUBLE("sub.rn", binary, Subtract) CUDASIM_DOUBLE(
            "mul",
            binary,
            Multiply) CUDASIM_DOUBLE("mul.rn", binary, Multiply)
            CUDASIM_DOUBLE("fma.rn", ternary, FusedMultiplyAdd) CUDASIM_DOUBLE(
                "mad.rn",
                ternary,
                FusedMultiplyAdd) CUDASIM_DOUBLE("div.rn", binary, Divide)
                CUDASIM_DOUBLE("rcp.rn", unary, Reciprocal)
                    CUDASIM_DOUBLE("sqrt.rn", unary, SquareRoot)
                        CUDASIM_DOUBLE("min", binary, Extreme<false>)
                            CUDASIM_DOUBLE("max", binary, Extreme<true>)
                                CUDASIM_DOUBLE("abs", unary, Absolute)
                                    CUDASIM_DOUBLE("neg", unary, Negate){
                                        "copysign.f64",
                                        "binary",
                                        "9.7.3",
                                        binary<CopySign, double>},
    CUDASIM_TESTS(f32, float) CUDASIM_TESTS(f64, double)};

} // namespace

Family float_family() {
  return {
      "float",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "copysign testp"};
}

} // namespace cudasim::engine::CUDASIM_ISA
