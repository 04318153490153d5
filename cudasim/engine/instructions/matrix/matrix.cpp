// Matrix products of a warp: mma.sync.
#include "cudasim/engine/instructions/matrix/products.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

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

#define CUDASIM_MMA(shape, d, a, b, c) \
  "mma.sync.aligned." shape ".row.col." d "." a "." b "." c
#define CUDASIM_OPERANDS(a, b, c, sum) \
  "warp: {" #c "*=" sum "_} {" #a "*b32} {" #b "*b32} {" #c "*" sum "}"
#define CUDASIM_INTEGERS(shape, M, K, a, TA, b, TB, operands)              \
  {CUDASIM_MMA(shape, "s32", a, b, "s32"),                                 \
   operands,                                                               \
   "9.7.13",                                                               \
   multiply_dense<TA, TB, K, Words<I32, false, M>, M>},                    \
      {"mma.sync.aligned." shape ".row.col.satfinite.s32." a "." b ".s32", \
       operands,                                                           \
       "9.7.13",                                                           \
       multiply_dense<TA, TB, K, Words<I32, true, M>, M>},
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
#define CUDASIM_BITS(shape, M, K, operands)                      \
  {CUDASIM_MMA(shape, "s32", "b1", "b1", "s32") ".xor.popc",     \
   operands,                                                     \
   "9.7.13",                                                     \
   multiply_dense<                                               \
       SingleBits,                                               \
       SingleBits,                                               \
       K,                                                        \
       Words<I32, false, M>,                                     \
       M,                                                        \
       Differs>},                                                \
      {CUDASIM_MMA(shape, "s32", "b1", "b1", "s32") ".and.popc", \
       operands,                                                 \
       "9.7.13",                                                 \
       multiply_dense<SingleBits, SingleBits, K, Words<I32, false, M>, M>},

constexpr Entry kEntries[] = {
    {CUDASIM_MMA("m16n8k8", "f32", "f16", "f16", "f32"),
     CUDASIM_OPERANDS(2, 1, 4, "f32"),
     "9.7.13",
     multiply_dense<HalfFragment, HalfFragment, 8, Floats>},
    {CUDASIM_MMA("m16n8k16", "f32", "f16", "f16", "f32"),
     CUDASIM_OPERANDS(4, 2, 4, "f32"),
     "9.7.13",
     multiply_dense<HalfFragment, HalfFragment, 16, Floats>},
    {CUDASIM_MMA("m16n8k8", "f16", "f16", "f16", "f16"),
     CUDASIM_OPERANDS(2, 1, 2, "b32"),
     "9.7.13",
     multiply_dense<HalfFragment, HalfFragment, 8, HalfPairs>},
    {CUDASIM_MMA("m16n8k16", "f16", "f16", "f16", "f16"),
     CUDASIM_OPERANDS(4, 2, 2, "b32"),
     "9.7.13",
     multiply_dense<HalfFragment, HalfFragment, 16, HalfPairs>},
    {CUDASIM_MMA("m16n8k8", "f32", "bf16", "bf16", "f32"),
     CUDASIM_OPERANDS(2, 1, 4, "f32"),
     "9.7.13",
     multiply_dense<BrainFragment, BrainFragment, 8, Floats>},
    {CUDASIM_MMA("m16n8k16", "f32", "bf16", "bf16", "f32"),
     CUDASIM_OPERANDS(4, 2, 4, "f32"),
     "9.7.13",
     multiply_dense<BrainFragment, BrainFragment, 16, Floats>},
    {CUDASIM_MMA("m16n8k4", "f32", "tf32", "tf32", "f32"),
     CUDASIM_OPERANDS(2, 1, 4, "f32"),
     "9.7.13",
     multiply_dense<Tf32, Tf32, 4, Floats>},
    {CUDASIM_MMA("m16n8k8", "f32", "tf32", "tf32", "f32"),
     CUDASIM_OPERANDS(4, 2, 4, "f32"),
     "9.7.13",
     multiply_dense<Tf32, Tf32, 8, Floats>},
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
