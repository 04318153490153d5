// Matrices of a warp that are loaded, multiplied and stored as a whole: wmma.
// Source: PTX ISA 9.7.14.3 and .4.
#include "cudasim/engine/instructions/half_types.h"
#include "cudasim/engine/instructions/matrix/transfer.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

struct HalfElement {
  static constexpr int kBytes = 2;
  static float read(U64 bits) {
    return Half::widen(static_cast<U16>(bits));
  }
  static U64 write(float x) {
    return Half::narrow(x);
  }
};
struct BrainElement {
  static constexpr int kBytes = 2;
  static float read(U64 bits) {
    return Brain::widen(static_cast<U16>(bits));
  }
};
struct Tf32Element {
  static constexpr int kBytes = 4;
  static float read(U64 bits) {
    // The device ignores the bits that tf32 does not have.
    return bits_as<float>(static_cast<U32>(bits) & ~0x1fffu);
  }
};
struct FloatElement {
  static constexpr int kBytes = 4;
  static float read(U64 bits) {
    return bits_as<float>(static_cast<U32>(bits));
  }
  static U64 write(float x) {
    return bits_as<U32>(x);
  }
};
struct DoubleElement {
  static constexpr int kBytes = 8;
  static double read(U64 bits) {
    return bits_as<double>(bits);
  }
  static U64 write(double x) {
    return bits_as<U64>(x);
  }
};
template <typename T>
struct ByteElement {
  static constexpr int kBytes = 1;
  static I64 read(U64 bits) {
    return static_cast<T>(bits);
  }
};
template <bool kSaturate>
struct WordElement {
  static constexpr int kBytes = 4;
  static I64 read(U64 bits) {
    return static_cast<I32>(bits);
  }
  static U64 write(I64 x) {
    if (kSaturate) {
      x = x > 0x7fffffff ? 0x7fffffff : x < -0x80000000ll ? -0x80000000ll : x;
    }
    return static_cast<U32>(x);
  }
};

/// How many registers A's or B's fragment has: in half precision always eight.
template <typename Element>
constexpr int input_registers(const Fragment& shape) {
  return __is_same(Element, HalfElement) ? 8 : shape.registers();
}

/// D = A B + C.
template <int kM, int kN, int kK, typename AB, typename D, typename C>
Flow multiply_fragments(Warp& warp, const Inst& inst, Mask active) {
  using Number = decltype(AB::read(0));
  constexpr Fragment a = fragment(kA, kM, kN, kK, AB::kBytes);
  constexpr Fragment b = fragment(kB, kM, kN, kK, AB::kBytes);
  constexpr Fragment c = fragment(kC, kM, kN, kK, C::kBytes);
  constexpr Fragment d = fragment(kC, kM, kN, kK, D::kBytes);
  constexpr int kFirstA = d.registers();
  constexpr int kFirstB = kFirstA + input_registers<AB>(a);
  constexpr int kFirstC = kFirstB + input_registers<AB>(b);
  Number left[kM][kK];
  Number right[kK][kN];
  Number sums[kM][kN];
  for (int e = 0; e < a.elements(); ++e) {
    const Slot slot = operand(inst, kFirstA + e / a.packed());
    for (int lane = 0; lane < kLanes; ++lane) {
      const Place place = a.place(lane, e);
      left[place.row][place.column] =
          AB::read(read_bits(warp, slot, a, lane, e));
    }
  }
  for (int e = 0; e < b.elements(); ++e) {
    const Slot slot = operand(inst, kFirstB + e / b.packed());
    for (int lane = 0; lane < kLanes; ++lane) {
      const Place place = b.place(lane, e);
      right[place.row][place.column] =
          AB::read(read_bits(warp, slot, b, lane, e));
    }
  }
  for (int row = 0; row < kM; ++row) {
    for (int column = 0; column < kN; ++column) {
      sums[row][column] = 0;
    }
    for (int k = 0; k < kK; ++k) {
      for (int column = 0; column < kN; ++column) {
        sums[row][column] += left[row][k] * right[k][column];
      }
    }
  }
  for (int e = 0; e < c.elements(); ++e) {
    const Slot slot = operand(inst, kFirstC + e / c.packed());
    for (int lane = 0; lane < kLanes; ++lane) {
      const Place place = c.place(lane, e);
      sums[place.row][place.column] +=
          C::read(read_bits(warp, slot, c, lane, e));
    }
  }
  for (int r = 0; r < d.registers(); ++r) {
    U64 result[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      U64 word = 0;
      for (int e = 0; e < d.packed(); ++e) {
        const Place place = d.place(lane, r * d.packed() + e);
        word |= D::write(sums[place.row][place.column]) << (8 * D::kBytes * e);
      }
      result[lane] = word;
    }
    const Slot slot = operand(inst, r);
    if (D::kBytes == 8) {
      for_lanes(
          lanes<U64>(warp, slot), active, [&](int i) { return result[i]; });
    } else {
      for_lanes(lanes<U32>(warp, slot), active, [&](int i) {
        return static_cast<U32>(result[i]);
      });
    }
  }
  return Flow::kNext;
}

