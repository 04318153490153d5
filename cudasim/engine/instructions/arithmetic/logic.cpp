// Logic, shifts, moves and permutations. Source: PTX ISA 9.7.8 (logic and
// shift), 9.7.9 (data movement), 9.7.17 (video).
#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

struct And {
  template <typename T>
  static T run(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T run(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T run(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <typename T>
  static T run(T a) {
    return static_cast<T>(~a);
  }
};
struct LogicalNot {
  template <typename T>
  static T run(T a) {
    return a == 0 ? 1 : 0;
  }
};
struct Move {
  template <typename T>
  static T run(T a) {
    return a;
  }
};
// Amounts beyond the width are clamped to it.
struct ShiftLeft {
  template <typename T>
  static T run(T a, U32 b) {
    return b >= sizeof(T) * 8 ? 0 : static_cast<T>(static_cast<U64>(a) << b);
  }
};
struct ShiftRight {
  template <typename T>
  static T run(T a, U32 b) {
    const U32 most = sizeof(T) * 8 - 1;
    const bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    return b > most ? (is_signed ? static_cast<T>(a >> most) : 0)
                    : static_cast<T>(a >> b);
  }
};
template <bool kLeft, bool kWrap>
struct Funnel {
  static U32 run(U32 a, U32 b, U32 c) {
    const U32 amount = kWrap ? c & 31 : c < 32 ? c : 32;
    const U64 both = static_cast<U64>(b) << 32 | a;
    return static_cast<U32>(kLeft ? (both << amount) >> 32 : both >> amount);
  }
};
/// Any function of three bits, by its truth table.
Flow table_of_three(
    Warp& warp,
    const Inst& inst,
    Mask active,
    int first,
    U32* d) {
  const U32* a = lanes<U32>(warp, inst.operands[first]);
  const U32* b = lanes<U32>(warp, inst.operands[first + 1]);
  const U32* c = lanes<U32>(warp, inst.operands[first + 2]);
  const U32 table = lanes<U32>(warp, inst.operands[first + 3])[0];
  for_lanes(d, active, [&](int i) {
    U32 result = 0;
    for (U32 row = 0; row < 8; ++row) {
      const U32 on = 0u - (table >> row & 1);
      result |= on & ((row & 4) != 0 ? a[i] : ~a[i]) &
          ((row & 2) != 0 ? b[i] : ~b[i]) & ((row & 1) != 0 ? c[i] : ~c[i]);
    }
    return result;
  });
  return Flow::kNext;
}
Flow lop3(Warp& warp, const Inst& inst, Mask active) {
  return table_of_three(
      warp, inst, active, 1, lanes<U32>(warp, inst.operands[0]));
}
/// The same, and whether any bit is set, joined with a predicate.
template <typename Op>
Flow lop3_and_test(Warp& warp, const Inst& inst, Mask active) {
  // A place of its own: the predicate is that of the lanes that take part.
  U32 result[kLanes];
  table_of_three(warp, inst, kAllLanes, 2, result);
  const Mask set = lane_mask([&](int i) { return result[i] != 0; });
  const Mask with = read_predicate(warp, inst, 6);
  for_lanes(lanes<U32>(warp, inst.operands[0]), active, [&](int i) {
    return result[i];
  });
  write_predicate(warp, inst.operands[1], active, Op::run(set, with));
  return Flow::kNext;
}

enum PermuteMode {
  kBytes,
  kForward4,
  kBackward4,
  kReplicate8,
  kEdgeLeft,
  kEdgeRight,
  kReplicate16
};

template <PermuteMode kMode>
struct Permute {
  static U32 run(U32 a, U32 b, U32 c) {
    const U64 both = static_cast<U64>(b) << 32 | a;
    U32 result = 0;
    for (U32 i = 0; i < 4; ++i) {
      U32 pick = 0;
      bool sign = false;
      const U32 s = c & 3;
      switch (kMode) {
        case kBytes:
          pick = c >> (4 * i) & 7;
          sign = (c >> (4 * i) & 8) != 0;
          break;
        case kForward4:
          pick = (s + i) & 7;
          break;
        case kBackward4:
          pick = (s - i) & 7;
          break;
        case kReplicate8:
          pick = s;
          break;
        case kEdgeLeft:
          pick = i > s ? i : s;
          break;
        case kEdgeRight:
          pick = i < s ? i : s;
          break;
        case kReplicate16:
          pick = (s & 1) * 2 + (i & 1);
          break;
      }
      U32 byte = static_cast<U32>(both >> (8 * pick)) & 0xff;
      if (sign) {
        byte = (byte & 0x80) != 0 ? 0xff : 0;
      }
      result |= byte << (8 * i);
    }
    return result;
  }
};

// Predicates are one bit a lane.
template <typename Op>
Flow predicate_binary(Warp& warp, const Inst& inst, Mask active) {
  write_predicate(
      warp,
      inst.operands[0],
      active,
      Op::run(read_predicate(warp, inst, 1), read_predicate(warp, inst, 2)));
  return Flow::kNext;
}
template <bool kInvert>
Flow predicate_unary(Warp& warp, const Inst& inst, Mask active) {
  const Mask value = read_predicate(warp, inst, 1);
  write_predicate(warp, inst.operands[0], active, kInvert ? ~value : value);
  return Flow::kNext;
}

U64 read_lane(Warp& warp, Slot slot, int width, int i) {
  switch (width) {
    case 2:
      return lanes<U16>(warp, slot)[i];
    case 4:
      return lanes<U32>(warp, slot)[i];
    default:
      return lanes<U64>(warp, slot)[i];
  }
}
void write_lane(Warp& warp, Slot slot, int width, int i, U64 value) {
  switch (width) {
    case 2:
      lanes<U16>(warp, slot)[i] = static_cast<U16>(value);
      return;
    case 4:
      lanes<U32>(warp, slot)[i] = static_cast<U32>(value);
      return;
    default:
      lanes<U64>(warp, slot)[i] = value;
  }
}

/// mov between a register and a vector of smaller ones, or of one width.
template <typename T>
Flow move(Warp& warp, const Inst& inst, Mask active) {
  const int targets = inst.destinations;
  int operands = 0;
  while (operands < kOperands &&
         (operands < targets + 1 || inst.operands[operands] != kNoSlot)) {
    ++operands;
  }
  const int sources = operands - targets;
  if (targets == 1 && sources == 1 && inst.widths[0] == sizeof(T) &&
      inst.widths[1] == sizeof(T)) {
    return unary<Move, T>(warp, inst, active);
  }
  const int target_bits =
      targets == 1 ? 64 : static_cast<int>(sizeof(T)) * 8 / targets;
  const int source_bits =
      sources == 1 ? 64 : static_cast<int>(sizeof(T)) * 8 / sources;
  for (int i = 0; i < kLanes; ++i) {
    if ((active >> i & 1) == 0) {
      continue;
    }
    U64 value = 0;
    for (int k = 0; k < sources; ++k) {
      U64 part = read_lane(
          warp, inst.operands[targets + k], inst.widths[targets + k], i);
      if (source_bits < 64) {
        part &= (1ull << source_bits) - 1;
        value |= part << (k * source_bits);
      } else {
        value = part;
      }
    }
    for (int k = 0; k < targets; ++k) {
      if (inst.operands[k] != kNoSlot) {
        U64 part = value;
        if (target_bits < 64) {
          part = part >> (k * target_bits) & ((1ull << target_bits) - 1);
        }
        write_lane(warp, inst.operands[k], inst.widths[k], i, part);
      }
    }
  }
  return Flow::kNext;
}

/// mov between a register of 128 bits and kParts smaller ones.
template <typename T, int kParts, bool kPack>
Flow move_parts(Warp& warp, const Inst& inst, Mask active) {
  T* whole = lanes<T>(warp, inst.operands[kPack ? 0 : kParts]);
  for (int k = 0; k < kParts; ++k) {
    T* part = lanes<T>(warp, inst.operands[kPack ? 1 + k : k]);
    for (Mask left = active; left != 0; left &= left - 1) {
      const int i = __builtin_ctz(left);
      T& piece = whole[i * kParts + k];
      (kPack ? piece : part[i]) = kPack ? part[i] : piece;
    }
  }
  return Flow::kNext;
}
Flow move_whole(Warp& warp, const Inst& inst, Mask active) {
  U64* d = lanes<U64>(warp, inst.operands[0]);
  const U64* a = lanes<U64>(warp, inst.operands[1]);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    d[2 * i] = a[2 * i];
    d[2 * i + 1] = a[2 * i + 1];
  }
  return Flow::kNext;
}

/// selp: a where the predicate is set, else b.
template <typename T>
Flow select(Warp& warp, const Inst& inst, Mask active) {
  T* d = lanes<T>(warp, inst.operands[0]);
  const T* a = lanes<T>(warp, inst.operands[1]);
  const T* b = lanes<T>(warp, inst.operands[2]);
  const Mask chosen = read_predicate(warp, inst, 3);
  for_lanes(
      d, active, [&](int i) { return (chosen >> i & 1) != 0 ? a[i] : b[i]; });
  return Flow::kNext;
}

/// vshr.dtype.atype.btype{.clamp|.wrap}.op d, a, b, c: (a >> b) op c.
template <typename T, bool kClamp, int kOp>
struct VideoShiftRight {
  static U32 run(T a, U32 b, U32 c) {
    const U32 amount = kClamp ? (b > 32 ? 32 : b) : b & 31;
    const U32 shifted = amount >= 32 ? (a < 0 ? 0xffffffffu : 0)
                                     : static_cast<U32>(a >> amount);
    return kOp == 0 ? shifted + c
        : kOp == 1
        ? (static_cast<T>(shifted) < static_cast<T>(c) ? shifted : c)
        : (static_cast<T>(shifted) > static_cast<T>(c) ? shifted : c);
  }
};
template <bool kClamp, int kOp>
struct VideoShiftLeft {
  static U32 run(U32 a, U32 b, U32 c) {
    const U32 amount = kClamp ? (b > 32 ? 32 : b) : b & 31;
    const U32 shifted = amount >= 32 ? 0 : a << amount;
    return kOp == 0 ? shifted + c
        : kOp == 1  ? (shifted < c ? shifted : c)
                    : (shifted > c ? shifted : c);
  }
};

/// cvt.pack: two numbers of 32 bits, cut to what fits, beside each other, and
/// what was there is moved up (PTX ISA 9.7.8.23).
template <int kBits, bool kSigned>
struct PackTwo {
  static U32 fit(I32 value) {
    constexpr I32 kLow = kSigned ? -(1 << (kBits - 1)) : 0;
    constexpr I32 kHigh = (1 << (kSigned ? kBits - 1 : kBits)) - 1;
    const I32 fitting = value < kLow ? kLow : value > kHigh ? kHigh : value;
    return static_cast<U32>(fitting) & ((1u << kBits) - 1);
  }
  static U32 run(I32 a, I32 b) {
    return fit(a) << kBits | fit(b);
  }
  static U32 run(I32 a, I32 b, U32 before) {
    return before << (2 * kBits) | run(a, b);
  }
};

#define CUDASIM_LOGIC(bits, T)                                             \
  {"and.b" #bits, "binary", "9.7.7", binary<And, T>},                      \
      {"or.b" #bits, "binary", "9.7.7", binary<Or, T>},                    \
      {"xor.b" #bits, "binary", "9.7.7", binary<Xor, T>},                  \
      {"not.b" #bits, "unary", "9.7.7", unary<Not, T>},                    \
      {"cnot.b" #bits, "unary", "9.7.7", unary<LogicalNot, T>},            \
      {"shl.b" #bits, "=t t u32", "9.7.7", binary<ShiftLeft, T, T, U32>},  \
      {"shr.b" #bits, "=t t u32", "9.7.7", binary<ShiftRight, T, T, U32>}, \
      {"shr.u" #bits, "=t t u32", "9.7.7", binary<ShiftRight, T, T, U32>}, \
      {"shr.s" #bits,                                                      \
       "=t t u32",                                                         \
       "9.7.7",                                                            \
       binary<ShiftRight, I##bits, I##bits, U32>},                         \
      {"mov.b" #bits, "=t t%&", "9.7.8", move<T>},                         \
      {"mov.u" #bits, "=t t%&", "9.7.8", move<T>},                         \
      {"mov.s" #bits, "=t t%&", "9.7.8", move<T>},                         \
      {"selp.b" #bits, "=t t t pred", "9.7.5", select<T>},                 \
      {"selp.u" #bits, "=t t t pred", "9.7.5", select<T>},                 \
      {"selp.s" #bits, "=t t t pred", "9.7.5", select<T>},
#define CUDASIM_PACK(whole, count, part, T)                       \
  {"mov." #whole, "=t {" #count "*" #part "}", "9.7.8", move<T>}, \
      {"mov." #whole, "{" #count "*=" #part "_} t", "9.7.8", move<T>},
#define CUDASIM_PACK_WHOLE(count, part, T) \
  {"mov.b128",                             \
   "=t {" #count "*" #part "}",            \
   "9.7.8",                                \
   move_parts<T, count, true>},            \
      {"mov.b128",                         \
       "{" #count "*=" #part "_} t!",      \
       "9.7.8",                            \
       move_parts<T, count, false>},
#define CUDASIM_VIDEO(op, number)                                        \
  {"vshr.u32.u32.u32.clamp." #op,                                        \
   "=t1 t2 t3 u32",                                                      \
   "9.7.17",                                                             \
   ternary<VideoShiftRight<U32, true, number>, U32>},                    \
      {"vshr.u32.u32.u32.wrap." #op,                                     \
       "=t1 t2 t3 u32",                                                  \
       "9.7.17",                                                         \
       ternary<VideoShiftRight<U32, false, number>, U32>},               \
      {"vshr.s32.s32.u32.clamp." #op,                                    \
       "=t1 t2 t3 u32",                                                  \
       "9.7.17",                                                         \
       ternary<VideoShiftRight<I32, true, number>, U32, I32, U32, U32>}, \
      {"vshl.u32.u32.u32.clamp." #op,                                    \
       "=t1 t2 t3 u32",                                                  \
       "9.7.17",                                                         \
       ternary<VideoShiftLeft<true, number>, U32>},                      \
      {"vshl.u32.u32.u32.wrap." #op,                                     \
       "=t1 t2 t3 u32",                                                  \
       "9.7.17",                                                         \
       ternary<VideoShiftLeft<false, number>, U32>},

#define CUDASIM_PACK_MORE(name, bits, is_signed) \
  {"cvt.pack.sat." #name ".s32.b32",             \
   "=b32~ s32~ s32~ b32~",                       \
   "9.7.8",                                      \
   ternary<PackTwo<bits, is_signed>, U32, I32, I32, U32>},

constexpr Entry kEntries[] = {
    CUDASIM_LOGIC(16, U16) CUDASIM_LOGIC(32, U32)
        CUDASIM_LOGIC(64, U64){"mov.f32", "=t t%&", "9.7.8", move<U32>},
    {"mov.f64", "=t t%&", "9.7.8", move<U64>},
    {"selp.f32", "=t t t pred", "9.7.5", select<U32>},
    {"selp.f64", "=t t t pred", "9.7.5", select<U64>},
    {"shf.l.wrap.b32", "=t t t u32", "9.7.7", ternary<Funnel<true, true>, U32>},
    {"shf.l.clamp.b32",
     "=t t t u32",
     "9.7.7",
     ternary<Funnel<true, false>, U32>},
    {"shf.r.wrap.b32",
     "=t t t u32",
     "9.7.7",
     ternary<Funnel<false, true>, U32>},
    {"shf.r.clamp.b32",
     "=t t t u32",
     "9.7.7",
     ternary<Funnel<false, false>, U32>},
    {"lop3.b32", "=t t t t #u32", "9.7.7", lop3},
    {"lop3.or.b32", "=t_|pred! t t t #u32 pred", "9.7.7", lop3_and_test<Or>},
    {"lop3.and.b32", "=t_|pred! t t t #u32 pred", "9.7.7", lop3_and_test<And>},
    {"prmt.b32", "ternary", "9.7.8", ternary<Permute<kBytes>, U32>},
    {"prmt.b32.f4e", "ternary", "9.7.8", ternary<Permute<kForward4>, U32>},
    {"prmt.b32.b4e", "ternary", "9.7.8", ternary<Permute<kBackward4>, U32>},
    {"prmt.b32.rc8", "ternary", "9.7.8", ternary<Permute<kReplicate8>, U32>},
    {"prmt.b32.ecl", "ternary", "9.7.8", ternary<Permute<kEdgeLeft>, U32>},
    {"prmt.b32.ecr", "ternary", "9.7.8", ternary<Permute<kEdgeRight>, U32>},
    {"prmt.b32.rc16", "ternary", "9.7.8", ternary<Permute<kReplicate16>, U32>},
    {"cvt.pack.sat.u16.s32",
     "=b32~ s32~ s32~",
     "9.7.8",
     binary<PackTwo<16, false>, U32, I32, I32>},
    {"cvt.pack.sat.s16.s32",
     "=b32~ s32~ s32~",
     "9.7.8",
     binary<PackTwo<16, true>, U32, I32, I32>},
    CUDASIM_PACK_MORE(u8, 8, false) CUDASIM_PACK_MORE(s8, 8, true)
        CUDASIM_PACK_MORE(u4, 4, false) CUDASIM_PACK_MORE(s4, 4, true)
            CUDASIM_PACK_MORE(u2, 2, false) CUDASIM_PACK_MORE(s2, 2, true)
    // Packing and unpacking (PTX ISA 9.7.8.4).
    CUDASIM_PACK(b16, 2, b8, U16) CUDASIM_PACK(b32, 2, b16, U32)
        CUDASIM_PACK(b32, 4, b8, U32) CUDASIM_PACK(b64, 2, b32, U64)
            CUDASIM_PACK(b64, 4, b16, U64) CUDASIM_PACK_WHOLE(2, b64, U64)
                CUDASIM_PACK_WHOLE(
                    4,
                    b32,
                    U32){"mov.b128", "=t t!", "9.7.8", move_whole},
    {"and.pred", "binary", "9.7.7", predicate_binary<And>},
    {"or.pred", "binary", "9.7.7", predicate_binary<Or>},
    {"xor.pred", "binary", "9.7.7", predicate_binary<Xor>},
    {"not.pred", "unary", "9.7.7", predicate_unary<true>},
    {"mov.pred", "unary", "9.7.8", predicate_unary<false>},
    CUDASIM_VIDEO(add, 0) CUDASIM_VIDEO(min, 1) CUDASIM_VIDEO(max, 2)};

} // namespace

Family logic_family() {
  return {
      "logic",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "and cnot lop3 not or prmt selp shf shl shr xor"};
}

} // namespace cudasim::engine::CUDASIM_ISA
