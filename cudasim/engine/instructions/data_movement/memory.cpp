// Loads, stores, address conversions, asynchronous copies, fences. Source: PTX
// ISA 9.7.9 (data movement), 9.7.13 (fences).
#include "cudasim/engine/instructions/addressing.h"

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
template <Space kSpace>
Flow is_space(Warp& warp, const Inst& inst, Mask active) {
  const U64* a = lanes<U64>(warp, inst.operands[1]);
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

/// cp.async: done at once, so that waiting for it has nothing to do.
Flow copy(Warp& warp, const Inst& inst, Mask active) {
  const U32 size = lanes<U32>(warp, inst.operands[2])[__builtin_ctz(active)];
  U64 target[kLanes];
  U64 source[kLanes];
  const U32* given = inst.operands[3] == kNoSlot
      ? nullptr
      : lanes<U32>(warp, inst.operands[3]);
  // Lanes that copy nothing only write zeros.
  Mask reading = active;
  for (int i = 0; given != nullptr && i < kLanes; ++i) {
    if (given[i] == 0) {
      reading &= ~(1u << i);
    }
  }
  if (!locate<kShared>(
          warp,
          inst,
          inst.operands[0],
          inst.widths[0],
          static_cast<U64>(inst.offset),
          active,
          size,
          size,
          true,
          target)) {
    return Flow::kFault;
  }
  if (reading != 0 &&
      !locate<kGeneric>(
          warp,
          inst,
          inst.operands[1],
          inst.widths[1],
          inst.immediate,
          reading,
          given == nullptr ? size : 1,
          given == nullptr ? size : 1,
          false,
          source)) {
    return Flow::kFault;
  }
  for (int i = 0; i < kLanes; ++i) {
    if ((active >> i & 1) == 0) {
      continue;
    }
    auto* to = reinterpret_cast<char*>(target[i]);
    U32 bytes = given == nullptr ? size : given[i];
    bytes = bytes < size ? bytes : size;
    if (bytes != 0) {
      __builtin_memcpy(to, reinterpret_cast<const void*>(source[i]), bytes);
    }
    __builtin_memset(to + bytes, 0, size - bytes);
  }
  return Flow::kNext;
}

#define CUDASIM_VECTORS(op, name, kSpace, type, T)         \
  {#op name "." #type, op##_handler<kSpace, T, 1>},        \
      {#op name ".v2." #type, op##_handler<kSpace, T, 2>}, \
      {#op name ".v4." #type, op##_handler<kSpace, T, 4>},
#define CUDASIM_TYPES(op, name, kSpace)         \
  CUDASIM_VECTORS(op, name, kSpace, b8, U8)     \
  CUDASIM_VECTORS(op, name, kSpace, u8, U8)     \
  CUDASIM_VECTORS(op, name, kSpace, s8, I8)     \
  CUDASIM_VECTORS(op, name, kSpace, b16, U16)   \
  CUDASIM_VECTORS(op, name, kSpace, u16, U16)   \
  CUDASIM_VECTORS(op, name, kSpace, s16, I16)   \
  CUDASIM_VECTORS(op, name, kSpace, f16, U16)   \
  CUDASIM_VECTORS(op, name, kSpace, bf16, U16)  \
  CUDASIM_VECTORS(op, name, kSpace, b32, U32)   \
  CUDASIM_VECTORS(op, name, kSpace, u32, U32)   \
  CUDASIM_VECTORS(op, name, kSpace, s32, I32)   \
  CUDASIM_VECTORS(op, name, kSpace, f32, U32)   \
  CUDASIM_VECTORS(op, name, kSpace, f16x2, U32) \
  CUDASIM_VECTORS(op, name, kSpace, b64, U64)   \
  CUDASIM_VECTORS(op, name, kSpace, u64, U64)   \
  CUDASIM_VECTORS(op, name, kSpace, s64, U64)   \
  CUDASIM_VECTORS(op, name, kSpace, f64, U64)
#define CUDASIM_CVTA(name, kSpace)                                  \
  {"cvta" name ".u64", convert_address<kSpace, true, U64>},         \
      {"cvta.to" name ".u64", convert_address<kSpace, false, U64>}, \
      {"isspacep" name, is_space<kSpace>},
#define CUDASIM_FENCE(name)                             \
  {"membar." #name, fence}, {"fence.sc." #name, fence}, \
      {"fence.acq_rel." #name, fence},

template <Space kSpace, typename T, int N>
constexpr Handler ld_handler = load<kSpace, T, N>;
template <Space kSpace, typename T, int N>
constexpr Handler st_handler = store<kSpace, T, N>;

constexpr Entry kEntries[] = {
    CUDASIM_TYPES(ld, "", kGeneric) CUDASIM_TYPES(ld, ".global", kGlobal)
        CUDASIM_TYPES(ld, ".const", kGlobal) CUDASIM_TYPES(
            ld,
            ".shared",
            kShared) CUDASIM_TYPES(ld, ".local", kLocal)
            CUDASIM_TYPES(ld, ".param", kParameter)
                CUDASIM_TYPES(st, "", kGeneric)
                    CUDASIM_TYPES(st, ".global", kGlobal)
                        CUDASIM_TYPES(st, ".shared", kShared)
                            CUDASIM_TYPES(st, ".local", kLocal) CUDASIM_CVTA(
                                ".global",
                                kGlobal) CUDASIM_CVTA(".const", kConstant)
                                CUDASIM_CVTA(".shared", kShared)
                                    CUDASIM_CVTA(".local", kLocal)
                                        CUDASIM_CVTA(".param", kParameter)
                                            CUDASIM_FENCE(cta) CUDASIM_FENCE(gl)
                                                CUDASIM_FENCE(sys)
                                                    CUDASIM_FENCE(gpu)
                                                        CUDASIM_FENCE(cluster){
                                                            "fence.proxy.alias",
                                                            fence},
    {"fence.proxy.async", fence},
    {"prefetch.global", nothing},
    {"prefetch.local", nothing},
    {"prefetch", nothing},
    {"prefetchu", nothing},
    {"nanosleep.u32", pause},
    {"cp.async.shared.global", copy},
    {"cp.async.commit_group", nothing},
    {"cp.async.wait_group", nothing},
    {"cp.async.wait_all", nothing}};

} // namespace

Family memory_family() {
  return {"memory", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
