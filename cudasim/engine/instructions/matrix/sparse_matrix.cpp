// Products of a warp with a sparse A: mma.sp.sync (PTX ISA 9.7.14.6). Half of A
// is zero; the others lie side by side, as in a dense matrix of half the width,
// and metadata say where each of them belongs.
#include "cudasim/engine/instructions/matrix/products.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

// Of a piece of a row of A, four bits are two indices, which say where its
// numbers belong: the column, in the piece, of one of them.

/// Two numbers of four columns.
struct TwoOfFour {
  static constexpr int kColumns = 4;
  static int column(U32 indices, int number) {
    return static_cast<int>(indices >> (2 * number) & 3);
  }
};

/// One number of two columns: its halves are two of four.
struct OneOfTwo {
  static constexpr int kColumns = 2;
  static int column(U32 indices, int) {
    return static_cast<int>(indices >> 1 & 1);
  }
};

/// Two pairs of eight columns.
struct PairsOfEight {
  static constexpr int kColumns = 8;
  static int column(U32 indices, int number) {
    return 2 * TwoOfFour::column(indices, number / 2) + number % 2;
  }
};

/// Which of a group's four lanes has metadata, and for which rows.
/// @tparam K columns of A.
/// @tparam kRowsOfLane 2: a lane has 16 bits of row g, and of row g + 8 above
///   them; 1: it has 32 bits of row g, and the next lane has those of row g
///   + 8.
template <int K, typename Pattern, int kRowsOfLane>
struct Metadata {
  static constexpr int kBitsOfRow = 4 * K / Pattern::kColumns;
  static constexpr int kBits = 32 / kRowsOfLane;
  static constexpr int kLanesOfRow = kBitsOfRow / kBits;
  /// Lanes of a group that have metadata; there are 4 / kContributors such
  /// sets.
  static constexpr int kContributors = 2 / kRowsOfLane * kLanesOfRow;

  /// The four bits of a piece of a row.
  /// @param words of all lanes.
  /// @param selector which set of lanes.
  static U32 indices(const U32* words, U32 selector, int row, int piece) {
    const int bit = 4 * piece;
    const int upper = row / 8;
    const int lane = 4 * (row % 8) +
        static_cast<int>(selector % (4 / kContributors)) * kContributors;
    const int place = bit / kBits;
    const U32 word = kRowsOfLane == 2 ? words[lane + place] >> (16 * upper)
                                      : words[lane + 2 * place + upper];
    return word >> (bit % kBits) & 0xf;
  }
};

/// m16n8kK with a sparse A by rows, B by columns.
/// @tparam Accumulate how C and D are stored.
template <
    typename TA,
    typename TB,
    int K,
    typename Pattern,
    int kRowsOfLane,
    typename Accumulate>
Flow multiply(Warp& warp, const Inst& inst, Mask active) {
  using Value = typename TA::Value;
  using Sum = typename Accumulate::Sum;
  using Places = Metadata<K, Pattern, kRowsOfLane>;
  constexpr int kA = 16 * K / 2 / 32 / TA::kPerRegister;
  constexpr int kB = 8 * K / 32 / TB::kPerRegister;
  constexpr int kC = Accumulate::kRegisters;
  constexpr int kNumbers = Pattern::kColumns / 2;
  Value a[16][K / 2];
  Value b[K][8];
  read_a<TA>(warp, inst, kC, a);
  read_b<TB>(warp, inst, kC + kA, b);
  const U32* words = lanes<U32>(warp, operand(inst, 2 * kC + kA + kB));
  const U32 selector = lanes<U32>(warp, operand(inst, 2 * kC + kA + kB + 1))[0];
  Sum sums[16][8] = {};
  for (int row = 0; row < 16; ++row) {
    for (int k = 0; k < K / 2; ++k) {
      const int piece = k / kNumbers;
      const U32 indices = Places::indices(words, selector, row, piece);
      // Rows of B that belong to zeros are not looked at, infinite or not.
      const Value* numbers =
          b[Pattern::kColumns * piece + Pattern::column(indices, k % kNumbers)];
      for (int column = 0; column < 8; ++column) {
        sums[row][column] +=
            static_cast<Sum>(a[row][k]) * static_cast<Sum>(numbers[column]);
      }
    }
  }
  Accumulate::finish(warp, inst, active, kC + kA + kB, sums);
  return Flow::kNext;
}

