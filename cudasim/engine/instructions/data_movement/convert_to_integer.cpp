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
#define CUDASIM_I2I(d, D, s, S)                                   \
  {"cvt." #d "." #s, integer_to_integer<Integer<D>, Integer<S>>}, \
      {"cvt.sat." #d "." #s,                                      \
       integer_to_integer<Integer<D>, Integer<S>>,                \
       kSaturate},
#define CUDASIM_TO_INTEGERS(s, S)                             \
  CUDASIM_I2I(u8, U8, s, S)                                   \
  CUDASIM_I2I(s8, I8, s, S)                                   \
  CUDASIM_I2I(u16, U16, s, S) CUDASIM_I2I(s16, I16, s, S)     \
      CUDASIM_I2I(u32, U32, s, S) CUDASIM_I2I(s32, I32, s, S) \
          CUDASIM_I2I(u64, U64, s, S) CUDASIM_I2I(s64, I64, s, S)
#define CUDASIM_F2I_ONE(round, kRound, d, D, s, S)                        \
  {"cvt." #round "." #d "." #s, float_to_integer<Integer<D>, S>, kRound}, \
      {"cvt." #round ".sat." #d "." #s,                                   \
       float_to_integer<Integer<D>, S>,                                   \
       kRound},                                                           \
      {"cvt." #round ".ftz." #d "." #s,                                   \
       float_to_integer<Integer<D>, S>,                                   \
       kRound | kFlush},                                                  \
      {"cvt." #round ".ftz.sat." #d "." #s,                               \
       float_to_integer<Integer<D>, S>,                                   \
       kRound | kFlush},
#define CUDASIM_F2I(d, D, s, S)              \
  CUDASIM_F2I_ONE(rni, kNearest, d, D, s, S) \
  CUDASIM_F2I_ONE(rzi, kZero, d, D, s, S)    \
  CUDASIM_F2I_ONE(rmi, kDown, d, D, s, S)    \
  CUDASIM_F2I_ONE(rpi, kUp, d, D, s, S)
#define CUDASIM_FLOAT_TO_INTEGERS(s, S)                       \
  CUDASIM_F2I(u8, U8, s, S)                                   \
  CUDASIM_F2I(s8, I8, s, S)                                   \
  CUDASIM_F2I(u16, U16, s, S) CUDASIM_F2I(s16, I16, s, S)     \
      CUDASIM_F2I(u32, U32, s, S) CUDASIM_F2I(s32, I32, s, S) \
          CUDASIM_F2I(u64, U64, s, S) CUDASIM_F2I(s64, I64, s, S)

constexpr Entry kEntries[] = {
    CUDASIM_TO_INTEGERS(u8, U8)
    CUDASIM_TO_INTEGERS(s8, I8)
    CUDASIM_TO_INTEGERS( u16, U16)
    CUDASIM_TO_INTEGERS(s16, I16)
    CUDASIM_TO_INTEGERS(u32, U32)
    CUDASIM_TO_INTEGERS(s32, I32)
    CUDASIM_TO_INTEGERS(u64, U64)
    CUDASIM_TO_INTEGERS( s64, I64)
    CUDASIM_FLOAT_TO_INTEGERS(f16, Sixteen<Half>)
    CUDASIM_FLOAT_TO_INTEGERS(bf16, Sixteen<Brain>)
    CUDASIM_FLOAT_TO_INTEGERS( f32, Single)
    CUDASIM_FLOAT_TO_INTEGERS(f64, Double)
};
// clang-format on

} // namespace

Family convert_to_integer_family() {
  return {
      "convert_to_integer", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
