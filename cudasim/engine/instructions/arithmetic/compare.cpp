// Comparisons. Source: PTX ISA 9.7.6 (setp, set, slct) and 9.7.5 (half).
#include "cudasim/engine/instructions/arithmetic/comparisons.h"
#include "cudasim/engine/instructions/half_types.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

/// How a register's value is compared.
template <typename T>
struct Plain {
  using Stored = T;
  static T read(T x) {
    return x;
  }
};
struct Flushed {
  using Stored = float;
  static float read(float x) {
    return flush(x);
  }
};
template <typename F>
struct Widened {
  using Stored = U16;
  using Format = F;
  static float read(U16 x) {
    return F::widen(x);
  }
};
template <typename F>
struct WidenedFlushed {
  using Stored = U16;
  using Format = F;
  static float read(U16 x) {
    return F::widen((x & F::kExponent) != 0 ? x : U16(x & 0x8000));
  }
};

/// What set gives where a comparison holds; elsewhere it is 0.
struct AllOnes {
  using Stored = U32;
  static constexpr Stored kHolds = 0xffffffff;
};
struct AllOnesOf16 {
  using Stored = U16;
  static constexpr Stored kHolds = 0xffff;
};
struct OneFloat {
  using Stored = U32;
  static constexpr Stored kHolds = 0x3f800000;
};
template <typename F>
struct One {
  using Stored = U16;
  static constexpr Stored kHolds =
      F::kExponent == Half::kExponent ? 0x3c00 : 0x3f80;
};

enum Combination { kNone, kAnd, kOr, kXor };

/// Where a comparison holds for the low halves of pairs, and for the high ones.
struct Halves {
  Mask low;
  Mask high;
};

/// Where a comparison holds, combined with a predicate.
/// @param operand which of the operands that is, if any.
inline Mask combined(Warp& warp, const Inst& inst, int operand, Mask holds) {
  const auto combination = static_cast<Combination>(inst.immediate);
  const Mask other =
      combination == kNone ? 0 : read_predicate(warp, inst, operand);
  return combination == kAnd ? holds & other
      : combination == kOr   ? holds | other
      : combination == kXor  ? holds ^ other
                             : holds;
}

/// Writes two predicates, one of which may be what they are combined with.
inline Flow set_both(Warp& warp, const Inst& inst, Mask active, Halves holds) {
  const Mask low = combined(warp, inst, 4, holds.low);
  const Mask high = combined(warp, inst, 4, holds.high);
  write_predicate(warp, inst.operands[0], active, low);
  write_predicate(warp, inst.operands[1], active, high);
  return Flow::kNext;
}

/// Where a comparison holds.
/// @param at which of the operands are compared: this one and the next.
template <typename Compare, typename Reader>
[[gnu::always_inline]] inline Mask compared(
    Warp& warp,
    const Inst& inst,
    int at) {
  using T = typename Reader::Stored;
  const T* a = lanes<T>(warp, inst.operands[at]);
  const T* b = lanes<T>(warp, inst.operands[at + 1]);
  return lane_mask([&](int i) {
    return Compare::run(Reader::read(a[i]), Reader::read(b[i]));
  });
}

template <typename Compare, typename Reader>
Flow set_predicate(Warp& warp, const Inst& inst, Mask active) {
  const Mask result = compared<Compare, Reader>(warp, inst, 2);
  return set_both(warp, inst, active, {result, ~result});
}

/// The same, out of line: all results of set share it.
template <typename Compare, typename Reader>
[[gnu::noinline]] Mask compared_for_set(Warp& warp, const Inst& inst, int at) {
  return compared<Compare, Reader>(warp, inst, at);
}

/// The same of pairs.
template <typename Compare, typename Reader>
[[gnu::noinline]] Halves compared_pairs(Warp& warp, const Inst& inst, int at) {
  const U32* a = lanes<U32>(warp, inst.operands[at]);
  const U32* b = lanes<U32>(warp, inst.operands[at + 1]);
  const auto half = [&](int shift) {
    return lane_mask([&](int i) {
      return Compare::run(
          Reader::read(static_cast<U16>(a[i] >> shift)),
          Reader::read(static_cast<U16>(b[i] >> shift)));
    });
  };
  return {half(0), half(16)};
}

