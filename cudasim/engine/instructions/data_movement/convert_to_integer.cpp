// Conversions to integers. Source: PTX ISA 9.7.9.21 (cvt).
#include "cudasim/engine/instructions/data_movement/conversion.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

/// Out of range is clamped. NaN gives 0, but the highest bit alone when either
/// type has 64 bits (PTX ISA 9.7.9.21, integer notes).
template <typename D, typename S>
D to_integer(S x) {
  const bool is_signed = static_cast<D>(-1) < static_cast<D>(0);
  constexpr int kBits = sizeof(D) * 8;
  if (x != x) {
    return kBits == 64 || sizeof(S) == 8 ? static_cast<D>(1ull << (kBits - 1))
                                         : static_cast<D>(0);
  }
  const S limit = static_cast<S>(1ull << (kBits - 2)) * (is_signed ? 2 : 4);
  const D most = static_cast<D>(is_signed ? (1ull << (kBits - 1)) - 1 : ~0ull);
  const D least =
      is_signed ? static_cast<D>(1ull << (kBits - 1)) : static_cast<D>(0);
  if (x >= limit) {
    return most;
  }
  if (is_signed ? x < -limit : x <= 0) {
    return least;
  }
  return static_cast<D>(x);
}

template <typename D, typename S>
D clamp_integer(S x) {
  // Compared in 128 bits, which hold both signed and unsigned 64-bit numbers.
  const bool is_signed = static_cast<D>(-1) < static_cast<D>(0);
  constexpr int kBits = sizeof(D) * 8;
  const auto most = static_cast<__int128>(
      is_signed ? (1ull << (kBits - 1)) - 1
                : static_cast<U64>(static_cast<D>(~0ull)));
  const auto least = is_signed ? -(static_cast<__int128>(1) << (kBits - 1))
                               : static_cast<__int128>(0);
  const auto value = static_cast<__int128>(x);
  return static_cast<D>(value > most ? most : value < least ? least : value);
}

template <typename To, typename From>
Flow integer_to_integer(Warp& warp, const Inst& inst, Mask active) {
  using D = typename To::Value;
  using S = typename From::Value;
  S source[kLanes];
  D result[kLanes];
  read_register(warp, inst.operands[1], inst.widths[1], source);
  if ((inst.immediate & kSaturate) != 0) {
    for (int i = 0; i < kLanes; ++i) {
      result[i] = clamp_integer<D, S>(source[i]);
    }
  } else {
    for (int i = 0; i < kLanes; ++i) {
      result[i] = static_cast<D>(source[i]);
    }
  }
  write_register(warp, inst.operands[0], inst.widths[0], active, result);
  return Flow::kNext;
}

template <typename To, typename From>
Flow float_to_integer(Warp& warp, const Inst& inst, Mask active) {
  using D = typename To::Value;
  using V = typename From::Value;
  const auto* source = lanes<typename From::Stored>(warp, inst.operands[1]);
  const U64 round = inst.immediate & 7;
  const bool flushed = (inst.immediate & kFlush) != 0;
  D result[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    V value = From::read(source[i]);
    if (sizeof(V) == 4 && flushed) {
      value = static_cast<V>(flush(static_cast<float>(value)));
    }
    result[i] = to_integer<D, V>(round_to_integral<V>(value, round));
  }
  write_register(warp, inst.operands[0], inst.widths[0], active, result);
  return Flow::kNext;
}

// clang-format off
#define CUDASIM_I2I(d, D, s, S) \
  {"cvt." #d "." #s,            \
   "=t1~ t2~%",                 \
   "9.7.8",                     \
   integer_to_integer<Integer<D>, Integer<S>>},
// Only where the result can be beyond its type.
#define CUDASIM_CLAMP(d, D, s, S)               \
  {"cvt.sat." #d "." #s,                        \
   "=t1~ t2~%",                                 \
   "9.7.8",                                     \
   integer_to_integer<Integer<D>, Integer<S>>,  \
   kSaturate},
#define CUDASIM_TO_WIDE_INTEGERS(use, s, S)           \
  use(u16, U16, s, S) use(s16, I16, s, S)             \
      use(u32, U32, s, S) use(s32, I32, s, S)         \
          use(u64, U64, s, S) use(s64, I64, s, S)
#define CUDASIM_TO_INTEGERS(use, s, S)    \
  use(u8, U8, s, S) use(s8, I8, s, S)     \
      CUDASIM_TO_WIDE_INTEGERS(use, s, S)
#define CUDASIM_F2I_FORM(text, kRound, d, D, s, S)  \
  {text "." #d "." #s,                              \
   "=t1~ t2~",                                      \
   "9.7.8",                                         \
   float_to_integer<Integer<D>, S>,                 \
   kRound},
#define CUDASIM_ROUNDINGS(use, d, D, s, S) \
  use("cvt.rni", kNearest, d, D, s, S)     \
  use("cvt.rzi", kZero, d, D, s, S)        \
  use("cvt.rmi", kDown, d, D, s, S)        \
  use("cvt.rpi", kUp, d, D, s, S)
#define CUDASIM_F2I_PLAIN(text, kRound, d, D, s, S)       \
  CUDASIM_F2I_FORM(text, kRound, d, D, s, S)              \
  CUDASIM_F2I_FORM(text ".sat", kRound, d, D, s, S)
