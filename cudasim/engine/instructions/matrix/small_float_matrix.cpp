// Matrix products of a warp on floats of 4 to 8 bits: mma.sync, with and
// without scales of blocks. Source: PTX ISA 9.7.14.3 (block scaling) and
// 9.7.14.5 (mma).
#include "cudasim/engine/instructions/matrix/products.h"
#include "cudasim/engine/instructions/small_floats.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

/// Numbers in bytes. Those of 6 bits are in the lower bits, those of 4 in the
/// middle.
template <typename F>
struct InBytes {
  static constexpr int kPerRegister = 4;
  using Value = float;
  static float read(U32 word, int element) {
    return F::widen(word >> (8 * element + (F::kBits == 4 ? 2 : 0)));
  }
};
/// Numbers of 4 bits one behind the other.
struct InNibbles {
  static constexpr int kPerRegister = 8;
  using Value = float;
  static float read(U32 word, int element) {
    return E2M1::widen(word >> (4 * element));
  }
};

// What a byte scales by.
struct PowerScale {
  static double run(U32 byte) {
    return UE8M0::widen(byte);
  }
};
struct FloatScale {
  static double run(U32 byte) {
    return E4M3::widen(byte & 0x7f);
  }
};

/// m16n8kK whose rows of A and columns of B have scales, each of them for a
/// part of k. Behind C are the words with scales, each followed by the first of
/// its bytes that count and by the threads that have them: of A one of the two
/// pairs of a group of four threads, the first of it with row g and the other
/// with row g + 8; of B one of the four.
/// @tparam kParts of k.
template <typename TA, typename TB, int K, typename Scale, int kParts>
Flow multiply_scaled(Warp& warp, const Inst& inst, Mask active) {
  constexpr int kA = 16 * K / 32 / TA::kPerRegister;
  constexpr int kB = 8 * K / 32 / TB::kPerRegister;
  constexpr int kC = 4;
  constexpr int kScaleA = 2 * kC + kA + kB;
  constexpr int kScaleB = kScaleA + 3;
  float a[16][K];
  float b[K][8];
  read_a<TA>(warp, inst, kC, a);
  read_b<TB>(warp, inst, kC + kA, b);
  const int lane = __builtin_ctz(active);
  const auto choice = [&](int at) {
    return static_cast<int>(lanes<U16>(warp, operand(inst, at))[lane]);
  };
  const U32* scales_a = lanes<U32>(warp, operand(inst, kScaleA));
  const U32* scales_b = lanes<U32>(warp, operand(inst, kScaleB));
  const int byte_a = choice(kScaleA + 1) & (4 - kParts);
  const int pair = choice(kScaleA + 2) & 1;
  const int byte_b = choice(kScaleB + 1) & (4 - kParts);
  const int thread = choice(kScaleB + 2) & 3;
  float sums[16][8];
  for (int row = 0; row < 16; ++row) {
    const U32 of_row = scales_a[row % 8 * 4 + 2 * pair + row / 8];
    for (int column = 0; column < 8; ++column) {
      const U32 of_column = scales_b[column * 4 + thread];
      // Powers of two beyond those of float meet here.
      double sum = 0;
      for (int part = 0; part < kParts; ++part) {
        float products = 0;
        for (int k = part * K / kParts; k < (part + 1) * K / kParts; ++k) {
          products += a[row][k] * b[k][column];
        }
        sum += static_cast<double>(products) *
            Scale::run(of_row >> (8 * (byte_a + part)) & 0xff) *
            Scale::run(of_column >> (8 * (byte_b + part)) & 0xff);
      }
      sums[row][column] = static_cast<float>(sum);
    }
  }
  Floats::finish(warp, inst, active, kC + kA + kB, sums);
  return Flow::kNext;
}

/// m16n8kK in double precision: by rows of C, then columns, as registers go.
template <int K>
Flow multiply_double(Warp& warp, const Inst& inst, Mask active) {
  constexpr int kA = K / 2;
  constexpr int kB = K / 4;
  constexpr int kC = 4;
  double result[kC][kLanes];
  for (int r = 0; r < kC; ++r) {
    const double* c = lanes<double>(warp, operand(inst, kC + kA + kB + r));
    for (int lane = 0; lane < kLanes; ++lane) {
      const int group = lane / 4;
      const int column = 2 * (lane % 4) + r % 2;
      double sum = c[lane];
      for (int k = 0; k < K; ++k) {
        const double* a =
            lanes<double>(warp, operand(inst, kC + 2 * (k / 4) + r / 2));
        const double* b = lanes<double>(warp, operand(inst, kC + kA + k / 4));
        sum = __builtin_fma(a[group * 4 + k % 4], b[column * 4 + k % 4], sum);
      }
      result[r][lane] = sum;
    }
  }
  for (int r = 0; r < kC; ++r) {
    for_lanes(lanes<double>(warp, operand(inst, r)), active, [&](int i) {
      return result[r][i];
    });
  }
  return Flow::kNext;
}