/// Pairs: the first predicate tells of the low halves, the second of the high.
template <typename Compare, typename Reader>
Flow set_predicate_pair(Warp& warp, const Inst& inst, Mask active) {
  return set_both(
      warp, inst, active, compared_pairs<Compare, Reader>(warp, inst, 2));
}

/// Writes what set gives.
/// @param to lanes. @param holds in which of all lanes the comparison does, not
/// yet combined with the predicate.
template <typename Result>
[[gnu::noinline]] Flow store(
    Warp& warp,
    const Inst& inst,
    Mask to,
    Mask holds) {
  using D = typename Result::Stored;
  D* d = lanes<D>(warp, inst.operands[0]);
  holds = combined(warp, inst, 3, holds);
  for_lanes(d, to, [&](int i) {
    return (holds >> i & 1) != 0 ? Result::kHolds : D{0};
  });
  return Flow::kNext;
}

/// The same for the halves of pairs.
template <typename Result>
[[gnu::noinline]] Flow store(
    Warp& warp,
    const Inst& inst,
    Mask to,
    Halves holds) {
  U32* d = lanes<U32>(warp, inst.operands[0]);
  const Mask low = combined(warp, inst, 3, holds.low);
  const Mask high = combined(warp, inst, 3, holds.high);
  for_lanes(d, to, [&](int i) {
    return ((low >> i & 1) != 0 ? U32{Result::kHolds} : 0) |
        ((high >> i & 1) != 0 ? U32{Result::kHolds} << 16 : 0);
  });
  return Flow::kNext;
}

/// set: a value that says whether the comparison holds.
template <typename Compare, typename Reader, typename Result>
Flow set_value(Warp& warp, const Inst& inst, Mask active) {
  return store<Result>(
      warp, inst, active, compared_for_set<Compare, Reader>(warp, inst, 1));
}

/// set on packed halves: such a value in each half.
template <typename Compare, typename Reader, typename Result>
Flow set_pair(Warp& warp, const Inst& inst, Mask active) {
  return store<Result>(
      warp, inst, active, compared_pairs<Compare, Reader>(warp, inst, 1));
}

/// slct: a where c is not negative, else b.
template <typename T, typename C>
Flow by_sign(Warp& warp, const Inst& inst, Mask active) {
  T* d = lanes<T>(warp, inst.operands[0]);
  const T* a = lanes<T>(warp, inst.operands[1]);
  const T* b = lanes<T>(warp, inst.operands[2]);
  const C* c = lanes<C>(warp, inst.operands[3]);
  for_lanes(d, active, [&](int i) { return c[i] >= 0 ? a[i] : b[i]; });
  return Flow::kNext;
}

/// slct.ftz: the same, where a subnormal c is a zero.
template <typename T>
Flow by_flushed_sign(Warp& warp, const Inst& inst, Mask active) {
  T* d = lanes<T>(warp, inst.operands[0]);
  const T* a = lanes<T>(warp, inst.operands[1]);
  const T* b = lanes<T>(warp, inst.operands[2]);
  const float* c = lanes<float>(warp, inst.operands[3]);
  constexpr float kLeastNormal = 0x1p-126f;
  for_lanes(
      d, active, [&](int i) { return c[i] > -kLeastNormal ? a[i] : b[i]; });
  return Flow::kNext;
}

#define CUDASIM_COMBINED_BY(text, type, operands, by, section, handler) \
  {text "." type, operands, section, handler, kNone},                   \
      {text ".and." type, operands " " by, section, handler, kAnd},     \
      {text ".or." type, operands " " by, section, handler, kOr},       \
      {text ".xor." type, operands " " by, section, handler, kXor},
#define CUDASIM_COMBINED(text, type, operands, section, handler) \
  CUDASIM_COMBINED_BY(text, type, operands, "pred", section, handler)
#define CUDASIM_SETP(name, Compare, type, Reader) \
  CUDASIM_COMBINED(                               \
      "setp." #name,                              \
      type,                                       \
      "=pred_|pred t t",                          \
      "9.7.5",                                    \
      (set_predicate<Compare, Reader>))
#define CUDASIM_SETP_HALF(name, Compare, type, Reader) \
  CUDASIM_COMBINED(                                    \
      "setp." #name,                                   \
      type,                                            \
      "=pred_|- t t",                                  \
      "9.7.6",                                         \
      (set_predicate<Compare, Reader>))
