// wmma of 4-bit integers and of single bits. Memory is moved by words, and the
// product is that of mma.sync, whose fragments these are: each lane has a run
// of a row of A and of a column of B. Source: PTX ISA 9.7.14.4.
#include "cudasim/engine/instructions/matrix/products.h"
#include "cudasim/engine/instructions/matrix/transfer.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

// A line has 16 bytes: 32 numbers or 128 bits. A is there by rows only, B by
// columns; the stride counts their elements, `parts` of which are in a word.
#define CUDASIM_LOAD(what, role, by_rows, space, name, kSpace, k, type, parts) \
  {"wmma.load." what ".sync.aligned." by_rows ".m8n8k" #k name "." type,       \
   "warp: {1*=b32_} <[" space ":8x4*b32/" #parts "] u32?",                     \
   "9.7.13",                                                                   \
   load_fragment<kSpace>,                                                      \
   code_of(role, 8, 8, 4, 4, 1, role == kA, parts)},
#define CUDASIM_INPUT(what, role, by_rows, k, type, parts)                   \
  CUDASIM_LOAD(what, role, by_rows, "generic", "", kGeneric, k, type, parts) \
  CUDASIM_LOAD(                                                              \
      what, role, by_rows, "global", ".global", kGlobal, k, type, parts)     \
  CUDASIM_LOAD(                                                              \
      what, role, by_rows, "shared", ".shared", kShared, k, type, parts)
#define CUDASIM_INPUTS(k, type, parts)          \
  CUDASIM_INPUT("a", kA, "row", k, type, parts) \
  CUDASIM_INPUT("b", kB, "col", k, type, parts)
#define CUDASIM_SUM(layout, by_rows, space, name, kSpace, k)        \
  {"wmma.load.c.sync.aligned." layout ".m8n8k" #k name ".s32",      \
   "warp: {2*=s32_} <[" space ":8x8*s32] u32?",                     \
   "9.7.13",                                                        \
   load_fragment<kSpace>,                                           \
   code_of(kC, 8, 8, 4, 4, 2, by_rows)},                            \
      {"wmma.store.d.sync.aligned." layout ".m8n8k" #k name ".s32", \
       "warp: >[" space ":8x8*s32] {2*s32} u32?",                   \
       "9.7.13",                                                    \
       store_fragment<kSpace>,                                      \
       code_of(kC, 8, 8, 4, 4, 2, by_rows)},
#define CUDASIM_SUMS_OF(layout, by_rows, k)                     \
  CUDASIM_SUM(layout, by_rows, "generic", "", kGeneric, k)      \
  CUDASIM_SUM(layout, by_rows, "global", ".global", kGlobal, k) \
  CUDASIM_SUM(layout, by_rows, "shared", ".shared", kShared, k)
#define CUDASIM_SUMS(k) \
  CUDASIM_SUMS_OF("row", true, k) CUDASIM_SUMS_OF("col", false, k)
#define CUDASIM_OPERANDS "warp: {2*=s32_} {1*b32} {1*b32} {2*s32}"
#define CUDASIM_NIBBLES(type, kSigned)                                   \
  CUDASIM_INPUTS(32, type, 8){                                           \
      "wmma.mma.sync.aligned.row.col.m8n8k32.s32." type "." type ".s32", \
      CUDASIM_OPERANDS,                                                  \
      "9.7.13",                                                          \
      multiply_dense<                                                    \
          Nibbles<kSigned>,                                              \
          Nibbles<kSigned>,                                              \
          32,                                                            \
          Words<I32, false, 8>,                                          \
          8>},                                                           \
      {"wmma.mma.sync.aligned.row.col.m8n8k32.s32." type "." type        \
       ".s32.satfinite",                                                 \
       CUDASIM_OPERANDS,                                                 \
       "9.7.13",                                                         \
       multiply_dense<                                                   \
           Nibbles<kSigned>,                                             \
           Nibbles<kSigned>,                                             \
           32,                                                           \
           Words<I32, true, 8>,                                          \
           8>},
#define CUDASIM_BITS(op, Product)                                      \
  {"wmma.mma." op ".popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", \
   CUDASIM_OPERANDS,                                                   \
   "9.7.13",                                                           \
   multiply_dense<                                                     \
       SingleBits,                                                     \
       SingleBits,                                                     \
       128,                                                            \
       Words<I32, false, 8>,                                           \
       8,                                                              \
       Product>},

// clang-format off
constexpr Entry kEntries[] = {
    CUDASIM_SUMS(32)
    CUDASIM_NIBBLES("s4", true)
    CUDASIM_NIBBLES("u4", false)
    CUDASIM_SUMS(128)
    CUDASIM_INPUTS(128, "b1", 32)
    CUDASIM_BITS("xor", Differs)
    CUDASIM_BITS("and", Times)};
// clang-format on

} // namespace

Family sub_byte_matrix_family() {
  return {"sub_byte_matrix", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
