// Comparisons that set predicates. Source: PTX ISA 9.7.6 (setp, set, slct) and
// 9.7.5 (half).
#include "cudasim/engine/instructions/half_types.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

struct Equal {
  template <typename T>
  static bool run(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool run(T a, T b) {
    return a < b || a > b;
  }
};
struct Less {
  template <typename T>
  static bool run(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <typename T>
  static bool run(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool run(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  static bool run(T a, T b) {
    return a >= b;
  }
};
// True when an operand is NaN.
struct EqualUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a < b || a > b);
  }
};
struct NotEqualUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return a != b;
  }
};
struct LessUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a >= b);
  }
};
struct LessEqualUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a > b);
  }
};
struct GreaterUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a <= b);
  }
};
struct GreaterEqualUnordered {
  template <typename T>
  static bool run(T a, T b) {
    return !(a < b);
  }
};
struct Numbers {
  template <typename T>
  static bool run(T a, T b) {
    return a == a && b == b;
  }
};
struct NotNumbers {
  template <typename T>
  static bool run(T a, T b) {
    return a != a || b != b;
  }
};

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

inline Mask combine(Combination combination, Mask a, Mask b) {
  return combination == kAnd ? a & b
      : combination == kOr   ? a | b
      : combination == kXor  ? a ^ b
                             : a;
}

template <typename Compare, typename Reader>
Flow set_predicate(Warp& warp, const Inst& inst, Mask active) {
  using T = typename Reader::Stored;
  const T* a = lanes<T>(warp, inst.operands[2]);
  const T* b = lanes<T>(warp, inst.operands[3]);
  const Mask result = lane_mask([&](int i) {
    return Compare::run(Reader::read(a[i]), Reader::read(b[i]));
  });
  const auto combination = static_cast<Combination>(inst.immediate);
  const Mask other = combination == kNone ? 0 : read_predicate(warp, inst, 4);
  write_predicate(
      warp, inst.operands[0], active, combine(combination, result, other));
  write_predicate(
      warp, inst.operands[1], active, combine(combination, ~result, other));
  return Flow::kNext;
}

/// Pairs: the first predicate tells of the low halves, the second of the high.
template <typename Compare, typename Reader>
Flow set_predicate_pair(Warp& warp, const Inst& inst, Mask active) {
  const U32* a = lanes<U32>(warp, inst.operands[2]);
  const U32* b = lanes<U32>(warp, inst.operands[3]);
  const auto half = [&](int shift) {
    return lane_mask([&](int i) {
      return Compare::run(
          Reader::read(static_cast<U16>(a[i] >> shift)),
          Reader::read(static_cast<U16>(b[i] >> shift)));
    });
  };
  const auto combination = static_cast<Combination>(inst.immediate);
  const Mask other = combination == kNone ? 0 : read_predicate(warp, inst, 4);
  write_predicate(
      warp, inst.operands[0], active, combine(combination, half(0), other));
  write_predicate(
      warp, inst.operands[1], active, combine(combination, half(16), other));
  return Flow::kNext;
}

/// set: a value that says whether the comparison holds.
template <typename Compare, typename Reader, typename Result>
Flow set_value(Warp& warp, const Inst& inst, Mask active) {
  using T = typename Reader::Stored;
  using D = typename Result::Stored;
  D* d = lanes<D>(warp, inst.operands[0]);
  const T* a = lanes<T>(warp, inst.operands[1]);
  const T* b = lanes<T>(warp, inst.operands[2]);
  const auto combination = static_cast<Combination>(inst.immediate);
  Mask result = lane_mask([&](int i) {
    return Compare::run(Reader::read(a[i]), Reader::read(b[i]));
  });
  if (combination != kNone) {
    result = combine(combination, result, read_predicate(warp, inst, 3));
  }
  for_lanes(d, active, [&](int i) {
    return (result >> i & 1) != 0 ? Result::kHolds : D{0};
  });
  return Flow::kNext;
}

/// set on packed halves: such a value in each half.
template <typename Compare, typename Reader, typename Result>
Flow set_pair(Warp& warp, const Inst& inst, Mask active) {
  U32* d = lanes<U32>(warp, inst.operands[0]);
  const U32* a = lanes<U32>(warp, inst.operands[1]);
  const U32* b = lanes<U32>(warp, inst.operands[2]);
  const auto combination = static_cast<Combination>(inst.immediate);
  const Mask other = combination == kNone ? 0 : read_predicate(warp, inst, 3);
  const auto half = [&](int shift) {
    return combine(
        combination,
        lane_mask([&](int i) {
          return Compare::run(
              Reader::read(static_cast<U16>(a[i] >> shift)),
              Reader::read(static_cast<U16>(b[i] >> shift)));
        }),
        other);
  };
  const Mask low = half(0);
  const Mask high = half(16);
  for_lanes(d, active, [&](int i) {
    return ((low >> i & 1) != 0 ? U32{Result::kHolds} : 0) |
        ((high >> i & 1) != 0 ? U32{Result::kHolds} << 16 : 0);
  });
  return Flow::kNext;
}

/// slct: a where c is not negative, else b.
template <typename T, typename C>
Flow choose_by_sign(Warp& warp, const Inst& inst, Mask active) {
  T* d = lanes<T>(warp, inst.operands[0]);
  const T* a = lanes<T>(warp, inst.operands[1]);
  const T* b = lanes<T>(warp, inst.operands[2]);
  const C* c = lanes<C>(warp, inst.operands[3]);
  for_lanes(d, active, [&](int i) { return c[i] >= 0 ? a[i] : b[i]; });
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
      "=pred|pred t t",                           \
      "9.7.5",                                    \
      (set_predicate<Compare, Reader>))
#define CUDASIM_SETP_HALF(name, Compare, type, Reader) \
  CUDASIM_COMBINED(                                    \
      "setp." #name,                                   \
      type,                                            \
      "=pred|- t t",                                   \
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
      "=pred|pred t t",                           \
      "9.7.5",                                    \
      (set_predicate_pair<Compare, Reader>))
// What ptxas takes with bfloat16: no constant for the predicate, and for a
// result of that type a register of .u16, too.
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
      "=u16",                                      \
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
  CUDASIM_SET_HALVES(name, Compare, "", type, Reader, "=u16", "pred!")
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
#define CUDASIM_SLCT(bits, T)                                             \
  {"slct." bits ".s32", "=t1 t1 t1 t2", "9.7.5", choose_by_sign<T, I32>}, \
      {"slct." bits ".f32",                                               \
       "=t1 t1 t1 t2",                                                    \
       "9.7.5",                                                           \
       choose_by_sign<T, float>},

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
    CUDASIM_SLCT("u32", U32)
    CUDASIM_SLCT("s32", U32)
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
      "set:integers setp:integers slct:integers"};
}

} // namespace cudasim::engine::CUDASIM_ISA
