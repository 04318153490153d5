// Atomic operations. Source: PTX ISA 9.7.13.4 (atom) and 9.7.13.5 (red).
#include <type_traits>

#include "cudasim/engine/instructions/addressing.h"
#include "cudasim/engine/instructions/half_types.h"
#include "cudasim/engine/instructions/synchronization/reductions.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

struct Exchange {
  template <typename T>
  static T run(T, T b) {
    return b;
  }
};
struct Increment {
  static U32 run(U32 a, U32 b) {
    return a >= b ? 0 : a + 1;
  }
};
struct Decrement {
  static U32 run(U32 a, U32 b) {
    return a == 0 || a > b ? b : a - 1;
  }
};
/// What devices do in global memory: denormal numbers count as zeros.
struct FlushingAdd {
  static float run(float a, float b) {
    return flush(flush(a) + flush(b));
  }
};
template <typename F>
struct AddHalf {
  static U16 run(U16 a, U16 b) {
    return F::narrow(F::widen(a) + F::widen(b));
  }
};
// NaN loses against a number; -0 is less than +0.
template <typename F, bool kMaximum>
struct ExtremeHalf {
  static U16 run(U16 a, U16 b) {
    const float x = F::widen(a);
    const float y = F::widen(b);
    if (x != x || y != y) {
      return x == x ? a : y == y ? b : F::kNan;
    }
    if (x == y) {
      return ((a & 0x8000) != 0) == kMaximum ? b : a;
    }
    return (x < y) == kMaximum ? b : a;
  }
};
template <typename F, typename Op>
struct Pair {
  static U32 run(U32 a, U32 b) {
    const U16 low = Op::run(static_cast<U16>(a), static_cast<U16>(b));
    const U16 high =
        Op::run(static_cast<U16>(a >> 16), static_cast<U16>(b >> 16));
    return static_cast<U32>(high) << 16 | low;
  }
};
template <int kSize>
struct WordOf;
template <>
struct WordOf<2> {
  using Type = U16;
};
template <>
struct WordOf<4> {
  using Type = U32;
};
template <>
struct WordOf<8> {
  using Type = U64;
};

/// Changes a word of memory; returns what was there.
/// @param alone whether no other host thread can come to it: not only the
/// workers of this launch can, but other streams, the host and other processes.
template <typename Op, typename T>
T change(void* place, T operand, bool alone) {
  using Word = typename WordOf<sizeof(T)>::Type;
  auto* word = static_cast<Word*>(place);
  if (alone) {
    T old;
    __builtin_memcpy(&old, word, sizeof(T));
    const T next = Op::run(old, operand);
    __builtin_memcpy(word, &next, sizeof(T));
    return old;
  }
  Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (true) {
    const T old = bits_as<T>(seen);
    const auto next = bits_as<Word>(Op::run(old, operand));
    if (__atomic_compare_exchange_n(
            word, &seen, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      return old;
    }
  }
}

/// Whether an operation on this space may meet global memory, where a sum of
/// float is a FlushingAdd. In shared memory it is not (PTX ISA 9.7.13.4).
template <typename Op, typename T, Space kSpace>
inline constexpr bool kFlushes =
    std::is_same_v<Op, Add> && std::is_same_v<T, float> && kSpace != kShared;

/// Lanes take their turn in ascending order.
template <typename Op, typename T, Space kSpace, bool kReturns>
Flow atomic(Warp& warp, const Inst& inst, Mask active) {
  constexpr int kAddress = kReturns ? 1 : 0;
  U64 host[kLanes];
  if (!locate<kSpace>(
          warp,
          inst,
          inst.operands[kAddress],
          inst.widths[kAddress],
          static_cast<U64>(inst.offset),
          active,
          sizeof(T),
          sizeof(T),
          true,
          host)) {
    return Flow::kFault;
  }
  // A block runs on one host thread.
  constexpr bool kAlone = kSpace == kShared;
  const T* b = lanes<T>(warp, inst.operands[kAddress + 1]);
  T* d = kReturns ? lanes<T>(warp, inst.operands[0]) : nullptr;
  const auto shared = reinterpret_cast<U64>(warp.block->shared);
  for (int i = 0; i < kLanes; ++i) {
    if ((active >> i & 1) != 0) {
      auto* place = reinterpret_cast<void*>(host[i]);
      T old;
      if (kFlushes<Op, T, kSpace> &&
          host[i] - shared >= warp.block->shared_bytes) {
        using Flushing =
            std::conditional_t<kFlushes<Op, T, kSpace>, FlushingAdd, Op>;
        old = change<Flushing, T>(place, b[i], kAlone);
      } else {
        old = change<Op, T>(place, b[i], kAlone);
      }
      if (d != nullptr) {
        d[i] = old;
      }
    }
  }
  return Flow::kNext;
}

/// Neighbouring values, each changed by itself. Lanes take their turn in
/// ascending order.
template <typename Op, typename T, int N, Space kSpace, bool kReturns>
Flow atomic_vector(Warp& warp, const Inst& inst, Mask active) {
  constexpr int kAddress = kReturns ? N : 0;
  constexpr bool kLong = kAddress + 1 + N > kOperands;
  const auto slot = [&](int k) {
    return kLong ? inst.more[k] : inst.operands[k];
  };
  U64 host[kLanes];
  if (!locate<kSpace>(
          warp,
          inst,
          slot(kAddress),
          kLong ? 8 : inst.widths[kAddress],
          static_cast<U64>(inst.offset),
          active,
          sizeof(T) * N,
          sizeof(T) * N,
          true,
          host)) {
    return Flow::kFault;
  }
  using Flushing = std::conditional_t<kFlushes<Op, T, kSpace>, FlushingAdd, Op>;
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    auto* place = reinterpret_cast<T*>(host[i]);
    // Results may be in the registers of sources.
    T b[N];
    for (int k = 0; k < N; ++k) {
      b[k] = lanes<T>(warp, slot(kAddress + 1 + k))[i];
    }
    for (int k = 0; k < N; ++k) {
      const T old = change<Flushing, T>(place + k, b[k], false);
      if (kReturns) {
        lanes<T>(warp, slot(k))[i] = old;
      }
    }
  }
  return Flow::kNext;
}

