// Arithmetic of several words with a carry. Source: PTX ISA 9.7.2.
#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

template <typename T>
struct Sum {
  T value;
  bool carry;
};

template <typename T>
Sum<T> add(T a, T b, bool carry) {
  T sum;
  const bool first = __builtin_add_overflow(a, b, &sum);
  T total;
  const bool second =
      __builtin_add_overflow(sum, static_cast<T>(carry), &total);
  return {total, first || second};
}

// The carry of a difference is that of a + ~b + 1, as on NVIDIA's devices: set
// where nothing was borrowed. PTX ISA says less: that a borrow is written.
template <typename T>
Sum<T> subtract(T a, T b, bool carry) {
  T difference;
  const bool first = __builtin_sub_overflow(a, b, &difference);
  T total;
  const bool second =
      __builtin_sub_overflow(difference, static_cast<T>(!carry), &total);
  return {total, !(first || second)};
}

template <typename T>
T low(T a, T b) {
  return a * b;
}
inline U32 high(U32 a, U32 b) {
  return static_cast<U32>((static_cast<U64>(a) * b) >> 32);
}
inline U32 high(I32 a, I32 b) {
  return static_cast<U32>((static_cast<I64>(a) * b) >> 32);
}
inline U64 high(U64 a, U64 b) {
  return static_cast<U64>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline U64 high(I64 a, I64 b) {
  return static_cast<U64>((static_cast<__int128>(a) * b) >> 64);
}

enum Operation { kAdd, kSubtract, kMadLow, kMadHigh };

/// @tparam T unsigned; @tparam Factor the factors of kMadHigh, which alone
/// depends on the sign. @tparam kIn the carry is added, @tparam kOut the carry
/// is written.
template <
    typename T,
    typename Factor,
    Operation kOperation,
    bool kIn,
    bool kOut>
Flow with_carry(Warp& warp, const Inst& inst, Mask active) {
  T* d = lanes<T>(warp, inst.operands[0]);
  const T* a = lanes<T>(warp, inst.operands[1]);
  const T* b = lanes<T>(warp, inst.operands[2]);
  const bool three = kOperation == kMadLow || kOperation == kMadHigh;
  const T* c = three ? lanes<T>(warp, inst.operands[3]) : nullptr;
  Mask carry = warp.carry;
  for (int i = 0; i < kLanes; ++i) {
    if ((active >> i & 1) == 0) {
      continue;
    }
    const bool in = kIn && (carry >> i & 1) != 0;
    Sum<T> sum;
    switch (kOperation) {
      case kAdd:
        sum = add<T>(a[i], b[i], in);
        break;
      case kSubtract:
        sum = subtract<T>(a[i], b[i], !kIn || in);
        break;
      case kMadLow:
        sum = add<T>(low<T>(a[i], b[i]), c[i], in);
        break;
      case kMadHigh:
        sum = add<T>(
            high(static_cast<Factor>(a[i]), static_cast<Factor>(b[i])),
            c[i],
            in);
        break;
    }
    d[i] = sum.value;
    if (kOut) {
      carry = (carry & ~(1u << i)) | (sum.carry ? 1u << i : 0);
    }
  }
  warp.carry = carry;
  return Flow::kNext;
}

#define CUDASIM_CARRY(name, T, F)                                              \
  {"add.cc." #name, "binary", "9.7.2", with_carry<T, F, kAdd, false, true>},   \
      {"addc." #name, "binary", "9.7.2", with_carry<T, F, kAdd, true, false>}, \
      {"addc.cc." #name,                                                       \
       "binary",                                                               \
       "9.7.2",                                                                \
       with_carry<T, F, kAdd, true, true>},                                    \
      {"sub.cc." #name,                                                        \
       "binary",                                                               \
       "9.7.2",                                                                \
       with_carry<T, F, kSubtract, false, true>},                              \
      {"subc." #name,                                                          \
       "binary",                                                               \
       "9.7.2",                                                                \
       with_carry<T, F, kSubtract, true, false>},                              \
      {"subc.cc." #name,                                                       \
       "binary",                                                               \
       "9.7.2",                                                                \
       with_carry<T, F, kSubtract, true, true>},                               \
      {"mad.lo.cc." #name,                                                     \
       "ternary",                                                              \
       "9.7.2",                                                                \
       with_carry<T, F, kMadLow, false, true>},                                \
      {"mad.hi.cc." #name,                                                     \
       "ternary",                                                              \
       "9.7.2",                                                                \
       with_carry<T, F, kMadHigh, false, true>},                               \
      {"madc.lo." #name,                                                       \
       "ternary",                                                              \
       "9.7.2",                                                                \
       with_carry<T, F, kMadLow, true, false>},                                \
      {"madc.lo.cc." #name,                                                    \
       "ternary",                                                              \
       "9.7.2",                                                                \
       with_carry<T, F, kMadLow, true, true>},                                 \
      {"madc.hi." #name,                                                       \
       "ternary",                                                              \
       "9.7.2",                                                                \
       with_carry<T, F, kMadHigh, true, false>},                               \
      {"madc.hi.cc." #name,                                                    \
       "ternary",                                                              \
       "9.7.2",                                                                \
       with_carry<T, F, kMadHigh, true, true>},

constexpr Entry kEntries[] = {
    CUDASIM_CARRY(u32, U32, U32) CUDASIM_CARRY(s32, U32, I32)
        CUDASIM_CARRY(u64, U64, U64) CUDASIM_CARRY(s64, U64, I64)};

} // namespace

Family carry_family() {
  return {
      "carry",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "addc madc subc"};
}

} // namespace cudasim::engine::CUDASIM_ISA