/// What the row says, which has to be what the fragment has.
constexpr int same(int written, int computed) {
  return written == computed ? written : throw "another number of registers";
}

// Keys, from the inside to the outside: state spaces, layouts, shapes.
#define CUDASIM_LOAD(what, name, space, kSpace, type, lines, registers, code) \
  {"wmma.load." what name "." type,                                           \
   "warp: {" registers "_} <[" space ":" lines "*t] u32?",                    \
   "9.7.13",                                                                  \
   load_fragment<kSpace>,                                                     \
   code},
#define CUDASIM_STORE(what, name, space, kSpace, type, lines, registers, code) \
  {"wmma.store." what name "." type,                                           \
   "warp: >[" space ":" lines "*t] {" registers "} u32?",                      \
   "9.7.13",                                                                   \
   store_fragment<kSpace>,                                                     \
   code},
#define CUDASIM_SPACES(use, what, type, lines, registers, code)         \
  use(what, "", "generic", kGeneric, type, lines, registers, code) use( \
      what, ".global", "global", kGlobal, type, lines, registers, code) \
      use(what, ".shared", "shared", kShared, type, lines, registers, code)
// A matrix has so many rows and columns; its lines in memory are one or the
// other.
#define CUDASIM_MOVE(                                                       \
    use, what, role, m, n, k, rows, columns, type, bytes, registers, count) \
  CUDASIM_SPACES(                                                           \
      use,                                                                  \
      what ".sync.aligned.row.m" #m "n" #n "k" #k,                          \
      type,                                                                 \
      #rows "x" #columns,                                                   \
      registers,                                                            \
      code_of(role, m, n, k, bytes, count, true))                           \
  CUDASIM_SPACES(                                                           \
      use,                                                                  \
      what ".sync.aligned.col.m" #m "n" #n "k" #k,                          \
      type,                                                                 \
      #columns "x" #rows,                                                   \
      registers,                                                            \
      code_of(role, m, n, k, bytes, count, false))
// `a` and `b`: how many registers the fragments have, `word` of which type.
#define CUDASIM_INPUT(                                              \
    what, role, m, n, k, rows, columns, type, Element, count, word) \
  CUDASIM_MOVE(                                                     \
      CUDASIM_LOAD,                                                 \
      what,                                                         \
      role,                                                         \
      m,                                                            \
      n,                                                            \
      k,                                                            \
      rows,                                                         \
      columns,                                                      \
      type,                                                         \
      Element::kBytes,                                              \
      #count "*=" word,                                             \
      same(                                                         \
          count,                                                    \
          input_registers<Element>(fragment(role, m, n, k, Element::kBytes))))
#define CUDASIM_INPUTS(m, n, k, type, Element, a, b, word)      \
  CUDASIM_INPUT("a", kA, m, n, k, m, k, type, Element, a, word) \
  CUDASIM_INPUT("b", kB, m, n, k, k, n, type, Element, b, word)
#define CUDASIM_SUMS(m, n, k, type, bytes, count, word)      \
  CUDASIM_MOVE(                                              \
      CUDASIM_LOAD,                                          \
      "c",                                                   \
      kC,                                                    \
      m,                                                     \
      n,                                                     \
      k,                                                     \
      m,                                                     \
      n,                                                     \
      type,                                                  \
      bytes,                                                 \
      #count "*=" word,                                      \
      same(count, fragment(kC, m, n, k, bytes).registers())) \
  CUDASIM_MOVE(                                              \
      CUDASIM_STORE,                                         \
      "d",                                                   \
      kC,                                                    \
      m,                                                     \
      n,                                                     \
      k,                                                     \
      m,                                                     \
      n,                                                     \
      type,                                                  \
      bytes,                                                 \
      #count "*" word,                                       \
      same(count, fragment(kC, m, n, k, bytes).registers()))
#define CUDASIM_PRODUCT_OPERANDS(a, b, ab, d, c) \
  "warp: {" d "_} {" #a "*" ab "} {" #b "*" ab "} {" c "}"
// The order of the two layouts does not matter to a key.
#define CUDASIM_PRODUCTS(m, n, k, types, AB, D, C, operands)     \
  {"wmma.mma.sync.aligned.row.row.m" #m "n" #n "k" #k types,     \
   operands,                                                     \
   "9.7.13",                                                     \
   multiply_fragments<m, n, k, AB, D, C>},                       \
      {"wmma.mma.sync.aligned.row.col.m" #m "n" #n "k" #k types, \
       operands,                                                 \
       "9.7.13",                                                 \
       multiply_fragments<m, n, k, AB, D, C>},                   \
      {"wmma.mma.sync.aligned.col.col.m" #m "n" #n "k" #k types, \
       operands,                                                 \
       "9.7.13",                                                 \
       multiply_fragments<m, n, k, AB, D, C>},

using SignedByte = ByteElement<I8>;
using UnsignedByte = ByteElement<U8>;
using Word = WordElement<false>;
using SaturatedWord = WordElement<true>;