template <typename T, Space kSpace>
Flow compare_and_swap(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  if (!locate<kSpace>(
          warp,
          inst,
          inst.operands[1],
          inst.widths[1],
          static_cast<U64>(inst.offset),
          active,
          sizeof(T),
          sizeof(T),
          true,
          host)) {
    return Flow::kFault;
  }
  const T* expected = lanes<T>(warp, inst.operands[2]);
  const T* desired = lanes<T>(warp, inst.operands[3]);
  T* d = lanes<T>(warp, inst.operands[0]);
  for (int i = 0; i < kLanes; ++i) {
    if ((active >> i & 1) == 0) {
      continue;
    }
    T old = expected[i];
    __atomic_compare_exchange_n(
        reinterpret_cast<T*>(host[i]),
        &old,
        desired[i],
        false,
        __ATOMIC_SEQ_CST,
        __ATOMIC_SEQ_CST);
    d[i] = old;
  }
  return Flow::kNext;
}

/// Puts `next` where `seen` is, all 16 bytes at once; `seen` becomes what was
/// there. Every x86-64 since 2006 has the instruction, and every aarch64 the
/// pair; the compiler's builtin would be a call of a library.
bool swap_whole(void* place, Whole* seen, Whole next) {
#if defined(__aarch64__)
  U64 low = 0;
  U64 high = 0;
  unsigned failed = 0;
  bool same = false;
  do {
    __asm__ volatile("ldaxp %0, %1, %2"
                     : "=&r"(low), "=&r"(high)
                     : "Q"(*static_cast<WholeInMemory*>(place))
                     : "memory");
    same = low == (*seen)[0] && high == (*seen)[1];
    // What was loaded is one value only where it could be stored again.
    const U64 first = same ? next[0] : low;
    const U64 second = same ? next[1] : high;
    __asm__ volatile("stlxp %w0, %2, %3, %1"
                     : "=&r"(failed), "=Q"(*static_cast<WholeInMemory*>(place))
                     : "r"(first), "r"(second)
                     : "memory");
  } while (failed != 0);
  *seen = Whole{low, high};
  return same;
#else
  U64 low = (*seen)[0];
  U64 high = (*seen)[1];
  bool done = false;
  __asm__ volatile("lock cmpxchg16b %1"
                   : "=@ccz"(done),
                     "+m"(*static_cast<WholeInMemory*>(place)),
                     "+a"(low),
                     "+d"(high)
                   : "b"(next[0]), "c"(next[1])
                   : "memory");
  *seen = Whole{low, high};
  return done;
#endif
}

