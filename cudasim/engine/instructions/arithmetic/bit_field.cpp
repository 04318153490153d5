// Fields of bits: taken out, put in, extended, masks of them. Source: PTX ISA
// 9.7.1.
#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

struct Reverse {
  template <typename T>
  static T run(T a) {
    U64 v = a;
    v = (v >> 1 & 0x5555555555555555ull) | (v & 0x5555555555555555ull) << 1;
    v = (v >> 2 & 0x3333333333333333ull) | (v & 0x3333333333333333ull) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0full) | (v & 0x0f0f0f0f0f0f0f0full) << 4;
    v = __builtin_bswap64(v);
    return static_cast<T>(v >> (64 - 8 * sizeof(T)));
  }
};
/// The n-th set bit from `base` on, upwards or downwards.
struct FindNthSet {
  static U32 run(U32 mask, U32 base, I32 n) {
    const I32 step = n < 0 ? -1 : 1;
    U32 left = n < 0 ? 0u - static_cast<U32>(n) : static_cast<U32>(n);
    if (left == 0) {
      return base < 32 && (mask >> base & 1) != 0 ? base : ~0u;
    }
    for (U32 position = base; position < 32; position += step) {
      left -= mask >> position & 1;
      if (left == 0) {
        return position;
      }
    }
    return ~0u;
  }
};
template <typename T>
struct Extract {
  static T run(T a, U32 position, U32 length) {
    constexpr U32 kBits = sizeof(T) * 8;
    const bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    const U32 begin = position & 0xff;
    const U32 count = length & 0xff;
    if (count == 0) {
      return 0;
    }
    const U64 mask = count >= 64 ? ~0ull : (1ull << count) - 1;
    // Bits beyond the end are copies of the sign, which is the last bit of
    // the field that is there.
    const U32 last =
        begin + count - 1 < kBits - 1 ? begin + count - 1 : kBits - 1;
    const bool negative = is_signed && (static_cast<U64>(a) >> last & 1) != 0;
    const U64 whole = sizeof(T) == 4 ? static_cast<U64>(static_cast<U32>(a))
                                     : static_cast<U64>(a);
    U64 field = begin >= kBits ? 0 : whole >> begin & mask;
    const U32 there = begin >= kBits ? 0 : last - begin + 1;
    if (negative && there < 64) {
      field |= ~0ull << there;
    }
    return static_cast<T>(field);
  }
};
template <typename T>
struct Insert {
  static T run(T a, T b, U32 position, U32 length) {
    const U32 begin = position & 0xff;
    const U32 count = length & 0xff;
    if (begin >= sizeof(T) * 8 || count == 0) {
      return b;
    }
    const U64 ones = count >= 64 ? ~0ull : (1ull << count) - 1;
    const T mask = static_cast<T>(ones << begin);
    return static_cast<T>(
        (b & ~mask) | (static_cast<T>(static_cast<U64>(a) << begin) & mask));
  }
};
template <typename T>
Flow insert(Warp& warp, const Inst& inst, Mask active) {
  T* d = lanes<T>(warp, inst.operands[0]);
  const T* a = lanes<T>(warp, inst.operands[1]);
  const T* b = lanes<T>(warp, inst.operands[2]);
  const U32* c = lanes<U32>(warp, inst.operands[3]);
  const U32* e = lanes<U32>(warp, inst.operands[4]);
  for_lanes(
      d, active, [&](int i) { return Insert<T>::run(a[i], b[i], c[i], e[i]); });
  return Flow::kNext;
}

/// The bits of a below position b, extended by the last of them or by zeros.
template <typename T, bool kClamp>
struct Extend {
  static T run(T a, U32 b) {
    if (kClamp && b >= 32) {
      return a;
    }
    const U32 count = b & 31;
    if (count == 0) {
      return 0;
    }
    // To the upper end and back: the type says what comes from there.
    const U32 lifted = static_cast<U32>(a) << (32 - count);
    return static_cast<T>(lifted) >> (32 - count);
  }
};
/// So many ones from a position on.
template <bool kClamp>
struct MaskOfBits {
  static U32 run(U32 position, U32 width) {
    if (kClamp && position >= 32) {
      return 0;
    }
    const U32 begin = position & 31;
    const U32 count = kClamp && width >= 32 ? 32 : width & 31;
    return static_cast<U32>(((1ull << count) - 1) << begin);
  }
};

#define CUDASIM_FIELD(bits)                                    \
  {"brev.b" #bits, "unary", "9.7.1", unary<Reverse, U##bits>}, \
      {"bfe.u" #bits,                                          \
       "=t t u32:0..255 u32:0..255",                           \
       "9.7.1",                                                \
       ternary<Extract<U##bits>, U##bits, U##bits, U32, U32>}, \
      {"bfe.s" #bits,                                          \
       "=t t u32:0..255 u32:0..255",                           \
       "9.7.1",                                                \
       ternary<Extract<I##bits>, I##bits, I##bits, U32, U32>}, \
      {"bfi.b" #bits,                                          \
       "=t t t u32:0..255 u32:0..255",                         \
       "9.7.1",                                                \
       insert<U##bits>},
#define CUDASIM_EXTEND(mode, kClamp)                \
  {"szext." #mode ".u32",                           \
   "=t t u32",                                      \
   "9.7.1",                                         \
   binary<Extend<U32, kClamp>, U32>},               \
      {"szext." #mode ".s32",                       \
       "=t t u32",                                  \
       "9.7.1",                                     \
       binary<Extend<I32, kClamp>, I32, I32, U32>}, \
      {"bmsk." #mode ".b32",                        \
       "=t u32 u32",                                \
       "9.7.1",                                     \
       binary<MaskOfBits<kClamp>, U32>},

constexpr Entry kEntries[] = {CUDASIM_FIELD(32) CUDASIM_FIELD(
    64) CUDASIM_EXTEND(clamp, true) CUDASIM_EXTEND(wrap, false){
    "fns.b32",
    "ternary",
    "9.7.1",
    ternary<FindNthSet, U32, U32, U32, I32>}};

} // namespace

Family bit_field_family() {
  return {
      "bit_field",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "bfe bfi bmsk brev szext"};
}

} // namespace cudasim::engine::CUDASIM_ISA
