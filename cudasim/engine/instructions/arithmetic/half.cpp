// Arithmetic of half and bfloat16, single and packed in pairs. Source: PTX ISA
// 9.7.4.
#include "cudasim/engine/instructions/half_types.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

template <typename F>
inline U16 flush(U16 x) {
  return (x & F::kExponent) == 0 ? static_cast<U16>(x & 0x8000) : x;
}
template <typename F>
inline U16 saturate(U16 x) {
  const float value = F::widen(x);
  return value > 0 ? (value < 1 ? x : F::narrow(1.0f)) : U16{0};
}
template <typename F>
inline U16 rectify(U16 x) {
  return F::widen(x) > 0 || F::widen(x) != F::widen(x) ? x : U16{0};
}

struct Add {
  template <typename F>
  static U16 run(U16 a, U16 b) {
    return F::narrow(F::widen(a) + F::widen(b));
  }
};
struct Subtract {
  template <typename F>
  static U16 run(U16 a, U16 b) {
    return F::narrow(F::widen(a) - F::widen(b));
  }
};
struct Multiply {
  template <typename F>
  static U16 run(U16 a, U16 b) {
    return F::narrow(F::widen(a) * F::widen(b));
  }
};
/// a + b with a last bit that is set when something was cut off, so that
/// rounding once more does no harm (rounding to odd).
inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double rest = (a - (sum - b_part)) + (b - b_part);
  const U64 bits = bits_as<U64>(sum);
  const bool even = (bits & 1) == 0;
  const bool away = (rest > 0) == (sum > 0);
  return even && (rest > 0 || rest < 0)
      ? bits_as<double>(away ? bits + 1 : bits - 1)
      : sum;
}
// The product of two is exact in double. So is the sum for half, as far as it
// matters: its numbers span 40 bits. Those of bfloat16 span 260.
struct FusedMultiplyAdd {
  template <typename F>
  static U16 run(U16 a, U16 b, U16 c) {
    const double product =
        static_cast<double>(F::widen(a)) * static_cast<double>(F::widen(b));
    const double addend = F::widen(c);
    return F::narrow(
        F::kExponent == Half::kExponent ? product + addend
                                        : add_to_odd(product, addend));
  }
};
template <bool kMaximum, bool kNan>
struct Extreme {
  template <typename F>
  static U16 run(U16 a, U16 b) {
    const float x = F::widen(a);
    const float y = F::widen(b);
    if (x != x || y != y) {
      return kNan || (x != x && y != y) ? F::kNan : x != x ? b : a;
    }
    if (x == y) {
      return ((a & 0x8000) != 0) == kMaximum ? b : a;
    }
    return (x < y) == kMaximum ? b : a;
  }
};
/// .xorsign.abs: of magnitudes, with the sign that the product would have. NaN
/// has none.
template <typename Op>
struct CrossedSigns {
  template <typename F>
  static U16 run(U16 a, U16 b) {
    const U16 magnitude = Op::template run<F>(
        static_cast<U16>(a & 0x7fff), static_cast<U16>(b & 0x7fff));
    return magnitude > F::kExponent
        ? magnitude
        : static_cast<U16>(magnitude | ((a ^ b) & 0x8000));
  }
};
struct Absolute {
  template <typename F>
  static U16 run(U16 a) {
    return static_cast<U16>(a & 0x7fff);
  }
};
struct Negate {
  template <typename F>
  static U16 run(U16 a) {
    return static_cast<U16>(a ^ 0x8000);
  }
};
struct Exponential {
  template <typename F>
  static U16 run(U16 a) {
    return F::narrow(__builtin_exp2f(F::widen(a)));
  }
};
struct Tangent {
  template <typename F>
  static U16 run(U16 a) {
    return F::narrow(__builtin_tanhf(F::widen(a)));
  }
};

enum Modifier { kPlain, kFlush, kSaturate, kFlushSaturate, kRelu, kFlushRelu };

template <typename F, Modifier kModifier>
inline U16 before(U16 x) {
  return kModifier == kFlush || kModifier == kFlushSaturate ||
          kModifier == kFlushRelu
      ? flush<F>(x)
      : x;
}
template <typename F, Modifier kModifier>
inline U16 after(U16 x) {
  x = before<F, kModifier>(x);
  return kModifier == kSaturate || kModifier == kFlushSaturate ? saturate<F>(x)
      : kModifier == kRelu || kModifier == kFlushRelu          ? rectify<F>(x)
                                                               : x;
}

/// One value a lane.
template <typename Op, typename F, Modifier kModifier>
struct Single {
  template <typename... T>
  static U16 run(T... operands) {
    return after<F, kModifier>(
        Op::template run<F>(before<F, kModifier>(operands)...));
  }
};
/// Two values a lane.
template <typename Op, typename F, Modifier kModifier>
struct Pair {
  template <typename... T>
  static U32 run(T... operands) {
    const U16 low =
        Single<Op, F, kModifier>::run(static_cast<U16>(operands)...);
    const U16 high =
        Single<Op, F, kModifier>::run(static_cast<U16>(operands >> 16)...);
    return static_cast<U32>(high) << 16 | low;
  }
};

