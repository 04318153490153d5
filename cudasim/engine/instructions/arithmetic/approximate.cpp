// Approximations: computed exactly or nearly so, and within the errors that PTX
// allows. Source: PTX ISA 9.7.3.
#include "cudasim/engine/instructions/exponential.h"
#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

struct Reciprocal {
  static float run(float a) {
    return 1.0f / a;
  }
};
struct SquareRoot {
  static float run(float a) {
    return __builtin_sqrtf(a);
  }
};
struct ReciprocalRoot {
  static float run(float a) {
    return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
  }
  static double run(double a) {
    return 1.0 / __builtin_sqrt(a);
  }
};
struct Sine {
  static float run(float a) {
    return __builtin_sinf(a);
  }
};
struct Cosine {
  static float run(float a) {
    return __builtin_cosf(a);
  }
};
struct Logarithm {
  static float run(float a) {
    return __builtin_log2f(a);
  }
};
struct Power : Exponential {
  static float run(float a) {
    float x = a > kMost ? kMost : a;
    x = x < kLeast ? kLeast : x;
    const float shifted = x + kWhole;
    const float rest = x - (shifted - kWhole);
    const auto n =
        static_cast<I32>(bits_as<U32>(shifted) - bits_as<U32>(kWhole));
    // In two steps: 2^n alone may be no float.
    const I32 half = n >> 1;
    float sum = kSeries[0];
    for (int i = 1; i < kTerms; ++i) {
      sum = sum * rest + kSeries[i];
    }
    return sum * power(half) * power(n - half);
  }

 private:
  static float power(I32 exponent) {
    return bits_as<float>(static_cast<U32>(exponent + kBias) << kFractionBits);
  }
};
struct Tangent {
  static float run(float a) {
    return __builtin_tanhf(a);
  }
};
struct Divide {
  static float run(float a, float b) {
    return a / b;
  }
};

template <typename Op, bool kFlush>
struct Modified {
  template <typename... T>
  static float run(T... operands) {
    return kFlush ? flush(Op::run(flush(operands)...)) : Op::run(operands...);
  }
};

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 give the upper 32 bits only, and
// treat denormal numbers as zero: seeds for Newton's method.
inline double upper(double x) {
  return bits_as<double>(bits_as<U64>(x) & 0xffffffff00000000ull);
}
inline double flush_double(double x) {
  const U64 bits = bits_as<U64>(x);
  return (bits & 0x7ff0000000000000ull) == 0
      ? bits_as<double>(bits & 0x8000000000000000ull)
      : x;
}
struct ReciprocalSeed {
  static double run(double a) {
    return upper(flush_double(1.0 / flush_double(upper(a))));
  }
};
struct ReciprocalRootSeed {
  static double run(double a) {
    return upper(flush_double(1.0 / __builtin_sqrt(flush_double(upper(a)))));
  }
};

#define CUDASIM_APPROXIMATE(text, shape, Op)                                \
  {text ".approx.f32", #shape, "9.7.3", shape<Modified<Op, false>, float>}, \
      {text ".approx.ftz.f32",                                              \
       #shape,                                                              \
       "9.7.3",                                                             \
       shape<Modified<Op, true>, float>},

constexpr Entry kEntries[] = {
    CUDASIM_APPROXIMATE("rcp", unary, Reciprocal)
        CUDASIM_APPROXIMATE("sqrt", unary, SquareRoot)
            CUDASIM_APPROXIMATE("rsqrt", unary, ReciprocalRoot)
                CUDASIM_APPROXIMATE("sin", unary, Sine)
                    CUDASIM_APPROXIMATE("cos", unary, Cosine)
                        CUDASIM_APPROXIMATE("lg2", unary, Logarithm)
                            CUDASIM_APPROXIMATE("ex2", unary, Power)
                                CUDASIM_APPROXIMATE("div", binary, Divide){
                                    "tanh.approx.f32",
                                    "unary",
                                    "9.7.3",
                                    unary<Tangent, float>},
    {"div.full.f32", "binary", "9.7.3", binary<Divide, float>},
    {"div.full.ftz.f32",
     "binary",
     "9.7.3",
     binary<Modified<Divide, true>, float>},
    {"rsqrt.approx.f64", "unary", "9.7.3", unary<ReciprocalRoot, double>},
    {"rsqrt.approx.ftz.f64",
     "unary",
     "9.7.3",
     unary<ReciprocalRootSeed, double>},
    {"rcp.approx.ftz.f64", "unary", "9.7.3", unary<ReciprocalSeed, double>},
};

} // namespace

Family approximate_family() {
  return {
      "approximate",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "cos lg2 sin"};
}

} // namespace cudasim::engine::CUDASIM_ISA
