// Floating-point arithmetic rounded towards zero, minus or plus infinity, by
// the processor's rounding mode. Compiled with -frounding-math. Source: PTX
// ISA 9.7.3.
#include "cudasim/engine/instructions/lanes.h"
#include "cudasim/engine/instructions/rounding_mode.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

enum Operation {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFma,
  kReciprocal,
  kRoot
};

inline float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline double fused(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
inline float root(float a) {
  return __builtin_sqrtf(a);
}
inline double root(double a) {
  return __builtin_sqrt(a);
}
using cudasim::engine::flush;
inline double flush(double x) {
  return x;
}

template <Operation kOperation, typename T>
inline T compute(T x, T y, T z) {
  switch (kOperation) {
    case kAdd:
      return x + y;
    case kSubtract:
      return x - y;
    case kMultiply:
      return x * y;
    case kDivide:
      return x / y;
    case kFma:
      return fused(x, y, z);
    case kReciprocal:
      return T{1} / x;
    case kRoot:
      return root(x);
  }
}

/// @tparam kMode of SSE. @tparam kFlush .ftz. @tparam kSaturate .sat.
template <
    typename T,
    Operation kOperation,
    unsigned kMode,
    bool kFlush,
    bool kSaturate>
Flow rounded(Warp& warp, const Inst& inst, Mask active) {
  constexpr int kSources = kOperation == kFma            ? 3
      : kOperation == kReciprocal || kOperation == kRoot ? 1
                                                         : 2;
  T* d = lanes<T>(warp, inst.operands[0]);
  const T* a = lanes<T>(warp, inst.operands[1]);
  const T* b = kSources > 1 ? lanes<T>(warp, inst.operands[2]) : a;
  const T* c = kSources > 2 ? lanes<T>(warp, inst.operands[3]) : a;
  const RoundingMode rounding(kMode);
  for_lanes(d, active, [&](int i) {
    const T x = kFlush ? flush(a[i]) : a[i];
    const T y = kFlush ? flush(b[i]) : b[i];
    const T z = kFlush ? flush(c[i]) : c[i];
    const T rounded = compute<kOperation>(x, y, z);
    const T result = kFlush ? flush(rounded) : rounded;
    return !kSaturate   ? result
        : !(result > 0) ? T{0}
        : result < 1    ? result
                        : T{1};
  });
  return Flow::kNext;
}

#define CUDASIM_PLAIN(text, operands, Op, mode)                              \
  {text ".f64", operands, "9.7.3", rounded<double, Op, mode, false, false>}, \
      {text ".f32",                                                          \
       operands,                                                             \
       "9.7.3",                                                              \
       rounded<float, Op, mode, false, false>},                              \
      {text ".ftz.f32",                                                      \
       operands,                                                             \
       "9.7.3",                                                              \
       rounded<float, Op, mode, true, false>},
#define CUDASIM_CLAMPED(text, operands, Op, mode) \
  CUDASIM_PLAIN(text, operands, Op, mode){        \
      text ".sat.f32",                            \
      operands,                                   \
      "9.7.3",                                    \
      rounded<float, Op, mode, false, true>},     \
      {text ".ftz.sat.f32",                       \
       operands,                                  \
       "9.7.3",                                   \
       rounded<float, Op, mode, true, true>},
#define CUDASIM_MODE(name, mode)                           \
  CUDASIM_CLAMPED("add." #name, "binary", kAdd, mode)      \
  CUDASIM_CLAMPED("sub." #name, "binary", kSubtract, mode) \
  CUDASIM_CLAMPED("mul." #name, "binary", kMultiply, mode) \
  CUDASIM_CLAMPED("fma." #name, "ternary", kFma, mode)     \
  CUDASIM_CLAMPED("mad." #name, "ternary", kFma, mode)     \
  CUDASIM_PLAIN("div." #name, "binary", kDivide, mode)     \
  CUDASIM_PLAIN("rcp." #name, "unary", kReciprocal, mode)  \
  CUDASIM_PLAIN("sqrt." #name, "unary", kRoot, mode)

constexpr Entry kEntries[] = {CUDASIM_MODE(rz, RoundingMode::kToZero)
                                  CUDASIM_MODE(rm, RoundingMode::kDown)
                                      CUDASIM_MODE(rp, RoundingMode::kUp)};

} // namespace

Family rounding_family() {
  return {"rounding", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
