// Arithmetic of pairs of floats, in registers of 64 bits. Source: PTX ISA 9.7.3
// (add, sub, mul, fma).
#include "cudasim/engine/instructions/lanes.h"
#include "cudasim/engine/instructions/rounding_mode.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

struct Add {
  static float run(float a, float b) {
    return a + b;
  }
};
struct Subtract {
  static float run(float a, float b) {
    return a - b;
  }
};
struct Multiply {
  static float run(float a, float b) {
    return a * b;
  }
};
struct FusedMultiplyAdd {
  static float run(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
  }
};

/// Both numbers by themselves. @tparam kFlush .ftz: operands and result.
template <typename Op, bool kFlush>
struct Pair {
  template <typename... T>
  static U32 one(T... operands) {
    return bits_as<U32>(
        kFlush ? flush(Op::run(flush(bits_as<float>(operands))...))
               : Op::run(bits_as<float>(operands)...));
  }
  template <typename... T>
  static U64 run(T... operands) {
    const U64 low = one(static_cast<U32>(operands)...);
    const U64 high = one(static_cast<U32>(operands >> 32)...);
    return high << 32 | low;
  }
};

template <typename Op, unsigned kMode, bool kFlush>
Flow two(Warp& warp, const Inst& inst, Mask active) {
  const RoundingMode rounding(kMode);
  return binary<Pair<Op, kFlush>, U64>(warp, inst, active);
}
template <typename Op, unsigned kMode, bool kFlush>
Flow three(Warp& warp, const Inst& inst, Mask active) {
  const RoundingMode rounding(kMode);
  return ternary<Pair<Op, kFlush>, U64>(warp, inst, active);
}

// clang-format off
#define CUDASIM_PAIR(text, operands, shape, Op, mode)                        \
  {text ".f32x2", operands, "9.7.3", shape<Op, mode, false>},                \
  {text ".ftz.f32x2", operands, "9.7.3", shape<Op, mode, true>},
#define CUDASIM_ROUNDED(name, mode)                                          \
  CUDASIM_PAIR("add" name, "binary", two, Add, mode)                         \
  CUDASIM_PAIR("sub" name, "binary", two, Subtract, mode)                    \
  CUDASIM_PAIR("mul" name, "binary", two, Multiply, mode)
#define CUDASIM_MODE(name, mode)                                             \
  CUDASIM_ROUNDED(name, mode)                                                \
  CUDASIM_PAIR("fma" name, "ternary", three, FusedMultiplyAdd, mode)

constexpr Entry kEntries[] = {
    CUDASIM_ROUNDED("", RoundingMode::kNearest)
    CUDASIM_MODE(".rn", RoundingMode::kNearest)
    CUDASIM_MODE(".rz", RoundingMode::kToZero)
    CUDASIM_MODE(".rm", RoundingMode::kDown)
    CUDASIM_MODE(".rp", RoundingMode::kUp)
};
// clang-format on

} // namespace

Family single_pair_family() {
  return {"single_pair", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