#define CUDASIM_EQUALITY(type, T)         \
  CUDASIM_SETP(eq, Equal, type, Plain<T>) \
  CUDASIM_SETP(ne, NotEqualUnordered, type, Plain<T>)
#define CUDASIM_SIGNED(type, T)               \
  CUDASIM_EQUALITY(type, T)                   \
  CUDASIM_SETP(lt, Less, type, Plain<T>)      \
  CUDASIM_SETP(le, LessEqual, type, Plain<T>) \
  CUDASIM_SETP(gt, Greater, type, Plain<T>)   \
  CUDASIM_SETP(ge, GreaterEqual, type, Plain<T>)
#define CUDASIM_UNSIGNED(type, T)             \
  CUDASIM_SIGNED(type, T)                     \
  CUDASIM_SETP(lo, Less, type, Plain<T>)      \
  CUDASIM_SETP(ls, LessEqual, type, Plain<T>) \
  CUDASIM_SETP(hi, Greater, type, Plain<T>)   \
  CUDASIM_SETP(hs, GreaterEqual, type, Plain<T>)
#define CUDASIM_EACH_FLOAT(use, type, Reader)                                \
  use(eq, Equal, type, Reader) use(ne, NotEqual, type, Reader)               \
      use(lt, Less, type, Reader) use(le, LessEqual, type, Reader)           \
          use(gt, Greater, type, Reader) use(ge, GreaterEqual, type, Reader) \
              use(equ, EqualUnordered, type, Reader)                         \
                  use(neu, NotEqualUnordered, type, Reader)                  \
                      use(ltu, LessUnordered, type, Reader)                  \
                          use(leu, LessEqualUnordered, type, Reader)         \
                              use(gtu, GreaterUnordered, type, Reader) use(  \
                                  geu, GreaterEqualUnordered, type, Reader)  \
                                  use(num, Numbers, type, Reader)            \
                                      use(nan, NotNumbers, type, Reader)
#define CUDASIM_PAIR(name, Compare, type, Reader) \
  CUDASIM_COMBINED(                               \
      "setp." #name,                              \
      type,                                       \
      "=pred_|pred t t",                          \
      "9.7.5",                                    \
      (set_predicate_pair<Compare, Reader>))
