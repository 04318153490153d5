// Integer arithmetic. Source: PTX ISA 9.7.1.
#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

template <typename T>
struct UnsignedOf;
template <>
struct UnsignedOf<I8> {
  using Type = U8;
};
template <>
struct UnsignedOf<U8> {
  using Type = U8;
};
template <>
struct UnsignedOf<I16> {
  using Type = U16;
};
template <>
struct UnsignedOf<U16> {
  using Type = U16;
};
template <>
struct UnsignedOf<I32> {
  using Type = U32;
};
template <>
struct UnsignedOf<U32> {
  using Type = U32;
};
template <>
struct UnsignedOf<I64> {
  using Type = U64;
};
template <>
struct UnsignedOf<U64> {
  using Type = U64;
};

template <typename T>
using Unsigned = typename UnsignedOf<T>::Type;

template <typename T>
constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);

struct Add {
  template <typename T>
  static T run(T a, T b) {
    return static_cast<T>(
        static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
  }
};
struct Subtract {
  template <typename T>
  static T run(T a, T b) {
    return static_cast<T>(
        static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
  }
};
struct AddSaturated {
  static I32 run(I32 a, I32 b) {
    const I64 sum = static_cast<I64>(a) + b;
    return static_cast<I32>(
        sum > 0x7fffffff          ? 0x7fffffff
            : sum < -0x80000000ll ? -0x80000000ll
                                  : sum);
  }
};
struct SubtractSaturated {
  static I32 run(I32 a, I32 b) {
    const I64 difference = static_cast<I64>(a) - b;
    return static_cast<I32>(
        difference > 0x7fffffff          ? 0x7fffffff
            : difference < -0x80000000ll ? -0x80000000ll
                                         : difference);
  }
};
struct MultiplyLow {
  template <typename T>
  static T run(T a, T b) {
    return static_cast<T>(static_cast<U64>(a) * static_cast<U64>(b));
  }
};
struct MultiplyHigh {
  static I16 run(I16 a, I16 b) {
    return static_cast<I16>((static_cast<I32>(a) * b) >> 16);
  }
  static U16 run(U16 a, U16 b) {
    return static_cast<U16>((static_cast<U32>(a) * b) >> 16);
  }
  static I32 run(I32 a, I32 b) {
    return static_cast<I32>((static_cast<I64>(a) * b) >> 32);
  }
  static U32 run(U32 a, U32 b) {
    return static_cast<U32>((static_cast<U64>(a) * b) >> 32);
  }
  static I64 run(I64 a, I64 b) {
    return static_cast<I64>((static_cast<__int128>(a) * b) >> 64);
  }
  static U64 run(U64 a, U64 b) {
    return static_cast<U64>((static_cast<unsigned __int128>(a) * b) >> 64);
  }
};
template <typename Wide>
struct MultiplyWide {
  template <typename T>
  static Wide run(T a, T b) {
    return static_cast<Wide>(a) * static_cast<Wide>(b);
  }
};
struct MadLow {
  template <typename T>
  static T run(T a, T b, T c) {
    return Add::run(MultiplyLow::run(a, b), c);
  }
};
struct MadHigh {
  template <typename T>
  static T run(T a, T b, T c) {
    return Add::run(MultiplyHigh::run(a, b), c);
  }
};
struct MadHighSaturated {
  static I32 run(I32 a, I32 b, I32 c) {
    return AddSaturated::run(MultiplyHigh::run(a, b), c);
  }
};
template <typename Wide>
struct MadWide {
  template <typename T>
  static Wide run(T a, T b, Wide c) {
    return Add::run(MultiplyWide<Wide>::run(a, b), c);
  }
};
// The product of two 24-bit numbers has 48 bits: the lower 32, or the upper.
template <int kShift>
struct Multiply24 {
  /// The lower 24 bits as a number with a sign.
  static I64 low24(I32 x) {
    return static_cast<I32>(static_cast<U32>(x) << 8) >> 8;
  }
  static I32 run(I32 a, I32 b) {
    const I64 product = low24(a) * low24(b);
    return static_cast<I32>(product >> kShift);
  }
  static U32 run(U32 a, U32 b) {
    const U64 product = static_cast<U64>(a & 0xffffff) * (b & 0xffffff);
    return static_cast<U32>(product >> kShift);
  }
};
using Multiply24Low = Multiply24<0>;
using Multiply24High = Multiply24<16>;
template <typename Product>
struct Mad24 {
  template <typename T>
  static T run(T a, T b, T c) {
    return Add::run(Product::run(a, b), c);
  }
};
struct Mad24HighSaturated {
  static I32 run(I32 a, I32 b, I32 c) {
    return AddSaturated::run(Multiply24High::run(a, b), c);
  }
};
// Division by zero gives all ones, and so does the remainder, as on NVIDIA's
// devices; PTX leaves both open. The most negative number by -1 wraps around.
struct Divide {
  template <typename T>
  static T run(T a, T b) {
    const bool negates = kSigned<T> && b == static_cast<T>(-1);
    const T divisor = b == 0 || negates ? T{1} : b;
    const T quotient = divide(a, divisor);
    return b == 0 ? static_cast<T>(-1)
        : negates ? Subtract::run(static_cast<T>(0), a)
                  : quotient;
  }

