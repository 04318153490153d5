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
  static float read(U16 x) {
    return F::widen(x);
  }
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
template <typename Compare, typename F>
Flow set_predicate_pair(Warp& warp, const Inst& inst, Mask active) {
  const U32* a = lanes<U32>(warp, inst.operands[2]);
  const U32* b = lanes<U32>(warp, inst.operands[3]);
  const auto half = [&](int shift) {
    return lane_mask([&](int i) {
      return Compare::run(
          F::widen(static_cast<U16>(a[i] >> shift)),
          F::widen(static_cast<U16>(b[i] >> shift)));
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

/// set: all ones or 1.0 where the comparison holds, else 0.
template <typename Compare, typename Reader, bool kFloat>
Flow set_value(Warp& warp, const Inst& inst, Mask active) {
  using T = typename Reader::Stored;
  U32* d = lanes<U32>(warp, inst.operands[0]);
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
    return (result >> i & 1) != 0 ? (kFloat ? 0x3f800000u : 0xffffffffu) : 0u;
  });
  return Flow::kNext;
}

/// set on packed halves: 1.0 or all ones in each half where it holds.
template <typename Compare, typename F, bool kFloat>
Flow set_pair(Warp& warp, const Inst& inst, Mask active) {
  U32* d = lanes<U32>(warp, inst.operands[0]);
  const U32* a = lanes<U32>(warp, inst.operands[1]);
  const U32* b = lanes<U32>(warp, inst.operands[2]);
  const U32 one = kFloat ? F::narrow(1.0f) : 0xffffu;
  for_lanes(d, active, [&](int i) {
    U32 result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
      const bool holds = Compare::run(
          F::widen(static_cast<U16>(a[i] >> shift)),
          F::widen(static_cast<U16>(b[i] >> shift)));
      result |= (holds ? one : 0) << shift;
    }
    return result;
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

#define CUDASIM_COMBINED(text, type, operands, section, handler)     \
  {text "." type, operands, section, handler, kNone},                \
      {text ".and." type, operands " pred", section, handler, kAnd}, \
      {text ".or." type, operands " pred", section, handler, kOr},   \
      {text ".xor." type, operands " pred", section, handler, kXor},
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
#define CUDASIM_PAIR(name, Compare, type, F) \
  CUDASIM_COMBINED(                          \
      "setp." #name,                         \
      type,                                  \
      "=pred|pred t t",                      \
      "9.7.5",                               \
      (set_predicate_pair<Compare, F>))
#define CUDASIM_SET(name, Compare, type, Reader) \
  CUDASIM_COMBINED(                              \
      "set." #name,                              \
      "u32." type,                               \
      "=t1 t2 t2",                               \
      "9.7.5",                                   \
      (set_value<Compare, Reader, false>))       \
  CUDASIM_COMBINED(                              \
      "set." #name,                              \
      "s32." type,                               \
      "=t1 t2 t2",                               \
      "9.7.5",                                   \
      (set_value<Compare, Reader, false>))       \
  CUDASIM_COMBINED(                              \
      "set." #name,                              \
      "f32." type,                               \
      "=t1 t2 t2",                               \
      "9.7.5",                                   \
      (set_value<Compare, Reader, true>))
#define CUDASIM_SET_PAIR(name, Compare, type, F) \
  {"set." #name "." type "." type,               \
   "=t1 t2 t2",                                  \
   "9.7.6",                                      \
   set_pair<Compare, F, true>},                  \
      {"set." #name ".u32." type,                \
       "=t1 t2 t2",                              \
       "9.7.6",                                  \
       set_pair<Compare, F, false>},
#define CUDASIM_SET_INTEGER(type, T)                 \
  CUDASIM_SET(eq, Equal, type, Plain<T>)             \
  CUDASIM_SET(ne, NotEqualUnordered, type, Plain<T>) \
  CUDASIM_SET(lt, Less, type, Plain<T>)              \
  CUDASIM_SET(le, LessEqual, type, Plain<T>)         \
  CUDASIM_SET(gt, Greater, type, Plain<T>)           \
  CUDASIM_SET(ge, GreaterEqual, type, Plain<T>)
#define CUDASIM_SLCT(bits, T)                                             \
  {"slct." bits ".s32", "=t1 t1 t1 t2", "9.7.5", choose_by_sign<T, I32>}, \
      {"slct." bits ".f32",                                               \
       "=t1 t1 t1 t2",                                                    \
       "9.7.5",                                                           \
       choose_by_sign<T, float>},

constexpr Entry kEntries[] = {
    CUDASIM_SIGNED("s16", I16) CUDASIM_SIGNED("s32", I32) CUDASIM_SIGNED(
        "s64",
        I64) CUDASIM_UNSIGNED("u16", U16) CUDASIM_UNSIGNED("u32", U32)
        CUDASIM_UNSIGNED("u64", U64) CUDASIM_EQUALITY(
            "b16",
            U16) CUDASIM_EQUALITY("b32", U32) CUDASIM_EQUALITY("b64", U64)
            CUDASIM_EACH_FLOAT(CUDASIM_SETP, "f32", Plain<float>) CUDASIM_EACH_FLOAT(
                CUDASIM_SETP,
                "ftz.f32",
                Flushed) CUDASIM_EACH_FLOAT(CUDASIM_SETP, "f64", Plain<double>)
                CUDASIM_EACH_FLOAT(CUDASIM_SETP_HALF, "f16", Widened<Half>)
                    CUDASIM_EACH_FLOAT(
                        CUDASIM_SETP_HALF,
                        "bf16",
                        Widened<
                            Brain>) CUDASIM_EACH_FLOAT(CUDASIM_PAIR, "f16x2", Half)
                        CUDASIM_EACH_FLOAT(
                            CUDASIM_PAIR,
                            "bf16x2",
                            Brain) CUDASIM_EACH_FLOAT(CUDASIM_SET_PAIR, "f16x2", Half)
                            CUDASIM_EACH_FLOAT(
                                CUDASIM_SET_PAIR,
                                "bf16x2",
                                Brain) CUDASIM_SET_INTEGER("s32", I32)
                                CUDASIM_SET_INTEGER(
                                    "u32",
                                    U32) CUDASIM_SET_INTEGER("s64", I64)
                                    CUDASIM_SET_INTEGER("u64", U64)
                                        CUDASIM_EACH_FLOAT(
                                            CUDASIM_SET,
                                            "f32",
                                            Plain<float>)
                                            CUDASIM_EACH_FLOAT(
                                                CUDASIM_SET,
                                                "f64",
                                                Plain<double>)
                                                CUDASIM_SLCT(
                                                    "b16",
                                                    U16) CUDASIM_SLCT("b32", U32)
                                                    CUDASIM_SLCT("b64", U64)
                                                        CUDASIM_SLCT("u32", U32)
                                                            CUDASIM_SLCT(
                                                                "s32",
                                                                U32)
                                                                CUDASIM_SLCT(
                                                                    "f32",
                                                                    U32)
                                                                    CUDASIM_SLCT(
                                                                        "f64",
                                                                        U64)};

} // namespace

Family compare_family() {
  return {"compare", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