#define CUDASIM_BYTE_PRODUCTS(m, n, k, type, Element, a, b)     \
  CUDASIM_INPUTS(m, n, k, type, Element, a, b, "b32")           \
  CUDASIM_PRODUCTS(                                             \
      m,                                                        \
      n,                                                        \
      k,                                                        \
      ".s32." type "." type ".s32",                             \
      Element,                                                  \
      Word,                                                     \
      Word,                                                     \
      CUDASIM_PRODUCT_OPERANDS(a, b, "b32", "8*=s32", "8*s32")) \
  CUDASIM_PRODUCTS(                                             \
      m,                                                        \
      n,                                                        \
      k,                                                        \
      ".satfinite.s32." type "." type ".s32",                   \
      Element,                                                  \
      SaturatedWord,                                            \
      SaturatedWord,                                            \
      CUDASIM_PRODUCT_OPERANDS(a, b, "b32", "8*=s32", "8*s32"))
#define CUDASIM_HALF_PRODUCTS(m, n, k, types, D, C, d, c) \
  CUDASIM_PRODUCTS(                                       \
      m,                                                  \
      n,                                                  \
      k,                                                  \
      types,                                              \
      HalfElement,                                        \
      D,                                                  \
      C,                                                  \
      CUDASIM_PRODUCT_OPERANDS(8, 8, "b32", d, c))
// `a`, `b`: registers of inputs of 16 bits but f16, `byte_a`, `byte_b` of 8.
#define CUDASIM_SHAPE(m, n, k, a, b, byte_a, byte_b)                      \
  CUDASIM_INPUTS(m, n, k, "f16", HalfElement, 8, 8, "b32")                \
  CUDASIM_INPUTS(m, n, k, "bf16", BrainElement, a, b, "b32")              \
  CUDASIM_SUMS(m, n, k, "f16", 2, 4, "b32")                               \
  CUDASIM_SUMS(m, n, k, "f32", 4, 8, "f32")                               \
  CUDASIM_SUMS(m, n, k, "s32", 4, 8, "s32")                               \
  CUDASIM_HALF_PRODUCTS(                                                  \
      m, n, k, ".f32.f32", FloatElement, FloatElement, "8*=f32", "8*f32") \
  CUDASIM_HALF_PRODUCTS(                                                  \
      m, n, k, ".f16.f16", HalfElement, HalfElement, "4*=b32", "4*b32")   \
  CUDASIM_HALF_PRODUCTS(                                                  \
      m, n, k, ".f32.f16", FloatElement, HalfElement, "8*=f32", "4*b32")  \
  CUDASIM_HALF_PRODUCTS(                                                  \
      m, n, k, ".f16.f32", HalfElement, FloatElement, "4*=b32", "8*f32")  \
  CUDASIM_PRODUCTS(                                                       \
      m,                                                                  \
      n,                                                                  \
      k,                                                                  \
      ".f32.bf16.bf16.f32",                                               \
      BrainElement,                                                       \
      FloatElement,                                                       \
      FloatElement,                                                       \
      CUDASIM_PRODUCT_OPERANDS(a, b, "b32", "8*=f32", "8*f32"))           \
  CUDASIM_BYTE_PRODUCTS(m, n, k, "s8", SignedByte, byte_a, byte_b)        \
  CUDASIM_BYTE_PRODUCTS(m, n, k, "u8", UnsignedByte, byte_a, byte_b)

// clang-format off
constexpr Entry kEntries[] = {
    CUDASIM_SHAPE(16, 16, 16, 4, 4, 2, 2)
    CUDASIM_SHAPE(32, 8, 16, 8, 2, 4, 1)
    CUDASIM_SHAPE(8, 32, 16, 2, 8, 1, 4)
    CUDASIM_INPUTS(16, 16, 8, "tf32", Tf32Element, 4, 4, "b32")
    CUDASIM_SUMS(16, 16, 8, "f32", 4, 8, "f32")
    CUDASIM_PRODUCTS(
        16, 16, 8, ".f32.tf32.tf32.f32",
        Tf32Element, FloatElement, FloatElement,
        CUDASIM_PRODUCT_OPERANDS(4, 4, "b32", "8*=f32", "8*f32"))
    CUDASIM_INPUTS(8, 8, 4, "f64", DoubleElement, 1, 1, "f64")
    CUDASIM_SUMS(8, 8, 4, "f64", 8, 2, "f64")
    CUDASIM_PRODUCTS(
        8, 8, 4, ".f64.f64.f64.f64",
        DoubleElement, DoubleElement, DoubleElement,
        CUDASIM_PRODUCT_OPERANDS(1, 1, "f64", "2*=f64", "2*f64"))
    CUDASIM_PRODUCTS(
        8, 8, 4, ".rn.f64.f64.f64.f64",
        DoubleElement, DoubleElement, DoubleElement,
        CUDASIM_PRODUCT_OPERANDS(1, 1, "f64", "2*=f64", "2*f64"))};
// clang-format on

} // namespace

Family warp_matrix_family() {
  return {"warp_matrix", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