// Only numbers of 32 bits are flushed.
#define CUDASIM_F2I_FLUSHED(text, kRound, d, D, s, S)                 \
  CUDASIM_F2I_PLAIN(text, kRound, d, D, s, S)                         \
  CUDASIM_F2I_FORM(text ".ftz", kRound | kFlush, d, D, s, S)          \
  CUDASIM_F2I_FORM(text ".ftz.sat", kRound | kFlush, d, D, s, S)
#define CUDASIM_F2I(d, D, s, S) \
  CUDASIM_ROUNDINGS(CUDASIM_F2I_PLAIN, d, D, s, S)
#define CUDASIM_F2I_SINGLE(d, D, s, S) \
  CUDASIM_ROUNDINGS(CUDASIM_F2I_FLUSHED, d, D, s, S)
// Registers on the other side of bf16 are never wider than their type.
#define CUDASIM_F2I_EXACT(text, kRound, d, D, s, S) \
  {text "." #d "." #s,                              \
   "=t1 t2",                                        \
   "9.7.8",                                         \
   float_to_integer<Integer<D>, S>,                 \
   kRound},
#define CUDASIM_F2I_BRAIN(d, D, s, S) \
  CUDASIM_ROUNDINGS(CUDASIM_F2I_EXACT, d, D, s, S)

constexpr Entry kEntries[] = {
    CUDASIM_TO_INTEGERS(CUDASIM_I2I, u8, U8)
    CUDASIM_TO_INTEGERS(CUDASIM_I2I, s8, I8)
    CUDASIM_TO_INTEGERS(CUDASIM_I2I, u16, U16)
    CUDASIM_TO_INTEGERS(CUDASIM_I2I, s16, I16)
    CUDASIM_TO_INTEGERS(CUDASIM_I2I, u32, U32)
    CUDASIM_TO_INTEGERS(CUDASIM_I2I, s32, I32)
    CUDASIM_TO_INTEGERS(CUDASIM_I2I, u64, U64)
    CUDASIM_TO_INTEGERS(CUDASIM_I2I, s64, I64)
    CUDASIM_CLAMP(s8, I8, u8, U8)
    CUDASIM_CLAMP(u8, U8, s8, I8)
    CUDASIM_CLAMP(u16, U16, s8, I8)
    CUDASIM_CLAMP(u32, U32, s8, I8)
    CUDASIM_CLAMP(u64, U64, s8, I8)
    CUDASIM_CLAMP(u8, U8, u16, U16)
    CUDASIM_CLAMP(s8, I8, u16, U16)
    CUDASIM_CLAMP(s16, I16, u16, U16)
    CUDASIM_CLAMP(u8, U8, s16, I16)
    CUDASIM_CLAMP(s8, I8, s16, I16)
    CUDASIM_CLAMP(u16, U16, s16, I16)
    CUDASIM_CLAMP(u32, U32, s16, I16)
    CUDASIM_CLAMP(u64, U64, s16, I16)
    CUDASIM_CLAMP(u8, U8, u32, U32)
    CUDASIM_CLAMP(s8, I8, u32, U32)
    CUDASIM_CLAMP(u16, U16, u32, U32)
    CUDASIM_CLAMP(s16, I16, u32, U32)
    CUDASIM_CLAMP(s32, I32, u32, U32)
    CUDASIM_CLAMP(u8, U8, s32, I32)
    CUDASIM_CLAMP(s8, I8, s32, I32)
    CUDASIM_CLAMP(u16, U16, s32, I32)
    CUDASIM_CLAMP(s16, I16, s32, I32)
    CUDASIM_CLAMP(u32, U32, s32, I32)
    CUDASIM_CLAMP(u64, U64, s32, I32)
    CUDASIM_CLAMP(u8, U8, u64, U64)
    CUDASIM_CLAMP(s8, I8, u64, U64)
    CUDASIM_CLAMP(u16, U16, u64, U64)
    CUDASIM_CLAMP(s16, I16, u64, U64)
    CUDASIM_CLAMP(u32, U32, u64, U64)
    CUDASIM_CLAMP(s32, I32, u64, U64)
    CUDASIM_CLAMP(s64, I64, u64, U64)
    CUDASIM_CLAMP(u8, U8, s64, I64)
    CUDASIM_CLAMP(s8, I8, s64, I64)
    CUDASIM_CLAMP(u16, U16, s64, I64)
    CUDASIM_CLAMP(s16, I16, s64, I64)
    CUDASIM_CLAMP(u32, U32, s64, I64)
    CUDASIM_CLAMP(s32, I32, s64, I64)
    CUDASIM_CLAMP(u64, U64, s64, I64)
    CUDASIM_TO_INTEGERS(CUDASIM_F2I, f16, Sixteen<Half>)
    CUDASIM_TO_WIDE_INTEGERS(CUDASIM_F2I_BRAIN, bf16, Sixteen<Brain>)
    CUDASIM_TO_INTEGERS(CUDASIM_F2I_SINGLE, f32, Single)
    CUDASIM_TO_INTEGERS(CUDASIM_F2I, f64, Double)
};
// clang-format on

} // namespace

Family convert_to_integer_family() {
  return {
      "convert_to_integer", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
