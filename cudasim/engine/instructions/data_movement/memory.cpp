// Loads, stores, address conversions, asynchronous copies, fences. Source: PTX
// ISA 9.7.9 (data movement), 9.7.13 (fences).
#include "cudasim/engine/instructions/addressing.h"
#include "cudasim/engine/instructions/data_movement/asynchronous_copy.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

/// N values of T that a lane reads or writes at once.
template <typename T, int N>
struct Vector {
  T values[N];
};

template <typename Pointer>
struct ElementOf;
template <typename T>
struct ElementOf<T*> {
  using Type = T;
};
template <typename Pointer>
using Element = typename ElementOf<Pointer>::Type;

/// The registers behind an operand of a load or store, in their own width.
template <typename Use>
[[gnu::always_inline]] inline void with_registers(
    Warp& warp,
    Slot slot,
    int width,
    Use use) {
  switch (width) {
    case 2:
      use(lanes<U16>(warp, slot));
      break;
    case 4:
      use(lanes<U32>(warp, slot));
      break;
    default:
      use(lanes<U64>(warp, slot));
  }
}

/// A value out of the host's memory, which may be aligned or not.
template <typename Value>
[[gnu::always_inline]] inline Value value_at(U64 address) {
  Value value;
  __builtin_memcpy(
      &value, reinterpret_cast<const void*>(address), sizeof(value));
  return value;
}

/// Loads into registers that may be wider than T: the value is extended by its
/// sign.
template <Space kSpace, typename T, int N>
Flow load(Warp& warp, const Inst& inst, Mask active) {
  using Values = Vector<T, N>;
  Values loaded[kLanes];
  const Slot base = inst.operands[N];
  const int width = inst.widths[N];
  const U64 offset = static_cast<U64>(inst.offset);
  U64 groups[kGroups];
  const Layout layout = active != kAllLanes
      ? Layout::kScattered
      : locate_groups<kSpace, T, N>(warp, base, width, offset, false, groups);
  if (layout == Layout::kRuns) {
    for (int group = 0; group < kGroups; ++group) {
      __builtin_memcpy(
          &loaded[group * kGroup],
          reinterpret_cast<const void*>(groups[group]),
          sizeof(Values) * kGroup);
    }
  } else if (layout == Layout::kSame) {
    for (int group = 0; group < kGroups; ++group) {
      const Values value = value_at<Values>(groups[group]);
      for (int i = 0; i < kGroup; ++i) {
        loaded[group * kGroup + i] = value;
      }
    }
  } else {
    U64 host[kLanes];
    if (!locate<kSpace>(
            warp,
            inst,
            base,
            width,
            offset,
            active,
            sizeof(Values),
            sizeof(Values),
            false,
            host)) {
      return Flow::kFault;
    }
    if (active == kAllLanes) {
#pragma GCC unroll 8
      for (int i = 0; i < kLanes; ++i) {
        loaded[i] = value_at<Values>(host[i]);
      }
    } else {
      for (Mask left = active; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        loaded[i] = value_at<Values>(host[i]);
      }
    }
  }
  for (int k = 0; k < N; ++k) {
    // Never so: what is discarded has a register. With the question GCC 13
    // makes code in which a matrix product runs 7 % faster (//bench/cudasim,
    // v4).
    if (inst.operands[k] == kNoSlot) {
      continue;
    }
    with_registers(warp, inst.operands[k], inst.widths[k], [&](auto* d) {
      using Register = Element<decltype(d)>;
      if (active == kAllLanes) {
        for (int i = 0; i < kLanes; ++i) {
          d[i] = static_cast<Register>(loaded[i].values[k]);
        }
        return;
      }
      for (Mask left = active; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        d[i] = static_cast<Register>(loaded[i].values[k]);
      }
    });
  }
  return Flow::kNext;
}

