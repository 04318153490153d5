// Matrices of mma.sync: how registers hold elements, and what becomes of sums.
// The fragments' layouts are those of PTX ISA 9.7.14.5 ("Matrix fragments for
// mma"): lane L has group g = L / 4 and place t = L % 4 in it.
#pragma once

#include "cudasim/engine/instructions/half_types.h"
#include "cudasim/engine/instructions/matrix/fragment.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

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

/// Takes A together, of which a lane has M K / 32 elements, by rows.
/// @param first the first of its operands.
template <typename T, int M, int K>
void read_a(
    Warp& warp,
    const Inst& inst,
    int first,
    typename T::Value (&a)[M][K]) {
  constexpr int kPer = T::kPerRegister;
  constexpr int kHalves = M / 8;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int r = 0; r < M * K / 32 / kPer; ++r) {
      const U32 word = lanes<U32>(warp, operand(inst, first + r))[lane];
      for (int e = 0; e < kPer; ++e) {
        // Registers alternate between rows g and g + 8, then go on in k.
        const int row = g + 8 * (r % kHalves);
        const int column = t * kPer + e + 4 * kPer * (r / kHalves);
        a[row][column] = T::read(word, e);
      }
    }
  }
}

/// Takes B together, of which a lane has 8 K / 32 elements, by columns.
/// @param first the first of its operands.
template <typename T, int K>
void read_b(
    Warp& warp,
    const Inst& inst,
    int first,
    typename T::Value (&b)[K][8]) {
  constexpr int kPer = T::kPerRegister;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int r = 0; r < 8 * K / 32 / kPer; ++r) {
      const U32 word = lanes<U32>(warp, operand(inst, first + r))[lane];
      for (int e = 0; e < kPer; ++e) {
        b[t * kPer + e + 4 * kPer * r][g] = T::read(word, e);
      }
    }
  }
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

using HalfFragment = Pairs<Half>;
using BrainFragment = Pairs<Brain>;
using Floats = Words<float>;

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
Flow multiply_dense(Warp& warp, const Inst& inst, Mask active) {
  using Value = typename TA::Value;
  using Sum = typename Accumulate::Sum;
  constexpr int kPer = TA::kPerRegister;
  constexpr int kA = M * K / 32 / kPer;
  constexpr int kB = 8 * K / 32 / kPer;
  constexpr int kC = Accumulate::kRegisters;
  Value a[M][K];
  Value b[K][8];
  read_a<TA>(warp, inst, kC, a);
  read_b<TB>(warp, inst, kC + kA, b);
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

} // namespace
} // namespace cudasim::engine::CUDASIM_ISA