/// A packed instruction is the single one on an array of twice the length.
#define CUDASIM_ONE(text, shape, Op, name, F, modifier)                   \
  {text "." #name, #shape, "9.7.4", shape<Single<Op, F, modifier>, U16>}, \
      {text "." #name "x2",                                               \
       #shape,                                                            \
       "9.7.4",                                                           \
       shape<Pair<Op, F, modifier>, U32>},
#define CUDASIM_ARITHMETIC(text, shape, Op)                          \
  CUDASIM_ONE(text, shape, Op, f16, Half, kPlain)                    \
  CUDASIM_ONE(text ".ftz", shape, Op, f16, Half, kFlush)             \
  CUDASIM_ONE(text ".sat", shape, Op, f16, Half, kSaturate)          \
  CUDASIM_ONE(text ".ftz.sat", shape, Op, f16, Half, kFlushSaturate) \
  CUDASIM_ONE(text, shape, Op, bf16, Brain, kPlain)
using MinimumOp = Extreme<false, false>;
using MaximumOp = Extreme<true, false>;
using MinimumNan = Extreme<false, true>;
using MaximumNan = Extreme<true, true>;
#define CUDASIM_SIGNS(text, Op)                           \
  CUDASIM_ONE(text, binary, Op, f16, Half, kPlain)        \
  CUDASIM_ONE(text ".ftz", binary, Op, f16, Half, kFlush) \
  CUDASIM_ONE(text, binary, Op, bf16, Brain, kPlain)
#define CUDASIM_EXTREME(text, Op) \
  CUDASIM_SIGNS(text, Op)         \
  CUDASIM_SIGNS(text ".xorsign.abs", CrossedSigns<Op>)

constexpr Entry kEntries[] = {
    CUDASIM_ARITHMETIC("add", binary, Add) CUDASIM_ARITHMETIC(
        "add.rn",
        binary,
        Add) CUDASIM_ARITHMETIC("sub", binary, Subtract)
        CUDASIM_ARITHMETIC("sub.rn", binary, Subtract) CUDASIM_ARITHMETIC(
            "mul",
            binary,
            Multiply) CUDASIM_ARITHMETIC("mul.rn", binary, Multiply)
            CUDASIM_ARITHMETIC("fma.rn", ternary, FusedMultiplyAdd) CUDASIM_ONE(
                "fma.rn.relu",
                ternary,
                FusedMultiplyAdd,
                f16,
                Half,
                kRelu)
                CUDASIM_ONE(
                    "fma.rn.ftz.relu",
                    ternary,
                    FusedMultiplyAdd,
                    f16,
                    Half,
                    kFlushRelu)
                    CUDASIM_ONE(
                        "fma.rn.relu",
                        ternary,
                        FusedMultiplyAdd,
                        bf16,
                        Brain,
                        kRelu) CUDASIM_EXTREME("min", MinimumOp)
                        CUDASIM_EXTREME("max", MaximumOp) CUDASIM_EXTREME(
                            "min.NaN",
                            MinimumNan) CUDASIM_EXTREME("max.NaN", MaximumNan)
                            CUDASIM_ONE(
                                "abs",
                                unary,
                                Absolute,
                                f16,
                                Half,
                                kPlain)
                                CUDASIM_ONE(
                                    "abs.ftz",
                                    unary,
                                    Absolute,
                                    f16,
                                    Half,
                                    kFlush)
                                    CUDASIM_ONE(
                                        "abs",
                                        unary,
                                        Absolute,
                                        bf16,
                                        Brain,
                                        kPlain)
                                        CUDASIM_ONE(
                                            "neg",
                                            unary,
                                            Negate,
                                            f16,
                                            Half,
                                            kPlain)
                                            CUDASIM_ONE(
                                                "neg.ftz",
                                                unary,
                                                Negate,
                                                f16,
                                                Half,
                                                kFlush)
                                                CUDASIM_ONE(
                                                    "neg",
                                                    unary,
                                                    Negate,
                                                    bf16,
                                                    Brain,
                                                    kPlain)
                                                    CUDASIM_ONE(
                                                        "ex2.approx",
                                                        unary,
                                                        Exponential,
                                                        f16,
                                                        Half,
                                                        kPlain)
                                                        CUDASIM_ONE(
                                                            "ex2.approx.ftz",
                                                            unary,
                                                            Exponential,
                                                            bf16,
                                                            Brain,
                                                            kPlain)
                                                            CUDASIM_ONE(
                                                                "tanh.approx",
                                                                unary,
                                                                Tangent,
                                                                f16,
                                                                Half,
                                                                kPlain)
                                                                CUDASIM_ONE(
                                                                    "tanh.approx",
                                                                    unary,
                                                                    Tangent,
                                                                    bf16,
                                                                    Brain,
                                                                    kPlain)};

} // namespace

Family half_family() {
  return {"half", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