template <Space kSpace, typename T, int N>
Flow store(Warp& warp, const Inst& inst, Mask active) {
  using Values = Vector<T, N>;
  const Slot base = inst.operands[0];
  const int width = inst.widths[0];
  const U64 offset = static_cast<U64>(inst.offset);
  Values values[kLanes];
  for (int k = 0; k < N; ++k) {
    with_registers(
        warp, inst.operands[1 + k], inst.widths[1 + k], [&](const auto* a) {
          for (int i = 0; i < kLanes; ++i) {
            values[i].values[k] = static_cast<T>(a[i]);
          }
        });
  }
  U64 groups[kGroups];
  const Layout layout = active != kAllLanes
      ? Layout::kScattered
      : locate_groups<kSpace, T, N>(warp, base, width, offset, true, groups);
  if (layout == Layout::kRuns) {
    for (int group = 0; group < kGroups; ++group) {
      __builtin_memcpy(
          reinterpret_cast<void*>(groups[group]),
          &values[group * kGroup],
          sizeof(Values) * kGroup);
    }
    return Flow::kNext;
  }
  U64 host[kLanes];
  if (!locate<kSpace>(
          warp,
          inst,
          base,
          width,
          offset,
          active,
          sizeof(Values),
          sizeof(Values),
          true,
          host)) {
    return Flow::kFault;
  }
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    __builtin_memcpy(
        reinterpret_cast<void*>(host[i]), &values[i], sizeof(values[i]));
  }
  return Flow::kNext;
}

template <Space kSpace>
Flow load_whole(Warp& warp, const Inst& inst, Mask active) {
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
          false,
          host)) {
    return Flow::kFault;
  }
  Whole* d = lanes<Whole>(warp, inst.operands[0]);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    d[i] = *reinterpret_cast<const WholeInMemory*>(host[i]);
  }
  return Flow::kNext;
}

template <Space kSpace>
Flow store_whole(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  if (!locate<kSpace>(
          warp,
          inst,
          inst.operands[0],
          inst.widths[0],
          static_cast<U64>(inst.offset),
          active,
          sizeof(Whole),
          sizeof(Whole),
          true,
          host)) {
    return Flow::kFault;
  }
  const Whole* a = lanes<Whole>(warp, inst.operands[1]);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    *reinterpret_cast<WholeInMemory*>(host[i]) = a[i];
  }
  return Flow::kNext;
}

/// What has to be added to an address of a space to make it generic.
template <Space kSpace>
U64 window(const Warp& warp, int lane) {
  return kSpace == kShared ? reinterpret_cast<U64>(warp.block->shared)
      : kSpace == kLocal   ? reinterpret_cast<U64>(warp.local_base) +
          static_cast<U64>(lane) * warp.local_size
      : kSpace == kParameter ? reinterpret_cast<U64>(warp.block->parameters)
                             : 0;
}

template <Space kSpace, bool kToGeneric, typename T>
Flow convert_address(Warp& warp, const Inst& inst, Mask active) {
  T* d = lanes<T>(warp, inst.operands[0]);
  const T* a = lanes<T>(warp, inst.operands[1]);
  for_lanes(d, active, [&](int i) {
    const U64 base = window<kSpace>(warp, i);
    return static_cast<T>(kToGeneric ? a[i] + base : a[i] - base);
  });
  return Flow::kNext;
}

/// Whether a generic address points into a space.
template <Space kSpace, typename T>
Flow is_space(Warp& warp, const Inst& inst, Mask active) {
  const T* addresses = lanes<T>(warp, inst.operands[1]);
  U64 a[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    a[i] = addresses[i];
  }
  const Block& block = *warp.block;
  const Mask set = lane_mask([&](int i) {
    const bool shared = a[i] - window<kShared>(warp, i) < block.shared_bytes;
    const bool local = a[i] - window<kLocal>(warp, i) < warp.local_size;
    const bool parameter =
        a[i] - window<kParameter>(warp, i) < block.parameter_bytes;
    return kSpace == kShared   ? shared
        : kSpace == kLocal     ? local
        : kSpace == kParameter ? parameter
                               : !shared && !local && !parameter &&
            is_constant(warp, a[i]) == (kSpace == kConstant);
  });
  write_predicate(warp, inst.operands[0], active, set);
  return Flow::kNext;
}