 private:
  // Vectors have no division of integers. A double holds 32 bits, and the
  // rounded ratio of two such numbers is at least an integer only where the
  // exact one is: another is further away from it than rounding goes.
  template <typename T>
  static T divide(T a, T b) {
    if constexpr (sizeof(T) > 4) {
      return static_cast<T>(a / b);
    } else {
      return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
    }
  }
};
struct Remainder {
  template <typename T>
  static T run(T a, T b) {
    return b == 0 ? static_cast<T>(-1)
                  : Subtract::run(a, MultiplyLow::run(Divide::run(a, b), b));
  }
};
struct Minimum {
  template <typename T>
  static T run(T a, T b) {
    return a < b ? a : b;
  }
};
struct Maximum {
  template <typename T>
  static T run(T a, T b) {
    return a > b ? a : b;
  }
};
/// .relu: nothing below zero.
template <typename Op>
struct Rectified {
  template <typename T>
  static T run(T a, T b) {
    return Maximum::run(Op::run(a, b), T{0});
  }
};
/// .sat: to what an element has room for.
template <bool kAdds>
struct SaturatedElement {
  template <typename T>
  static T run(T a, T b) {
    constexpr I32 kMost = kSigned<T> ? (1 << (8 * sizeof(T) - 1)) - 1
                                     : (1 << (8 * sizeof(T))) - 1;
    constexpr I32 kLeast = kSigned<T> ? -kMost - 1 : 0;
    const I32 exact = kAdds ? static_cast<I32>(a) + b : static_cast<I32>(a) - b;
    return static_cast<T>(
        exact > kMost        ? kMost
            : exact < kLeast ? kLeast
                             : exact);
  }
};
/// Each element of 8 or 16 bits by itself.
template <typename Op, typename T>
struct Elements {
  static U32 run(U32 a, U32 b) {
    constexpr int kBits = 8 * sizeof(T);
    U32 word = 0;
    for (int i = 0; i < 32; i += kBits) {
      const T element = Op::run(static_cast<T>(a >> i), static_cast<T>(b >> i));
      word |= (static_cast<U32>(element) & ((1u << kBits) - 1)) << i;
    }
    return word;
  }
};
struct Absolute {
  template <typename T>
  static T run(T a) {
    return a < 0 ? Subtract::run(static_cast<T>(0), a) : a;
  }
};
struct Negate {
  template <typename T>
  static T run(T a) {
    return Subtract::run(static_cast<T>(0), a);
  }
};
struct AbsoluteDifference {
  template <typename T>
  static T run(T a, T b, T c) {
    return Add::run(c, a < b ? Subtract::run(b, a) : Subtract::run(a, b));
  }
};
struct PopulationCount {
  template <typename T>
  static U32 run(T a) {
    return static_cast<U32>(__builtin_popcountll(a));
  }
};
struct CountLeadingZeros {
  static U32 run(U32 a) {
    return a == 0 ? 32 : static_cast<U32>(__builtin_clz(a));
  }
  static U32 run(U64 a) {
    return a == 0 ? 64 : static_cast<U32>(__builtin_clzll(a));
  }
};
/// The highest bit that differs from the sign; all ones when there is none.
template <bool kShiftAmount>
struct FindLeading {
  template <typename T>
  static U32 run(T a) {
    const auto bits = static_cast<Unsigned<T>>(kSigned<T> && a < 0 ? ~a : a);
    if (bits == 0) {
      return 0xffffffffu;
    }
    const U32 zeros = CountLeadingZeros::run(bits);
    return kShiftAmount ? zeros : sizeof(T) * 8 - 1 - zeros;
  }
};
/// Four (dp4a) or two (dp2a) products of bytes, added to c.
template <typename A, typename B, typename R>
struct Dot4 {
  static R run(U32 a, U32 b, R c) {
    U32 sum = static_cast<U32>(c);
    for (int i = 0; i < 4; ++i) {
      sum += static_cast<U32>(
          static_cast<I32>(static_cast<A>(a >> (8 * i))) *
          static_cast<I32>(static_cast<B>(b >> (8 * i))));
    }
    return static_cast<R>(sum);
  }
};
template <typename A, typename B, typename R, int kHigh>
struct Dot2 {
  static R run(U32 a, U32 b, R c) {
    U32 sum = static_cast<U32>(c);
    for (int i = 0; i < 2; ++i) {
      sum += static_cast<U32>(
          static_cast<I32>(static_cast<A>(a >> (16 * i))) *
          static_cast<I32>(static_cast<B>(b >> (8 * i + 16 * kHigh))));
    }
    return static_cast<R>(sum);
  }
};

/// vabsdiff2, vabsdiff4: how far halves or bytes are apart, each in its place,
/// or with .add their sum and c.
template <typename T, bool kSum>
struct ElementDistances {
  static U32 run(U32 a, U32 b, U32 c) {
    constexpr int kBits = 8 * sizeof(T);
    U32 sum = c;
    U32 word = 0;
    for (int i = 0; i < 32; i += kBits) {
      const I32 apart =
          static_cast<I32>(static_cast<T>(a >> i)) - static_cast<T>(b >> i);
      const U32 distance = static_cast<U32>(apart < 0 ? -apart : apart);
      sum += distance;
      word |= distance << i;
    }
    return kSum ? sum : word;
  }
};

#define CUDASIM_EACH_TYPE(use)                                          \
  use(s16, I16) use(u16, U16) use(s32, I32) use(u32, U32) use(s64, I64) \
      use(u64, U64)
#define CUDASIM_BASIC(name, T)                                       \
  {"add." #name, "binary", "9.7.1", binary<Add, T>},                 \
      {"sub." #name, "binary", "9.7.1", binary<Subtract, T>},        \
      {"mul.lo." #name, "binary", "9.7.1", binary<MultiplyLow, T>},  \
      {"mul.hi." #name, "binary", "9.7.1", binary<MultiplyHigh, T>}, \
      {"mad.lo." #name, "ternary", "9.7.1", ternary<MadLow, T>},     \
      {"mad.hi." #name, "ternary", "9.7.1", ternary<MadHigh, T>},    \
      {"div." #name, "binary", "9.7.1", binary<Divide, T>},          \
      {"rem." #name, "binary", "9.7.1", binary<Remainder, T>},       \
      {"min." #name, "binary", "9.7.1", binary<Minimum, T>},         \
      {"max." #name, "binary", "9.7.1", binary<Maximum, T>},         \
      {"sad." #name, "ternary", "9.7.1", ternary<AbsoluteDifference, T>},
#define CUDASIM_SIGNED(name, T)                         \
  {"abs." #name, "unary", "9.7.1", unary<Absolute, T>}, \
      {"neg." #name, "unary", "9.7.1", unary<Negate, T>},
#define CUDASIM_WIDE(name, T, Wide)      \
  {"mul.wide." #name,                    \
   "=wide t t",                          \
   "9.7.1",                              \
   binary<MultiplyWide<Wide>, Wide, T>}, \
      {"mad.wide." #name,                \
       "=wide t t wide",                 \
       "9.7.1",                          \
       ternary<MadWide<Wide>, Wide, T, T, Wide>},
#define CUDASIM_FIND(name, T)                                             \
  {"bfind." #name, "=u32 t", "9.7.1", unary<FindLeading<false>, U32, T>}, \
      {"bfind.shiftamt." #name,                                           \
       "=u32 t",                                                          \
       "9.7.1",                                                           \
       unary<FindLeading<true>, U32, T>},
#define CUDASIM_DOT(a, A, b, B, R)                    \
  {"dp4a." #a "." #b,                                 \
   "=s32 t1 t2 s32",                                  \
   "9.7.1",                                           \
   ternary<Dot4<A, B, R>, R, U32, U32, R>},           \
      {"dp2a.lo." #a "." #b,                          \
       "=s32 t1 t2 s32",                              \
       "9.7.1",                                       \
       ternary<Dot2<A##x, B, R, 0>, R, U32, U32, R>}, \
      {"dp2a.hi." #a "." #b,                          \
       "=s32 t1 t2 s32",                              \
       "9.7.1",                                       \
       ternary<Dot2<A##x, B, R, 1>, R, U32, U32, R>},
#define CUDASIM_DISTANCES(count, T)                 \
  {"vabsdiff" #count ".u32.u32.u32",                \
   "=t1 t2! t3! t1!",                               \
   "9.7.17",                                        \
   ternary<ElementDistances<U##T, false>, U32>},    \
      {"vabsdiff" #count ".add.u32.u32.u32",        \
       "=t1 t2! t3! t1!",                           \
       "9.7.17",                                    \
       ternary<ElementDistances<U##T, true>, U32>}, \
      {"vabsdiff" #count ".add.u32.s32.s32",        \
       "=t1 t2! t3! t1!",                           \
       "9.7.17",                                    \
       ternary<ElementDistances<I##T, true>, U32>}, \
      {"vabsdiff" #count ".add.s32.s32.s32",        \
       "=t1 t2! t3! t1!",                           \
       "9.7.17",                                    \
       ternary<ElementDistances<I##T, true>, U32>}, \
      {"vabsdiff" #count ".u32.s32.s32",            \
       "=t1 t2! t3! t1!",                           \
       "9.7.17",                                    \
       ternary<ElementDistances<I##T, false>, U32>},
#define CUDASIM_ELEMENTS(text, Op, type, T) \
  {text "." #type, "binary", "9.7.1", binary<Elements<Op, T>, U32>},
#define CUDASIM_EXTREMES(type, T)           \
  CUDASIM_ELEMENTS("add", Add, type, T)     \
  CUDASIM_ELEMENTS("min", Minimum, type, T) \
  CUDASIM_ELEMENTS("max", Maximum, type, T)
#define CUDASIM_RELU(type, T)                               \
  CUDASIM_ELEMENTS("min.relu", Rectified<Minimum>, type, T) \
  CUDASIM_ELEMENTS("max.relu", Rectified<Maximum>, type, T)
#define CUDASIM_FOUR(type, T)                                  \
  CUDASIM_EXTREMES(type, T)                                    \
  CUDASIM_ELEMENTS("sub", Subtract, type, T)                   \
  CUDASIM_ELEMENTS("add.sat", SaturatedElement<true>, type, T) \
  CUDASIM_ELEMENTS("sub.sat", SaturatedElement<false>, type, T)
using I8x = I16;
using U8x = U16;

constexpr Entry kEntries[] = {
    CUDASIM_EACH_TYPE(CUDASIM_BASIC) CUDASIM_SIGNED(s16, I16)
        CUDASIM_SIGNED(s32, I32) CUDASIM_SIGNED(s64, I64)
            CUDASIM_WIDE(s16, I16, I32) CUDASIM_WIDE(u16, U16, U32)
                CUDASIM_WIDE(s32, I32, I64) CUDASIM_WIDE(u32, U32, U64)
                    CUDASIM_FIND(s32, I32) CUDASIM_FIND(u32, U32)
                        CUDASIM_FIND(s64, I64) CUDASIM_FIND(u64, U64){
                            "add.sat.s32",
                            "binary",
                            "9.7.1",
                            binary<AddSaturated, I32>},
    {"sub.sat.s32", "binary", "9.7.1", binary<SubtractSaturated, I32>},
    {"min.relu.s32", "binary", "9.7.1", binary<Rectified<Minimum>, I32>},
    {"max.relu.s32", "binary", "9.7.1", binary<Rectified<Maximum>, I32>},
    CUDASIM_EXTREMES(u16x2, U16) CUDASIM_EXTREMES(s16x2, I16)
        CUDASIM_RELU(s16x2, I16) CUDASIM_FOUR(u8x4, U8) CUDASIM_FOUR(s8x4, I8)
            CUDASIM_RELU(s8x4, I8){
                "mad.hi.sat.s32",
                "ternary",
                "9.7.1",
                ternary<MadHighSaturated, I32>},
    {"mul24.lo.s32", "binary", "9.7.1", binary<Multiply24Low, I32>},
    {"mul24.lo.u32", "binary", "9.7.1", binary<Multiply24Low, U32>},
    {"mul24.hi.s32", "binary", "9.7.1", binary<Multiply24High, I32>},
    {"mul24.hi.u32", "binary", "9.7.1", binary<Multiply24High, U32>},
    {"mad24.lo.s32", "ternary", "9.7.1", ternary<Mad24<Multiply24Low>, I32>},
    {"mad24.lo.u32", "ternary", "9.7.1", ternary<Mad24<Multiply24Low>, U32>},
    {"mad24.hi.s32", "ternary", "9.7.1", ternary<Mad24<Multiply24High>, I32>},
    {"mad24.hi.u32", "ternary", "9.7.1", ternary<Mad24<Multiply24High>, U32>},
    {"mad24.hi.sat.s32", "ternary", "9.7.1", ternary<Mad24HighSaturated, I32>},
    {"popc.b32", "=u32 t", "9.7.1", unary<PopulationCount, U32, U32>},
    {"popc.b64", "=u32 t", "9.7.1", unary<PopulationCount, U32, U64>},
    {"clz.b32", "=u32 t", "9.7.1", unary<CountLeadingZeros, U32, U32>},
    {"clz.b64", "=u32 t", "9.7.1", unary<CountLeadingZeros, U32, U64>},
    CUDASIM_DOT(s32, I8, s32, I8, I32) CUDASIM_DOT(s32, I8, u32, U8, I32)
        CUDASIM_DOT(u32, U8, s32, I8, I32) CUDASIM_DOT(u32, U8, u32, U8, U32)
            CUDASIM_DISTANCES(2, 16) CUDASIM_DISTANCES(4, 8)};

} // namespace

Family integer_family() {
  return {
      "integer",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "bfind clz dp2a dp4a mad24 mul24 popc rem sad abs:integers "
      "add:integers div:integers mad:integers max:integers min:integers "
      "mul:integers neg:integers sub:integers"};
}

} // namespace cudasim::engine::CUDASIM_ISA
