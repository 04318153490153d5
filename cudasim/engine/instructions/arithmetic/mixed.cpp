// Arithmetic in single precision on sources of 16 bits. Source: PTX ISA 9.7.5
// (mixed precision floating-point instructions).
#include "cudasim/engine/instructions/half_types.h"
#include "cudasim/engine/instructions/rounding_mode.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

/// .sat: to [0, 1], NaN to 0.
template <bool kSaturate>
inline float finished(float x) {
  return !kSaturate ? x : x > 0 ? (x < 1 ? x : 1.0f) : 0.0f;
}
template <typename F, bool kSaturate>
struct Add {
  static float run(U16 a, float c) {
    return finished<kSaturate>(F::widen(a) + c);
  }
};
template <typename F, bool kSaturate>
struct Subtract {
  static float run(U16 a, float c) {
    return finished<kSaturate>(F::widen(a) - c);
  }
};
template <typename F, bool kSaturate>
struct FusedMultiplyAdd {
  static float run(U16 a, U16 b, float c) {
    return finished<kSaturate>(__builtin_fmaf(F::widen(a), F::widen(b), c));
  }
};

template <typename Op, unsigned kMode>
Flow two(Warp& warp, const Inst& inst, Mask active) {
  const RoundingMode rounding(kMode);
  return binary<Op, float, U16, float>(warp, inst, active);
}
template <typename Op, unsigned kMode>
Flow three(Warp& warp, const Inst& inst, Mask active) {
  const RoundingMode rounding(kMode);
  return ternary<Op, float, U16, U16, float>(warp, inst, active);
}

// clang-format off
#define CUDASIM_CLAMPED(text, operands, shape, Op, type, F, mode)            \
  {text ".f32." #type, operands, "9.7.5", shape<Op<F, false>, mode>},        \
  {text ".sat.f32." #type, operands, "9.7.5", shape<Op<F, true>, mode>},
#define CUDASIM_SUMS(name, type, F, mode)                                    \
  CUDASIM_CLAMPED("add" name, "=t1 t2 t1", two, Add, type, F, mode)          \
  CUDASIM_CLAMPED("sub" name, "=t1 t2 t1", two, Subtract, type, F, mode)
#define CUDASIM_MODE(name, type, F, mode)                                    \
  CUDASIM_SUMS(name, type, F, mode)                                          \
  CUDASIM_CLAMPED(                                                           \
      "fma" name, "=t1 t2 t2 t1", three, FusedMultiplyAdd, type, F, mode)
#define CUDASIM_TYPE(type, F)                                                \
  CUDASIM_SUMS("", type, F, RoundingMode::kNearest)                          \
  CUDASIM_MODE(".rn", type, F, RoundingMode::kNearest)                       \
  CUDASIM_MODE(".rz", type, F, RoundingMode::kToZero)                        \
  CUDASIM_MODE(".rm", type, F, RoundingMode::kDown)                          \
  CUDASIM_MODE(".rp", type, F, RoundingMode::kUp)

constexpr Entry kEntries[] = {
    CUDASIM_TYPE(f16, Half)
    CUDASIM_TYPE(bf16, Brain)
};
// clang-format on

} // namespace

Family mixed_family() {
  return {"mixed", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
