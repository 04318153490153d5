// Matrix products of a warp: mma.sync. The fragments' layouts are those of PTX
// ISA 9.7.14.5 ("Matrix fragments for mma"): lane L has group g = L / 4 and
// place t = L % 4 in it.
#include "cudasim/engine/instructions/half_types.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

inline Slot operand(const Inst& inst, int index) {
  const Slot* slots = inst.more != nullptr ? inst.more : inst.operands;
  return slots[index];
}

// How a 32-bit register of a fragment holds elements.
template <typename F>
struct Pairs {
  static constexpr int kPerRegister = 2;
  using Value = float;
  static float read(U32 word, int element) {
    return F::widen(static_cast<U16>(word >> (16 * element)));
  }
};
struct Tf32 {
  static constexpr int kPerRegister = 1;
  using Value = float;
  static float read(U32 word, int) {
    // The device ignores the bits that tf32 does not have.
    return bits_as<float>(word & ~0x1fffu);
  }
};
template <typename T>
struct Bytes {
  static constexpr int kPerRegister = 4;
  using Value = I32;
  static I32 read(U32 word, int element) {
    return static_cast<T>(word >> (8 * element));
  }
};
template <bool kSigned>
struct Nibbles {
  static constexpr int kPerRegister = 8;
  using Value = I32;
  static I32 read(U32 word, int element) {
    const auto value = static_cast<I32>(word >> (4 * element) & 0xf);
    return kSigned && value > 7 ? value - 16 : value;
  }
};
struct SingleBits {
  static constexpr int kPerRegister = 32;
  using Value = I32;
  static I32 read(U32 word, int element) {
    return static_cast<I32>(word >> element & 1);
  }
};

// What an element of A and one of B add to the sum.
struct Times {
  template <typename T>
  static T run(T a, T b) {
    return a * b;
  }
};
struct Differs {
  static I32 run(I32 a, I32 b) {
    return a ^ b;
  }
};

/// mMn8kK with A by rows, B by columns. Element counts are for one lane: A has
/// M K / 32 elements, B 8 K / 32, C and D M / 4 each.
/// @tparam Accumulate how C and D are stored.
template <
    typename TA,
    typename TB,
    int K,
    typename Accumulate,
    int M = 16,
    typename Product = Times>
Flow multiply(Warp& warp, const Inst& inst, Mask active) {
  using Value = typename TA::Value;
  using Sum = typename Accumulate::Sum;
  constexpr int kPer = TA::kPerRegister;
  constexpr int kHalves = M / 8;
  constexpr int kA = M * K / 32 / kPer;
  constexpr int kB = 8 * K / 32 / kPer;
  constexpr int kC = Accumulate::kRegisters;
  Value a[M][K];
  Value b[K][8];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int r = 0; r < kA; ++r) {
      const U32 word = lanes<U32>(warp, operand(inst, kC + r))[lane];
      for (int e = 0; e < kPer; ++e) {
        // Registers alternate between rows g and g + 8, then go on in k.
        const int row = g + 8 * (r % kHalves);
        const int column = t * kPer + e + 4 * kPer * (r / kHalves);
        a[row][column] = TA::read(word, e);
      }
    }
    for (int r = 0; r < kB; ++r) {
      const U32 word = lanes<U32>(warp, operand(inst, kC + kA + r))[lane];
      for (int e = 0; e < kPer; ++e) {
        b[t * kPer + e + 4 * kPer * r][g] = TB::read(word, e);
      }
    }
  }
  Sum sums[M][8];
  for (int row = 0; row < M; ++row) {
    for (int column = 0; column < 8; ++column) {
      Sum sum = 0;
      for (int k = 0; k < K; ++k) {
        sum += Product::run(
            static_cast<Sum>(a[row][k]), static_cast<Sum>(b[k][column]));
      }
      sums[row][column] = sum;
    }
  }
  Accumulate::finish(warp, inst, active, kC + kA + kB, sums);
  return Flow::kNext;
}

/// C and D as M / 4 32-bit numbers a lane.
template <typename T, bool kSaturate = false, int M = 16>
struct Words {
  using Sum = T;
  static constexpr int kRegisters = M / 4;
  static void finish(
      Warp& warp,
      const Inst& inst,
      Mask active,
      int c,
      const T (&sums)[M][8]) {
    for (int r = 0; r < kRegisters; ++r) {
      const T* old = lanes<T>(warp, operand(inst, c + r));
      T result[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        const T sum = sums[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + r % 2];
        if constexpr (kSaturate) {
          const I64 wide = static_cast<I64>(sum) + old[lane];
          result[lane] = static_cast<T>(
              wide > 0x7fffffff          ? 0x7fffffff
                  : wide < -0x80000000ll ? -0x80000000ll
                                         : wide);
        } else if constexpr (sizeof(T) == 4 && static_cast<T>(0.5f) == 0) {
          result[lane] = static_cast<T>(
              static_cast<U32>(sum) + static_cast<U32>(old[lane]));
        } else {
          result[lane] = sum + old[lane];
        }
      }
      for_lanes(lanes<T>(warp, operand(inst, r)), active, [&](int i) {
        return result[i];
      });
    }
  }
};