/// Exchanges values of 128 bits, always or where the one that is there is as
/// expected.
template <Space kSpace, bool kCompares>
Flow exchange_whole(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  if (!locate<kSpace>(
          warp,
          inst,
          inst.operands[1],
          inst.widths[1],
          static_cast<U64>(inst.offset),
          active,
          sizeof(Whole),
          sizeof(Whole),
          true,
          host)) {
    return Flow::kFault;
  }
  const Whole* expected = lanes<Whole>(warp, inst.operands[2]);
  const Whole* next = lanes<Whole>(warp, inst.operands[kCompares ? 3 : 2]);
  Whole* d = lanes<Whole>(warp, inst.operands[0]);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    auto* place = reinterpret_cast<void*>(host[i]);
    Whole seen =
        kCompares ? expected[i] : *static_cast<const WholeInMemory*>(place);
    while (!swap_whole(place, &seen, next[i]) && !kCompares) {
    }
    d[i] = seen;
  }
  return Flow::kNext;
}

#define CUDASIM_EXCHANGE_WHOLE(name, space, kSpace) \
  {"atom" name ".exch.b128",                        \
   "=t_ <>[" space ":t] t!",                        \
   "9.7.12",                                        \
   exchange_whole<kSpace, false>},                  \
      {"atom" name ".cas.b128",                     \
       "=t_ <>[" space ":t] t! t!",                 \
       "9.7.12",                                    \
       exchange_whole<kSpace, true>},
#define CUDASIM_ATOM(name, space, op, handler, type) \
  {"atom" name "." op "." type, "=t_ <>[" space ":t] t", "9.7.12", handler},
#define CUDASIM_RED(name, space, op, handler, type) \
  {"red" name "." op "." type, "<>[" space ":t] t", "9.7.12", handler},
#define CUDASIM_EXCHANGE(type, T)                                              \
  CUDASIM_ATOM(                                                                \
      "", "generic", "exch", (atomic<Exchange, T, kGeneric, true>), type)      \
  CUDASIM_ATOM(                                                                \
      ".global", "global", "exch", (atomic<Exchange, T, kGlobal, true>), type) \
  CUDASIM_ATOM(                                                                \
      ".shared", "shared", "exch", (atomic<Exchange, T, kShared, true>), type)
#define CUDASIM_PLACE(name, space, kSpace, op, Op, type, T)          \
  CUDASIM_ATOM(name, space, op, (atomic<Op, T, kSpace, true>), type) \
  CUDASIM_RED(name, space, op, (atomic<Op, T, kSpace, false>), type)
#define CUDASIM_ATOMIC(op, Op, type, T)                        \
  CUDASIM_PLACE("", "generic", kGeneric, op, Op, type, T)      \
  CUDASIM_PLACE(".global", "global", kGlobal, op, Op, type, T) \
  CUDASIM_PLACE(".shared", "shared", kShared, op, Op, type, T)
#define CUDASIM_BITS(op, Op)         \
  CUDASIM_ATOMIC(op, Op, "b32", U32) \
  CUDASIM_ATOMIC(op, Op, "b64", U64)
#define CUDASIM_SUM(op, Op)          \
  CUDASIM_ATOMIC(op, Op, "u32", U32) \
  CUDASIM_ATOMIC(op, Op, "s32", I32) \
  CUDASIM_ATOMIC(op, Op, "u64", U64)
#define CUDASIM_ORDERED(op, Op) \
  CUDASIM_SUM(op, Op) CUDASIM_ATOMIC(op, Op, "s64", I64)
#define CUDASIM_SWAP(name, space, kSpace, type, T) \
  {"atom" name ".cas." type,                       \
   "=t_ <>[" space ":t] t t",                      \
   "9.7.12",                                       \
   compare_and_swap<T, kSpace>},
#define CUDASIM_CAS(type, T)                          \
  CUDASIM_SWAP("", "generic", kGeneric, type, T)      \
  CUDASIM_SWAP(".global", "global", kGlobal, type, T) \
  CUDASIM_SWAP(".shared", "shared", kShared, type, T)

#define CUDASIM_VECTOR_OF(name, space, kSpace, op, Op, N, type, T) \
  {"atom" name ".v" #N "." op "." type,                            \
   "{" #N "*=t_} <>[" space ":" #N "*t] {" #N "*t}",               \
   "9.7.12",                                                       \
   atomic_vector<Op, T, N, kSpace, true>},                         \
      {"red" name ".v" #N "." op "." type,                         \
       "<>[" space ":" #N "*t] {" #N "*t}",                        \
       "9.7.12",                                                   \
       atomic_vector<Op, T, N, kSpace, false>},