// clang-format off
#define CUDASIM_OPERANDS(a, b, c, sum) \
  "warp: {" #c "*=" sum "_} {" #a "*b32} {" #b "*b32} {" #c "*" sum "}"
#define CUDASIM_SUMS(begin, K, a, A, b, B, registers_a, registers_b)         \
  {begin ".f32." #a "." #b ".f32",                                           \
   CUDASIM_OPERANDS(registers_a, registers_b, 4, "f32"), "9.7.13",           \
   multiply_dense<InBytes<A>, InBytes<B>, K, Floats>},                       \
  {begin ".f16." #a "." #b ".f16",                                           \
   CUDASIM_OPERANDS(registers_a, registers_b, 2, "b32"), "9.7.13",           \
   multiply_dense<InBytes<A>, InBytes<B>, K, HalfPairs>},
#define CUDASIM_EIGHT(a, A, b, B)                                            \
  CUDASIM_SUMS("mma.sync.aligned.m16n8k16.row.col", 16, a, A, b, B, 2, 1)    \
  CUDASIM_SUMS("mma.sync.aligned.m16n8k32.row.col", 32, a, A, b, B, 4, 2)
#define CUDASIM_SCALES "b32 {2*u16:0..3} b32 {2*u16:0..3}"
#define CUDASIM_SCALED(form, a, b, scale, ...)                               \
  {"mma.sync.aligned." form ".f32." a "." b ".f32." scale,                   \
   CUDASIM_OPERANDS(4, 2, 4, "f32") " " CUDASIM_SCALES, "9.7.13",            \
   multiply_scaled<__VA_ARGS__>},
#define CUDASIM_ANY(a, A, b, B)                                              \
  CUDASIM_SUMS("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4",             \
               32, a, A, b, B, 4, 2)                                         \
  CUDASIM_SCALED("m16n8k32.row.col.kind::mxf8f6f4.block_scale",              \
                 #a, #b, "ue8m0",                                            \
                 InBytes<A>, InBytes<B>, 32, PowerScale, 1)                  \
  CUDASIM_SCALED("m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X",\
                 #a, #b, "ue8m0",                                            \
                 InBytes<A>, InBytes<B>, 32, PowerScale, 1)
#define CUDASIM_ROW(a, A)                                                    \
  CUDASIM_ANY(a, A, e4m3, E4M3)                                              \
  CUDASIM_ANY(a, A, e5m2, E5M2)                                              \
  CUDASIM_ANY(a, A, e2m3, E2M3)                                              \
  CUDASIM_ANY(a, A, e3m2, E3M2)                                              \
  CUDASIM_ANY(a, A, e2m1, E2M1)
#define CUDASIM_FOUR(kind, scale, ...)                                       \
  CUDASIM_SCALED("m16n8k64.row.col.kind::" kind, "e2m1", "e2m1", scale,      \
                 InNibbles, InNibbles, 64, __VA_ARGS__)
#define CUDASIM_DOUBLE(K, a, b)                                              \
  {"mma.sync.aligned.m16n8k" #K ".row.col.f64.f64.f64.f64",                  \
   "warp: {4*=f64_} {" #a "*f64} {" #b "*f64} {4*f64}", "9.7.13",            \
   multiply_double<K>},

constexpr Entry kEntries[] = {
    CUDASIM_EIGHT(e4m3, E4M3, e4m3, E4M3)
    CUDASIM_EIGHT(e4m3, E4M3, e5m2, E5M2)
    CUDASIM_EIGHT(e5m2, E5M2, e4m3, E4M3)
    CUDASIM_EIGHT(e5m2, E5M2, e5m2, E5M2)
    CUDASIM_ROW(e4m3, E4M3)
    CUDASIM_ROW(e5m2, E5M2)
    CUDASIM_ROW(e2m3, E2M3)
    CUDASIM_ROW(e3m2, E3M2)
    CUDASIM_ROW(e2m1, E2M1)
    CUDASIM_FOUR("mxf4.block_scale", "ue8m0", PowerScale, 2)
    CUDASIM_FOUR("mxf4.block_scale.scale_vec::2X", "ue8m0", PowerScale, 2)
    CUDASIM_FOUR("mxf4nvf4.block_scale.scale_vec::2X", "ue8m0", PowerScale, 2)
    CUDASIM_FOUR("mxf4nvf4.block_scale.scale_vec::4X", "ue8m0", PowerScale, 4)
    CUDASIM_FOUR("mxf4nvf4.block_scale.scale_vec::4X", "ue4m3", FloatScale, 4)
    CUDASIM_DOUBLE(4, 2, 1)
    CUDASIM_DOUBLE(8, 4, 2)
    CUDASIM_DOUBLE(16, 8, 4)
};
// clang-format on

} // namespace

Family small_float_matrix_family() {
  return {
      "small_float_matrix", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
