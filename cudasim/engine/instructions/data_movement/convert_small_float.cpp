// Conversions from and to pairs of floats of 4 to 8 bits. Source: PTX ISA
// 9.7.9.21 (cvt).
#include "cudasim/engine/instructions/data_movement/conversion.h"
#include "cudasim/engine/instructions/small_floats.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

/// .relu: nothing below zero.
inline float rectified(const Inst& inst, float x) {
  return (inst.immediate & kRelu) != 0 && x <= 0 ? 0.0f : x;
}

/// How far the first of a pair is above the second: formats of six bits have
/// bytes of their own.
template <typename F>
inline constexpr int kApart = F::kBits == 4 ? 4 : 8;

template <typename F>
inline U16 joined(const Inst& inst, float high, float low) {
  return static_cast<U16>(
      F::narrow(rectified(inst, high)) << kApart<F> |
      F::narrow(rectified(inst, low)));
}

/// From two floats, of which the first goes to the upper half.
template <typename F>
Flow narrow_two(Warp& warp, const Inst& inst, Mask active) {
  const float* a = lanes<float>(warp, inst.operands[1]);
  const float* b = lanes<float>(warp, inst.operands[2]);
  for_lanes(lanes<U16>(warp, inst.operands[0]), active, [&](int i) {
    return joined<F>(inst, a[i], b[i]);
  });
  return Flow::kNext;
}

/// From a pair of 16 bits each.
template <typename F, typename From>
Flow narrow_pair(Warp& warp, const Inst& inst, Mask active) {
  const U32* a = lanes<U32>(warp, inst.operands[1]);
  for_lanes(lanes<U16>(warp, inst.operands[0]), active, [&](int i) {
    return joined<F>(
        inst,
        From::widen(static_cast<U16>(a[i] >> 16)),
        From::widen(static_cast<U16>(a[i])));
  });
  return Flow::kNext;
}

/// To a pair of 16 bits each, which have room for all of these numbers.
template <typename F, typename To>
Flow widen_pair(Warp& warp, const Inst& inst, Mask active) {
  const U16* a = lanes<U16>(warp, inst.operands[1]);
  for_lanes(lanes<U32>(warp, inst.operands[0]), active, [&](int i) {
    const float high = F::widen(a[i] >> kApart<F>);
    const float low = F::widen(a[i]);
    return static_cast<U32>(To::narrow(rectified(inst, high))) << 16 |
        To::narrow(rectified(inst, low));
  });
  return Flow::kNext;
}

inline U32 power(const Inst& inst, float x) {
  return UE8M0::narrow(
      x, (inst.immediate & 7) == kUp, (inst.immediate & kFinite) != 0);
}

Flow powers_of_two(Warp& warp, const Inst& inst, Mask active) {
  const float* a = lanes<float>(warp, inst.operands[1]);
  const float* b = lanes<float>(warp, inst.operands[2]);
  for_lanes(lanes<U16>(warp, inst.operands[0]), active, [&](int i) {
    return static_cast<U16>(power(inst, a[i]) << 8 | power(inst, b[i]));
  });
  return Flow::kNext;
}

Flow powers_of_pair(Warp& warp, const Inst& inst, Mask active) {
  const U32* a = lanes<U32>(warp, inst.operands[1]);
  for_lanes(lanes<U16>(warp, inst.operands[0]), active, [&](int i) {
    return static_cast<U16>(
        power(inst, Brain::widen(static_cast<U16>(a[i] >> 16))) << 8 |
        power(inst, Brain::widen(static_cast<U16>(a[i]))));
  });
  return Flow::kNext;
}

Flow widen_powers(Warp& warp, const Inst& inst, Mask active) {
  const U16* a = lanes<U16>(warp, inst.operands[1]);
  for_lanes(lanes<U32>(warp, inst.operands[0]), active, [&](int i) {
    return static_cast<U32>(Brain::narrow(UE8M0::widen(a[i] >> 8))) << 16 |
        Brain::narrow(UE8M0::widen(a[i] & 0xff));
  });
  return Flow::kNext;
}

// clang-format off
#define CUDASIM_RECTIFIED(before, after, operands, handler)               \
  {before after, operands, "9.7.8", handler},                             \
  {before ".relu" after, operands, "9.7.8", handler, kRelu},
#define CUDASIM_FORMAT(type, F)                                           \
  CUDASIM_RECTIFIED("cvt.rn.satfinite", "." #type ".f32", "=t1 t2 t2",    \
                    narrow_two<F>)                                        \
  CUDASIM_RECTIFIED("cvt.rn.satfinite", "." #type ".f16x2", "=t1 t2",     \
                    (narrow_pair<F, Half>))                               \
  CUDASIM_RECTIFIED("cvt.rn.satfinite", "." #type ".bf16x2", "=t1 t2",    \
                    (narrow_pair<F, Brain>))                              \
  CUDASIM_RECTIFIED("cvt.rn", ".f16x2." #type, "=t1 t2",                  \
                    (widen_pair<F, Half>))                                \
  CUDASIM_RECTIFIED("cvt.rn", ".bf16x2." #type, "=t1 t2",                 \
                    (widen_pair<F, Brain>))
#define CUDASIM_POWERS(mode, round)                                       \
  {"cvt." mode ".ue8m0x2.f32", "=t1 t2 t2", "9.7.8",                      \
   powers_of_two, round},                                                 \
  {"cvt." mode ".satfinite.ue8m0x2.f32", "=t1 t2 t2", "9.7.8",            \
   powers_of_two, round | kFinite},                                       \
  {"cvt." mode ".ue8m0x2.bf16x2", "=t1 t2", "9.7.8",                      \
   powers_of_pair, round},                                                \
  {"cvt." mode ".satfinite.ue8m0x2.bf16x2", "=t1 t2", "9.7.8",            \
   powers_of_pair, round | kFinite},

constexpr Entry kEntries[] = {
    CUDASIM_FORMAT(e4m3x2, E4M3)
    CUDASIM_FORMAT(e5m2x2, E5M2)
    CUDASIM_FORMAT(e2m3x2, E2M3)
    CUDASIM_FORMAT(e3m2x2, E3M2)
    CUDASIM_FORMAT(e2m1x2, E2M1)
    CUDASIM_POWERS("rz", kZero)
    CUDASIM_POWERS("rp", kUp)
    {"cvt.rn.bf16x2.ue8m0x2", "=t1 t2", "9.7.8", widen_powers},
};
// clang-format on

} // namespace

Family convert_small_float_family() {
  return {
      "convert_small_float", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