#define CUDASIM_SPARSE(shape, modifiers, d, a, b, c) \
  "mma.sp.sync.aligned." shape ".row.col." modifiers d "." a "." b "." c
#define CUDASIM_OPERANDS(a, b, c, sum, selectors)                   \
  "warp: {" #c "*=" sum "_} {" #a "*b32} {" #b "*b32} {" #c "*" sum \
  "} "                                                              \
  "b32 #u32:" selectors
#define CUDASIM_SIXTEEN(d, registers, sum, name, Type, Accumulate) \
  {CUDASIM_SPARSE("m16n8k16", "", d, name, name, d),               \
   CUDASIM_OPERANDS(2, 2, registers, sum, "0..3"),                 \
   "9.7.13",                                                       \
   multiply<Type, Type, 16, TwoOfFour, 2, Accumulate>},            \
      {CUDASIM_SPARSE("m16n8k32", "", d, name, name, d),           \
       CUDASIM_OPERANDS(4, 4, registers, sum, "0..1"),             \
       "9.7.13",                                                   \
       multiply<Type, Type, 32, TwoOfFour, 2, Accumulate>},
#define CUDASIM_INTEGERS(modifiers, a, TA, b, TB, small, large, Pattern, Sums) \
  {CUDASIM_SPARSE("m16n8k" #small, modifiers, "s32", a, b, "s32"),             \
   CUDASIM_OPERANDS(2, 2, 4, "s32", "0..1"),                                   \
   "9.7.13",                                                                   \
   multiply<TA, TB, small, Pattern, 1, Sums>},                                 \
      {CUDASIM_SPARSE("m16n8k" #large, modifiers, "s32", a, b, "s32"),         \
       CUDASIM_OPERANDS(4, 4, 4, "s32", "0..0"),                               \
       "9.7.13",                                                               \
       multiply<TA, TB, large, Pattern, 1, Sums>},
#define CUDASIM_SATURATED(a, TA, b, TB, small, large, Pattern)          \
  CUDASIM_INTEGERS("", a, TA, b, TB, small, large, Pattern, Words<I32>) \
  CUDASIM_INTEGERS(                                                     \
      "satfinite.", a, TA, b, TB, small, large, Pattern, SaturatedWords)
#define CUDASIM_SIGNS(Type, s, S, u, U, small, large, Pattern)     \
  CUDASIM_SATURATED(s, Type<S>, s, Type<S>, small, large, Pattern) \
  CUDASIM_SATURATED(u, Type<U>, u, Type<U>, small, large, Pattern) \
  CUDASIM_SATURATED(s, Type<S>, u, Type<U>, small, large, Pattern) \
  CUDASIM_SATURATED(u, Type<U>, s, Type<S>, small, large, Pattern)

using SaturatedWords = Words<I32, true>;

constexpr Entry kEntries[] = {
    CUDASIM_SIXTEEN("f32", 4, "f32", "f16", HalfFragment, Floats)
        CUDASIM_SIXTEEN("f16", 2, "b32", "f16", HalfFragment, HalfPairs)
            CUDASIM_SIXTEEN("f32", 4, "f32", "bf16", BrainFragment, Floats){
                CUDASIM_SPARSE("m16n8k8", "", "f32", "tf32", "tf32", "f32"),
                CUDASIM_OPERANDS(2, 2, 4, "f32", "0..3"),
                "9.7.13",
                multiply<Tf32, Tf32, 8, OneOfTwo, 2, Floats>},
    {CUDASIM_SPARSE("m16n8k16", "", "f32", "tf32", "tf32", "f32"),
     CUDASIM_OPERANDS(4, 4, 4, "f32", "0..1"),
     "9.7.13",
     multiply<Tf32, Tf32, 16, OneOfTwo, 2, Floats>},
    CUDASIM_SIGNS(Bytes, "s8", I8, "u8", U8, 32, 64, TwoOfFour)
        CUDASIM_SIGNS(Nibbles, "s4", true, "u4", false, 64, 128, PairsOfEight)};

} // namespace

Family sparse_matrix_family() {
  return {"sparse_matrix", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