/// C and D as two pairs of halves a lane.
struct HalfPairs {
  using Sum = float;
  static constexpr int kRegisters = 2;
  static void finish(
      Warp& warp,
      const Inst& inst,
      Mask active,
      int c,
      const float (&sums)[16][8]) {
    for (int r = 0; r < 2; ++r) {
      const U32* old = lanes<U32>(warp, operand(inst, c + r));
      U32 result[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        U32 word = 0;
        for (int e = 0; e < 2; ++e) {
          const float sum = sums[lane / 4 + 8 * r][2 * (lane % 4) + e] +
              Half::widen(static_cast<U16>(old[lane] >> (16 * e)));
          word |= static_cast<U32>(Half::narrow(sum)) << (16 * e);
        }
        result[lane] = word;
      }
      for_lanes(lanes<U32>(warp, operand(inst, r)), active, [&](int i) {
        return result[i];
      });
    }
  }
};

/// m8n8k4 in double precision: one element of A and B a lane, two of C and D.
Flow multiply_double(Warp& warp, const Inst& inst, Mask active) {
  const double* a = lanes<double>(warp, operand(inst, 2));
  const double* b = lanes<double>(warp, operand(inst, 3));
  double result[2][kLanes];
  for (int e = 0; e < 2; ++e) {
    const double* c = lanes<double>(warp, operand(inst, 4 + e));
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = lane / 4;
      const int column = 2 * (lane % 4) + e;
      double sum = c[lane];
      for (int k = 0; k < 4; ++k) {
        sum = __builtin_fma(a[row * 4 + k], b[column * 4 + k], sum);
      }
      result[e][lane] = sum;
    }
  }
  for (int e = 0; e < 2; ++e) {
    for_lanes(lanes<double>(warp, operand(inst, e)), active, [&](int i) {
      return result[e][i];
    });
  }
  return Flow::kNext;
}

using HalfFragment = Pairs<Half>;
using BrainFragment = Pairs<Brain>;
using Floats = Words<float>;

#define CUDASIM_MMA(shape, d, a, b, c) \
  "mma.sync.aligned." shape ".row.col." d "." a "." b "." c
#define CUDASIM_OPERANDS(a, b, c, sum) \
  "warp: {" #c "*=" sum "_} {" #a "*b32} {" #b "*b32} {" #c "*" sum "}"
#define CUDASIM_INTEGERS(shape, M, K, a, TA, b, TB, operands)              \
  {CUDASIM_MMA(shape, "s32", a, b, "s32"),                                 \
   operands,                                                               \
   "9.7.13",                                                               \
   multiply<TA, TB, K, Words<I32, false, M>, M>},                          \
      {"mma.sync.aligned." shape ".row.col.satfinite.s32." a "." b ".s32", \
       operands,                                                           \
       "9.7.13",                                                           \
       multiply<TA, TB, K, Words<I32, true, M>, M>},
#define CUDASIM_BYTES(a, TA, b, TB)                                       \
  CUDASIM_INTEGERS(                                                       \
      "m8n8k16", 8, 16, a, TA, b, TB, CUDASIM_OPERANDS(1, 1, 2, "s32"))   \
  CUDASIM_INTEGERS(                                                       \
      "m16n8k16", 16, 16, a, TA, b, TB, CUDASIM_OPERANDS(2, 1, 4, "s32")) \
  CUDASIM_INTEGERS(                                                       \
      "m16n8k32", 16, 32, a, TA, b, TB, CUDASIM_OPERANDS(4, 2, 4, "s32"))
#define CUDASIM_NIBBLES(a, TA, b, TB)                                     \
  CUDASIM_INTEGERS(                                                       \
      "m8n8k32", 8, 32, a, TA, b, TB, CUDASIM_OPERANDS(1, 1, 2, "s32"))   \
  CUDASIM_INTEGERS(                                                       \
      "m16n8k32", 16, 32, a, TA, b, TB, CUDASIM_OPERANDS(2, 1, 4, "s32")) \
  CUDASIM_INTEGERS(                                                       \
      "m16n8k64", 16, 64, a, TA, b, TB, CUDASIM_OPERANDS(4, 2, 4, "s32"))