Flow nothing(Warp&, const Inst&, Mask) {
  return Flow::kNext;
}

/// Waiting gives others a chance to get on.
Flow pause(Warp&, const Inst&, Mask) {
  return Flow::kYield;
}

Flow fence(Warp&, const Inst&, Mask) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return Flow::kNext;
}

/// A cache policy, which means nothing here.
Flow no_policy(Warp& warp, const Inst& inst, Mask active) {
  U64* d = lanes<U64>(warp, inst.operands[0]);
  for_lanes(d, active, [](int) { return U64{0}; });
  return Flow::kNext;
}

#define CUDASIM_LOAD(name, space, kSpace, type, T)                          \
  {"ld" name "." #type, "=t~ <[" space ":t]", "9.7.8", load<kSpace, T, 1>}, \
      {"ld" name ".v2." #type,                                              \
       "{2*=t~_} <[" space ":2*t]",                                         \
       "9.7.8",                                                             \
       load<kSpace, T, 2>},
#define CUDASIM_LOAD_FOUR(name, space, kSpace, type, T) \
  {"ld" name ".v4." #type,                              \
   "{4*=t~_} <[" space ":4*t]",                         \
   "9.7.8",                                             \
   load<kSpace, T, 4>},
#define CUDASIM_STORE(name, space, kSpace, type, T)                         \
  {"st" name "." #type, ">[" space ":t] t~", "9.7.8", store<kSpace, T, 1>}, \
      {"st" name ".v2." #type,                                              \
       ">[" space ":2*t] {2*t~}",                                           \
       "9.7.8",                                                             \
       store<kSpace, T, 2>},
#define CUDASIM_STORE_FOUR(name, space, kSpace, type, T) \
  {"st" name ".v4." #type,                               \
   ">[" space ":4*t] {4*t~}",                            \
   "9.7.8",                                              \
   store<kSpace, T, 4>},
#define CUDASIM_LOAD_WIDE(name, space, kSpace, type, T, N) \
  {"ld" name ".v" #N "." #type,                            \
   "{" #N "*=t~_} <[" space ":" #N "*t]",                  \
   "9.7.8",                                                \
   load<kSpace, T, N>},
#define CUDASIM_STORE_WIDE(name, space, kSpace, type, T, N) \
  {"st" name ".v" #N "." #type,                             \
   ">[" space ":" #N "*t] {" #N "*t~}",                     \
   "9.7.8",                                                 \
   store<kSpace, T, N>},
#define CUDASIM_WIDE(use, name, space, kSpace)                                \
  use(name, space, kSpace, b32, U32, 8) use(name, space, kSpace, u32, U32, 8) \
      use(name, space, kSpace, s32, I32, 8)                                   \
          use(name, space, kSpace, f32, U32, 8)                               \
              use(name, space, kSpace, b64, U64, 4)                           \
                  use(name, space, kSpace, u64, U64, 4)                       \
                      use(name, space, kSpace, s64, U64, 4)                   \
                          use(name, space, kSpace, f64, U64, 4)
// A vector has 16 bytes at most, and 32 in global memory.
#define CUDASIM_NARROW_TYPES(use, name, space, kSpace)                    \
  use(name, space, kSpace, b8, U8) use(name, space, kSpace, u8, U8)       \
      use(name, space, kSpace, s8, I8) use(name, space, kSpace, b16, U16) \
          use(name, space, kSpace, u16, U16)                              \
              use(name, space, kSpace, s16, I16)                          \
                  use(name, space, kSpace, b32, U32)                      \
                      use(name, space, kSpace, u32, U32)                  \
                          use(name, space, kSpace, s32, I32)              \
                              use(name, space, kSpace, f32, U32)
#define CUDASIM_WIDE_TYPES(use, name, space, kSpace)                    \
  use(name, space, kSpace, b64, U64) use(name, space, kSpace, u64, U64) \
      use(name, space, kSpace, s64, U64) use(name, space, kSpace, f64, U64)
#define CUDASIM_LOADS(name, space, kSpace)                     \
  CUDASIM_NARROW_TYPES(CUDASIM_LOAD, name, space, kSpace)      \
  CUDASIM_NARROW_TYPES(CUDASIM_LOAD_FOUR, name, space, kSpace) \
  CUDASIM_WIDE_TYPES(CUDASIM_LOAD, name, space, kSpace)
#define CUDASIM_STORES(name, space, kSpace)                     \
  CUDASIM_NARROW_TYPES(CUDASIM_STORE, name, space, kSpace)      \
  CUDASIM_NARROW_TYPES(CUDASIM_STORE_FOUR, name, space, kSpace) \
  CUDASIM_WIDE_TYPES(CUDASIM_STORE, name, space, kSpace)
#define CUDASIM_LOAD_WHOLE(name, space, kSpace) \
  {"ld" name ".b128", "=t <[" space ":t]", "9.7.8", load_whole<kSpace>},
#define CUDASIM_STORE_WHOLE(name, space, kSpace) \
  {"st" name ".b128", ">[" space ":t] t!", "9.7.8", store_whole<kSpace>},
#define CUDASIM_CVTA(space, kSpace)                                     \
  {"cvta." space ".u64",                                                \
   "=t t&" space,                                                       \
   "9.7.8",                                                             \
   convert_address<kSpace, true, U64>},                                 \
      {"cvta.to." space ".u64",                                         \
       "=t t",                                                          \
       "9.7.8",                                                         \
       convert_address<kSpace, false, U64>},                            \
      {"isspacep." space, "=pred b64", "9.7.8", is_space<kSpace, U64>}, \
      {"isspacep." space, "=pred b32", "9.7.8", is_space<kSpace, U32>},
#define CUDASIM_MEMBAR(name) {"membar." name, "orders:", "9.7.12", fence},
#define CUDASIM_FENCE(name)                                \
  {"fence.sc." name, "orders:", "9.7.12", fence},          \
      {"fence.acq_rel." name, "orders:", "9.7.12", fence}, \
      {"fence.acquire." name, "orders:", "9.7.12", fence}, \
      {"fence.release." name, "orders:", "9.7.12", fence},

// clang-format off
#define CUDASIM_POLICY(priorities) \
  {"createpolicy.fractional." priorities ".b64", "=t f32?", "9.7.8", no_policy},

constexpr Entry kEntries[] = {
    CUDASIM_LOADS("", "generic", kGeneric)
    CUDASIM_LOADS(".global", "global", kGlobal)
    CUDASIM_LOADS(".const", "const", kGlobal)
    CUDASIM_LOADS(".shared", "shared", kShared)
    CUDASIM_LOADS(".local", "local", kLocal)
    CUDASIM_LOADS(".param", "param", kParameter)
    CUDASIM_STORES("", "generic", kGeneric)
    CUDASIM_STORES(".global", "global", kGlobal)
    CUDASIM_STORES(".shared", "shared", kShared)
    CUDASIM_STORES(".local", "local", kLocal)
    CUDASIM_WIDE(CUDASIM_LOAD_WIDE, "", "generic", kGeneric)
    CUDASIM_WIDE(CUDASIM_LOAD_WIDE, ".global", "global", kGlobal)
    CUDASIM_WIDE(CUDASIM_STORE_WIDE, "", "generic", kGeneric)
    CUDASIM_WIDE(CUDASIM_STORE_WIDE, ".global", "global", kGlobal)
    CUDASIM_LOAD_WHOLE("", "generic", kGeneric)
    CUDASIM_LOAD_WHOLE(".global", "global", kGlobal)
    CUDASIM_LOAD_WHOLE(".const", "const", kGlobal)
    CUDASIM_LOAD_WHOLE(".shared", "shared", kShared)
    CUDASIM_LOAD_WHOLE(".local", "local", kLocal)
    CUDASIM_LOAD_WHOLE(".param", "param", kParameter)
    CUDASIM_STORE_WHOLE("", "generic", kGeneric)
    CUDASIM_STORE_WHOLE(".global", "global", kGlobal)
    CUDASIM_STORE_WHOLE(".shared", "shared", kShared)
    CUDASIM_STORE_WHOLE(".local", "local", kLocal)
    CUDASIM_CVTA("global", kGlobal)
    CUDASIM_CVTA("const", kConstant)
    CUDASIM_CVTA("shared", kShared)
    CUDASIM_CVTA("local", kLocal)
    CUDASIM_CVTA("param", kParameter)
    CUDASIM_MEMBAR("cta")
    CUDASIM_MEMBAR("gl")
    CUDASIM_MEMBAR("sys")
    CUDASIM_FENCE("cta")
    CUDASIM_FENCE("sys")
    CUDASIM_FENCE("gpu")
    CUDASIM_FENCE("cluster")
    {"membar.proxy.alias", "orders:", "9.7.12", fence},
    {"membar.proxy.async", "orders:", "9.7.12", fence},
    {"fence.proxy.alias", "orders:", "9.7.12", fence},
    {"fence.proxy.async", "orders:", "9.7.12", fence},
    // A kernel begins when those before it in its stream have ended.
    {"griddepcontrol.wait", "orders:", "9.7.12", fence},
    {"griddepcontrol.launch_dependents", "", "9.7.12", nothing},
    {"prefetch.global", "[global]", "9.7.8", nothing},
    {"prefetch.local", "[local]", "9.7.8", nothing},
    {"prefetch", "[generic]", "9.7.8", nothing},
    {"prefetchu", "[generic]", "9.7.8", nothing},
    {"discard.global.L2", "[global] #u32:128", "9.7.8", nothing},
    {"discard.L2", "[generic] #u32:128", "9.7.8", nothing},
    {"applypriority.global.L2::evict_normal",
     "[global] #u32:128",
     "9.7.8",
     nothing},
    {"applypriority.L2::evict_normal", "[generic] #u32:128", "9.7.8", nothing},
    CUDASIM_POLICY("L2::evict_last")
    CUDASIM_POLICY("L2::evict_last.L2::evict_first")
    CUDASIM_POLICY("L2::evict_last.L2::evict_unchanged")
    CUDASIM_POLICY("L2::evict_normal")
    CUDASIM_POLICY("L2::evict_normal.L2::evict_first")
    CUDASIM_POLICY("L2::evict_normal.L2::evict_unchanged")
    CUDASIM_POLICY("L2::evict_first")
    CUDASIM_POLICY("L2::evict_first.L2::evict_unchanged")
    CUDASIM_POLICY("L2::evict_unchanged")
    {"createpolicy.cvt.L2.b64", "=t t", "9.7.8", no_policy},
    {"pmevent", "#u32:0..15", "9.7.18", nothing},
    {"pmevent.mask", "#u32:0..65535", "9.7.18", nothing},
    {"nanosleep.u32", "t", "9.7.12", pause},
    {"cp.async.shared.global",
     ">[shared:#2] <[global:#2] #u32:4|8|16 u32?",
     "9.7.8",
     copy<false>},
    {"cp.async.shared.global",
     ">[shared:#2] <[global:#2] #u32:4|8|16 pred",
     "9.7.8",
     copy<true>},
    {"cp.async.commit_group", "", "9.7.8", nothing},
    {"cp.async.wait_group", "#u32", "9.7.8", nothing},
    {"cp.async.wait_all", "", "9.7.8", nothing}};
// clang-format on

} // namespace

Family memory_family() {
  return {
      "memory",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "griddepcontrol nanosleep ld:older st:older"};
}

} // namespace cudasim::engine::CUDASIM_ISA