#define CUDASIM_VECTOR(op, Op, N, type, T)                       \
  CUDASIM_VECTOR_OF("", "generic", kGeneric, op, Op, N, type, T) \
  CUDASIM_VECTOR_OF(".global", "global", kGlobal, op, Op, N, type, T)
#define CUDASIM_VECTORS(op, one, OneOp, two, TwoOp) \
  CUDASIM_VECTOR(op, OneOp, 2, one, U16)            \
  CUDASIM_VECTOR(op, OneOp, 4, one, U16)            \
  CUDASIM_VECTOR(op, OneOp, 8, one, U16)            \
  CUDASIM_VECTOR(op, TwoOp, 2, two, U32)            \
  CUDASIM_VECTOR(op, TwoOp, 4, two, U32)

using HalfMinimum = ExtremeHalf<Half, false>;
using HalfMaximum = ExtremeHalf<Half, true>;
using BrainMinimum = ExtremeHalf<Brain, false>;
using BrainMaximum = ExtremeHalf<Brain, true>;
using HalfPairMinimum = Pair<Half, HalfMinimum>;
using HalfPairMaximum = Pair<Half, HalfMaximum>;
using BrainPairMinimum = Pair<Brain, BrainMinimum>;
using BrainPairMaximum = Pair<Brain, BrainMaximum>;
using HalfAdd = AddHalf<Half>;
using BrainAdd = AddHalf<Brain>;
using HalfPairAdd = Pair<Half, AddHalf<Half>>;
using BrainPairAdd = Pair<Brain, AddHalf<Brain>>;

constexpr Entry kEntries[] = {
    CUDASIM_VECTOR("add", Add, 2, "f32", float) CUDASIM_VECTOR(
        "add",
        Add,
        4,
        "f32",
        float) CUDASIM_VECTORS("add", "f16", HalfAdd, "f16x2", HalfPairAdd)
        CUDASIM_VECTORS("add", "bf16", BrainAdd, "bf16x2", BrainPairAdd) CUDASIM_VECTORS(
            "min",
            "f16",
            HalfMinimum,
            "f16x2",
            HalfPairMinimum) CUDASIM_VECTORS("min", "bf16", BrainMinimum, "bf16x2", BrainPairMinimum)
            CUDASIM_VECTORS("max", "f16", HalfMaximum, "f16x2", HalfPairMaximum)
                CUDASIM_VECTORS(
                    "max",
                    "bf16",
                    BrainMaximum,
                    "bf16x2",
                    BrainPairMaximum) CUDASIM_SUM("add", Add)
                    CUDASIM_ORDERED("min", Minimum) CUDASIM_ORDERED(
                        "max",
                        Maximum) CUDASIM_BITS("and", And) CUDASIM_BITS("or", Or)
                        CUDASIM_BITS("xor", Xor) CUDASIM_EXCHANGE(
                            "b32",
                            U32) CUDASIM_EXCHANGE("b64", U64)
                            CUDASIM_ATOMIC("inc", Increment, "u32", U32) CUDASIM_ATOMIC(
                                "dec",
                                Decrement,
                                "u32",
                                U32) CUDASIM_ATOMIC("add", Add, "f32", float)
                                CUDASIM_ATOMIC(
                                    "add",
                                    Add,
                                    "f64",
                                    double) CUDASIM_ATOMIC("add", HalfAdd, "f16", U16)
                                    CUDASIM_ATOMIC("add", BrainAdd, "bf16", U16)
                                        CUDASIM_ATOMIC(
                                            "add",
                                            HalfPairAdd,
                                            "f16x2",
                                            U32)
                                            CUDASIM_ATOMIC(
                                                "add",
                                                BrainPairAdd,
                                                "bf16x2",
                                                U32) CUDASIM_CAS("b16", U16)
                                                CUDASIM_CAS(
                                                    "b32",
                                                    U32) CUDASIM_CAS("b64", U64)
                                                    CUDASIM_EXCHANGE_WHOLE(
                                                        "",
                                                        "generic",
                                                        kGeneric)
                                                        CUDASIM_EXCHANGE_WHOLE(
                                                            ".global",
                                                            "global",
                                                            kGlobal)
                                                            CUDASIM_EXCHANGE_WHOLE(
                                                                ".shared",
                                                                "shared",
                                                                kShared)};

} // namespace

Family atomic_family() {
  return {"atomic", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