#define CUDASIM_BITS(shape, M, K, operands)                                \
  {CUDASIM_MMA(shape, "s32", "b1", "b1", "s32") ".xor.popc",               \
   operands,                                                               \
   "9.7.13",                                                               \
   multiply<SingleBits, SingleBits, K, Words<I32, false, M>, M, Differs>}, \
      {CUDASIM_MMA(shape, "s32", "b1", "b1", "s32") ".and.popc",           \
       operands,                                                           \
       "9.7.13",                                                           \
       multiply<SingleBits, SingleBits, K, Words<I32, false, M>, M>},

constexpr Entry kEntries[] = {
    {CUDASIM_MMA("m16n8k8", "f32", "f16", "f16", "f32"),
     CUDASIM_OPERANDS(2, 1, 4, "f32"),
     "9.7.13",
     multiply<HalfFragment, HalfFragment, 8, Floats>},
    {CUDASIM_MMA("m16n8k16", "f32", "f16", "f16", "f32"),
     CUDASIM_OPERANDS(4, 2, 4, "f32"),
     "9.7.13",
     multiply<HalfFragment, HalfFragment, 16, Floats>},
    {CUDASIM_MMA("m16n8k8", "f16", "f16", "f16", "f16"),
     CUDASIM_OPERANDS(2, 1, 2, "b32"),
     "9.7.13",
     multiply<HalfFragment, HalfFragment, 8, HalfPairs>},
    {CUDASIM_MMA("m16n8k16", "f16", "f16", "f16", "f16"),
     CUDASIM_OPERANDS(4, 2, 2, "b32"),
     "9.7.13",
     multiply<HalfFragment, HalfFragment, 16, HalfPairs>},
    {CUDASIM_MMA("m16n8k8", "f32", "bf16", "bf16", "f32"),
     CUDASIM_OPERANDS(2, 1, 4, "f32"),
     "9.7.13",
     multiply<BrainFragment, BrainFragment, 8, Floats>},
    {CUDASIM_MMA("m16n8k16", "f32", "bf16", "bf16", "f32"),
     CUDASIM_OPERANDS(4, 2, 4, "f32"),
     "9.7.13",
     multiply<BrainFragment, BrainFragment, 16, Floats>},
    {CUDASIM_MMA("m16n8k4", "f32", "tf32", "tf32", "f32"),
     CUDASIM_OPERANDS(2, 1, 4, "f32"),
     "9.7.13",
     multiply<Tf32, Tf32, 4, Floats>},
    {CUDASIM_MMA("m16n8k8", "f32", "tf32", "tf32", "f32"),
     CUDASIM_OPERANDS(4, 2, 4, "f32"),
     "9.7.13",
     multiply<Tf32, Tf32, 8, Floats>},
    CUDASIM_BYTES("s8", Bytes<I8>, "s8", Bytes<I8>) CUDASIM_BYTES(
        "u8",
        Bytes<U8>,
        "u8",
        Bytes<U8>) CUDASIM_BYTES("s8", Bytes<I8>, "u8", Bytes<U8>)
        CUDASIM_BYTES("u8", Bytes<U8>, "s8", Bytes<I8>) CUDASIM_NIBBLES(
            "s4",
            Nibbles<true>,
            "s4",
            Nibbles<true>)
            CUDASIM_NIBBLES("u4", Nibbles<false>, "u4", Nibbles<false>)
                CUDASIM_NIBBLES("s4", Nibbles<true>, "u4", Nibbles<false>)
                    CUDASIM_NIBBLES("u4", Nibbles<false>, "s4", Nibbles<true>)
                        CUDASIM_BITS(
                            "m8n8k128",
                            8,
                            128,
                            CUDASIM_OPERANDS(1, 1, 2, "s32"))
                            CUDASIM_BITS(
                                "m16n8k128",
                                16,
                                128,
                                CUDASIM_OPERANDS(2, 1, 4, "s32"))
                                CUDASIM_BITS(
                                    "m16n8k256",
                                    16,
                                    256,
                                    CUDASIM_OPERANDS(4, 2, 4, "s32")){
                                    CUDASIM_MMA(
                                        "m8n8k4",
                                        "f64",
                                        "f64",
                                        "f64",
                                        "f64"),
                                    "warp: {2*=f64_} {1*f64} {1*f64} {2*f64}",
                                    "9.7.13",
                                    multiply_double},
};

} // namespace

Family matrix_family() {
  return {"matrix", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
