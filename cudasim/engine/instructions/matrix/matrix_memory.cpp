// 8x8 matrices of 16-bit elements between registers and shared memory:
// ldmatrix, stmatrix, movmatrix. Lane i holds elements 2 (i % 4) and the next
// of row i / 4. Source: PTX ISA 9.7.14.5 (ldmatrix, stmatrix, movmatrix).
#include "cudasim/engine/instructions/addressing.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

constexpr int kSide = 8;
constexpr U32 kRowBytes = 2 * kSide;

struct Position {
  int row;
  int column;
};

/// Where in a matrix an element of a lane's register is.
template <bool kTranspose>
[[gnu::always_inline]] inline Position position(int lane, int element) {
  const int major = lane / 4;
  const int minor = 2 * (lane % 4) + element;
  return kTranspose ? Position{minor, major} : Position{major, minor};
}

/// Where in the host's memory the rows of N matrices are. Eight lanes give the
/// addresses of the rows of one matrix.
template <int N>
[[gnu::always_inline]] inline bool locate_rows(
    Warp& warp,
    const Inst& inst,
    int address,
    bool is_write,
    U64* rows) {
  const Mask lanes_with_rows = N == 4 ? kAllLanes : (1u << (kSide * N)) - 1;
  return locate<kShared>(
      warp,
      inst,
      inst.operands[address],
      inst.widths[address],
      static_cast<U64>(inst.offset),
      lanes_with_rows,
      kRowBytes,
      kRowBytes,
      is_write,
      rows);
}

[[gnu::always_inline]] inline U16* element_at(
    const U64* rows,
    int matrix,
    Position at) {
  return reinterpret_cast<U16*>(rows[kSide * matrix + at.row]) + at.column;
}

template <int N, bool kTranspose>
Flow load_matrix(Warp& warp, const Inst& inst, Mask active) {
  U64 rows[kLanes];
  if (!locate_rows<N>(warp, inst, N, false, rows)) {
    return Flow::kFault;
  }
  U32 result[N][kLanes];
  for (int m = 0; m < N; ++m) {
    for (int lane = 0; lane < kLanes; ++lane) {
      U16 pair[2];
      for (int e = 0; e < 2; ++e) {
        pair[e] = *element_at(rows, m, position<kTranspose>(lane, e));
      }
      __builtin_memcpy(&result[m][lane], pair, sizeof(pair));
    }
  }
  for (int m = 0; m < N; ++m) {
    for_lanes(lanes<U32>(warp, inst.operands[m]), active, [&](int i) {
      return result[m][i];
    });
  }
  return Flow::kNext;
}

template <int N, bool kTranspose>
Flow store_matrix(Warp& warp, const Inst& inst, Mask) {
  U64 rows[kLanes];
  if (!locate_rows<N>(warp, inst, 0, true, rows)) {
    return Flow::kFault;
  }
  for (int m = 0; m < N; ++m) {
    const U32* words = lanes<U32>(warp, inst.operands[1 + m]);
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int e = 0; e < 2; ++e) {
        *element_at(rows, m, position<kTranspose>(lane, e)) =
            static_cast<U16>(words[lane] >> (16 * e));
      }
    }
  }
  return Flow::kNext;
}

Flow transpose_matrix(Warp& warp, const Inst& inst, Mask active) {
  const U32* words = lanes<U32>(warp, inst.operands[1]);
  U16 matrix[kSide][kSide];
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int e = 0; e < 2; ++e) {
      const Position at = position<false>(lane, e);
      matrix[at.row][at.column] = static_cast<U16>(words[lane] >> (16 * e));
    }
  }
  for_lanes(lanes<U32>(warp, inst.operands[0]), active, [&](int lane) {
    U32 word = 0;
    for (int e = 0; e < 2; ++e) {
      const Position at = position<true>(lane, e);
      word |= static_cast<U32>(matrix[at.row][at.column]) << (16 * e);
    }
    return word;
  });
  return Flow::kNext;
}

#define CUDASIM_MATRICES(op, operands, handler, count)       \
  {op ".sync.aligned.m8n8.x" #count ".shared.b16",           \
   operands,                                                 \
   "9.7.13",                                                 \
   handler<count, false>},                                   \
      {op ".sync.aligned.m8n8.x" #count ".trans.shared.b16", \
       operands,                                             \
       "9.7.13",                                             \
       handler<count, true>},
#define CUDASIM_LDMATRIX(count, rows)                    \
  CUDASIM_MATRICES(                                      \
      "ldmatrix",                                        \
      "warp: {" #count "*=b32_} <[shared:16@" #rows "]", \
      load_matrix,                                       \
      count)
#define CUDASIM_STMATRIX(count, rows)                  \
  CUDASIM_MATRICES(                                    \
      "stmatrix",                                      \
      "warp: >[shared:16@" #rows "] {" #count "*b32}", \
      store_matrix,                                    \
      count)

constexpr Entry kEntries[] = {
    CUDASIM_LDMATRIX(1, 8) CUDASIM_LDMATRIX(2, 16) CUDASIM_LDMATRIX(4, 32)
        CUDASIM_STMATRIX(1, 8) CUDASIM_STMATRIX(2, 16) CUDASIM_STMATRIX(4, 32){
            "movmatrix.sync.aligned.m8n8.trans.b16",
            "warp: =b32 b32",
            "9.7.13",
            transpose_matrix}};

} // namespace

Family matrix_memory_family() {
  return {"matrix_memory", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