// With bfloat16 ptxas takes no constant for the predicate.
#define CUDASIM_SET_TO(name, types, d, by, handler) \
  CUDASIM_COMBINED_BY("set." #name, types, d " t2 t2", by, "9.7.6", handler)
#define CUDASIM_SET_ALL(name, Compare, ftz, type, Reader) \
  CUDASIM_SET_TO(                                         \
      name,                                               \
      ftz "u32." type,                                    \
      "=t1",                                              \
      "pred",                                             \
      (set_value<Compare, Reader, AllOnes>))              \
  CUDASIM_SET_TO(                                         \
      name,                                               \
      ftz "s32." type,                                    \
      "=t1",                                              \
      "pred",                                             \
      (set_value<Compare, Reader, AllOnes>))              \
  CUDASIM_SET_TO(                                         \
      name,                                               \
      ftz "f32." type,                                    \
      "=t1",                                              \
      "pred",                                             \
      (set_value<Compare, Reader, OneFloat>))             \
  CUDASIM_SET_TO(                                         \
      name,                                               \
      ftz "f16." type,                                    \
      "=t1",                                              \
      "pred",                                             \
      (set_value<Compare, Reader, One<Half>>))
#define CUDASIM_SET_FLUSHED(name, Compare, type, Reader) \
  CUDASIM_SET_ALL(name, Compare, "ftz.", type, Reader)
#define CUDASIM_SET(name, Compare, type, Reader)   \
  CUDASIM_SET_ALL(name, Compare, "", type, Reader) \
  CUDASIM_SET_TO(                                  \
      name,                                        \
      "bf16." type,                                \
      "=t1",                                       \
      "pred!",                                     \
      (set_value<Compare, Reader, One<Brain>>))
#define CUDASIM_SET_HALVES(name, Compare, ftz, type, Reader, d, by)            \
  CUDASIM_SET_TO(                                                              \
      name,                                                                    \
      ftz type "." type,                                                       \
      d,                                                                       \
      by,                                                                      \
      (set_value<Compare, Reader, One<Reader::Format>>))                       \
  CUDASIM_SET_TO(                                                              \
      name,                                                                    \
      ftz "u16." type,                                                         \
      "=t1",                                                                   \
      by,                                                                      \
      (set_value<Compare, Reader, AllOnesOf16>))                               \
  CUDASIM_SET_TO(                                                              \
      name,                                                                    \
      ftz "s16." type,                                                         \
      "=t1",                                                                   \
      by,                                                                      \
      (set_value<Compare, Reader, AllOnesOf16>))                               \
  CUDASIM_SET_TO(                                                              \
      name, ftz "u32." type, "=t1", by, (set_value<Compare, Reader, AllOnes>)) \
  CUDASIM_SET_TO(                                                              \
      name, ftz "s32." type, "=t1", by, (set_value<Compare, Reader, AllOnes>))
#define CUDASIM_SET_HALF(name, Compare, type, Reader) \
  CUDASIM_SET_HALVES(name, Compare, "", type, Reader, "=t1", "pred")
#define CUDASIM_SET_HALF_FLUSHED(name, Compare, type, Reader) \
  CUDASIM_SET_HALVES(name, Compare, "ftz.", type, Reader, "=t1", "pred")
#define CUDASIM_SET_BRAIN(name, Compare, type, Reader) \
  CUDASIM_SET_HALVES(name, Compare, "", type, Reader, "=t1", "pred!")
#define CUDASIM_SET_PAIRS(name, Compare, ftz, type, Reader, by) \
  CUDASIM_SET_TO(                                               \
      name,                                                     \
      ftz type "." type,                                        \
      "=t1",                                                    \
      by,                                                       \
      (set_pair<Compare, Reader, One<Reader::Format>>))         \
  CUDASIM_SET_TO(                                               \
      name,                                                     \
      ftz "u32." type,                                          \
      "=t1",                                                    \
      by,                                                       \
      (set_pair<Compare, Reader, AllOnesOf16>))                 \
  CUDASIM_SET_TO(                                               \
      name,                                                     \
      ftz "s32." type,                                          \
      "=t1",                                                    \
      by,                                                       \
      (set_pair<Compare, Reader, AllOnesOf16>))
#define CUDASIM_SET_HALF_PAIR(name, Compare, type, Reader) \
  CUDASIM_SET_PAIRS(name, Compare, "", type, Reader, "pred")
#define CUDASIM_SET_HALF_PAIR_FLUSHED(name, Compare, type, Reader) \
  CUDASIM_SET_PAIRS(name, Compare, "ftz.", type, Reader, "pred")
#define CUDASIM_SET_BRAIN_PAIR(name, Compare, type, Reader) \
  CUDASIM_SET_PAIRS(name, Compare, "", type, Reader, "pred!")
#define CUDASIM_SET_EQUALITY(type, T)    \
  CUDASIM_SET(eq, Equal, type, Plain<T>) \
  CUDASIM_SET(ne, NotEqualUnordered, type, Plain<T>)
#define CUDASIM_SET_SIGNED(type, T)          \
  CUDASIM_SET_EQUALITY(type, T)              \
  CUDASIM_SET(lt, Less, type, Plain<T>)      \
  CUDASIM_SET(le, LessEqual, type, Plain<T>) \
  CUDASIM_SET(gt, Greater, type, Plain<T>)   \
  CUDASIM_SET(ge, GreaterEqual, type, Plain<T>)
#define CUDASIM_SET_UNSIGNED(type, T)        \
  CUDASIM_SET_SIGNED(type, T)                \
  CUDASIM_SET(lo, Less, type, Plain<T>)      \
  CUDASIM_SET(ls, LessEqual, type, Plain<T>) \
  CUDASIM_SET(hi, Greater, type, Plain<T>)   \
  CUDASIM_SET(hs, GreaterEqual, type, Plain<T>)
#define CUDASIM_SLCT(bits, T)                                            \
  {"slct." bits ".s32", "=t1 t1 t1 t2", "9.7.5", by_sign<T, I32>},       \
      {"slct." bits ".f32", "=t1 t1 t1 t2", "9.7.5", by_sign<T, float>}, \
      {"slct.ftz." bits ".f32", "=t1 t1 t1 t2", "9.7.5", by_flushed_sign<T>},

constexpr Entry kEntries[] = {
    // clang-format off
    CUDASIM_SIGNED("s16", I16)
    CUDASIM_SIGNED("s32", I32)
    CUDASIM_SIGNED("s64", I64)
    CUDASIM_UNSIGNED("u16", U16)
    CUDASIM_UNSIGNED("u32", U32)
    CUDASIM_UNSIGNED("u64", U64)
    CUDASIM_EQUALITY("b16", U16)
    CUDASIM_EQUALITY("b32", U32)
    CUDASIM_EQUALITY("b64", U64)
    CUDASIM_EACH_FLOAT(CUDASIM_SETP, "f32", Plain<float>)
    CUDASIM_EACH_FLOAT(CUDASIM_SETP, "ftz.f32", Flushed)
    CUDASIM_EACH_FLOAT(CUDASIM_SETP, "f64", Plain<double>)
    CUDASIM_EACH_FLOAT(CUDASIM_SETP_HALF, "f16", Widened<Half>)
    CUDASIM_EACH_FLOAT(CUDASIM_SETP_HALF, "ftz.f16", WidenedFlushed<Half>)
    CUDASIM_EACH_FLOAT(CUDASIM_SETP_HALF, "bf16", Widened<Brain>)
    CUDASIM_EACH_FLOAT(CUDASIM_PAIR, "f16x2", Widened<Half>)
    CUDASIM_EACH_FLOAT(CUDASIM_PAIR, "ftz.f16x2", WidenedFlushed<Half>)
    CUDASIM_EACH_FLOAT(CUDASIM_PAIR, "bf16x2", Widened<Brain>)
    CUDASIM_EACH_FLOAT(CUDASIM_SET_HALF_PAIR, "f16x2", Widened<Half>)
    CUDASIM_EACH_FLOAT(
        CUDASIM_SET_HALF_PAIR_FLUSHED, "f16x2", WidenedFlushed<Half>)
    CUDASIM_EACH_FLOAT(CUDASIM_SET_BRAIN_PAIR, "bf16x2", Widened<Brain>)
    CUDASIM_EACH_FLOAT(CUDASIM_SET_HALF, "f16", Widened<Half>)
    CUDASIM_EACH_FLOAT(CUDASIM_SET_HALF_FLUSHED, "f16", WidenedFlushed<Half>)
    CUDASIM_EACH_FLOAT(CUDASIM_SET_BRAIN, "bf16", Widened<Brain>)
    CUDASIM_SET_SIGNED("s16", I16)
    CUDASIM_SET_SIGNED("s32", I32)
    CUDASIM_SET_SIGNED("s64", I64)
    CUDASIM_SET_UNSIGNED("u16", U16)
    CUDASIM_SET_UNSIGNED("u32", U32)
    CUDASIM_SET_UNSIGNED("u64", U64)
    CUDASIM_SET_EQUALITY("b16", U16)
    CUDASIM_SET_EQUALITY("b32", U32)
    CUDASIM_SET_EQUALITY("b64", U64)
    CUDASIM_EACH_FLOAT(CUDASIM_SET, "f32", Plain<float>)
    CUDASIM_EACH_FLOAT(CUDASIM_SET_FLUSHED, "f32", Flushed)
    CUDASIM_EACH_FLOAT(CUDASIM_SET, "f64", Plain<double>)
    CUDASIM_SLCT("b16", U16)
    CUDASIM_SLCT("b32", U32)
    CUDASIM_SLCT("b64", U64)
    CUDASIM_SLCT("u16", U16)
    CUDASIM_SLCT("u32", U32)
    CUDASIM_SLCT("u64", U64)
    CUDASIM_SLCT("s16", U16)
    CUDASIM_SLCT("s32", U32)
    CUDASIM_SLCT("s64", U64)
    CUDASIM_SLCT("f32", U32)
    CUDASIM_SLCT("f64", U64)
    // clang-format on
};

} // namespace

Family compare_family() {
  return {
      "compare",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "set:integers setp:integers slct"};
}

} // namespace cudasim::engine::CUDASIM_ISA
