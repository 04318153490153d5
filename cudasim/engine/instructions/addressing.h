// Addresses of memory instructions: state spaces, limits, alignment. Source:
// PTX ISA 5.1 (state spaces), 6.4 (addresses).
#pragma once

#include "cudasim/engine/instructions/lanes.h"
#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/state/block.h"

namespace cudasim::engine {
namespace {

enum Space { kGeneric, kGlobal, kConstant, kShared, kLocal, kParameter };

/// Sums of a register of 32 bits and an offset: in a space that has addresses
/// of 32 bits (PTX ISA 5.1) they wrap around there.
template <Space kSpace>
[[gnu::always_inline]] inline U64 narrow_sum(U32 base, U64 offset) {
  return kSpace == kShared || kSpace == kLocal || kSpace == kParameter
      ? static_cast<U32>(base + offset)
      : base + offset;
}

/// The addresses that an instruction names, before the space is looked at.
template <Space kSpace>
[[gnu::always_inline]] inline void gather_addresses(
    Warp& warp,
    Slot base,
    int width,
    U64 offset,
    U64* addresses) {
  if (base == kNoSlot) {
    for (int i = 0; i < kLanes; ++i) {
      addresses[i] = offset;
    }
  } else if (width == 4) {
    const U32* values = lanes<U32>(warp, base);
    for (int i = 0; i < kLanes; ++i) {
      addresses[i] = narrow_sum<kSpace>(values[i], offset);
    }
  } else {
    const U64* values = lanes<U64>(warp, base);
    for (int i = 0; i < kLanes; ++i) {
      addresses[i] = values[i] + offset;
    }
  }
}

/// Lanes whose addresses are looked at together.
inline constexpr int kGroup = 8;
inline constexpr int kGroups = kLanes / kGroup;

/// How the addresses of a full warp lie.
enum class Layout {
  kScattered,
  kRuns, // in each group one behind the other
  kSame, // in each group all the same
};

/// Whether the addresses are as coalesced accesses have them, which saves
/// looking at each lane. Differences are taken in the width of the register:
/// what wraps around is beyond every limit.
/// @param size bytes that each lane accesses.
template <typename Address>
[[gnu::always_inline]] inline Layout layout_of(const Address* a, U32 size) {
  Address run = 0;
  Address same = 0;
  for (int group = 0; group < kGroups; ++group) {
    const Address first = a[group * kGroup];
    for (int i = 0; i < kGroup; ++i) {
      const Address distance = a[group * kGroup + i] - first;
      run |= distance ^ (static_cast<Address>(i) * size);
      same |= distance;
    }
  }
  return run == 0 ? Layout::kRuns
      : same == 0 ? Layout::kSame
                  : Layout::kScattered;
}

/// Where in the host's memory each group of a full warp accesses, when the
/// lanes' addresses are laid out well and all allowed; kScattered otherwise,
/// which says nothing about faults.
template <Space kSpace, typename T, int kCount>
[[gnu::always_inline]] inline Layout locate_groups(
    Warp& warp,
    Slot base,
    int width,
    U64 offset,
    bool is_write,
    U64* host) {
  constexpr U32 kSize = sizeof(T) * kCount;
  if (kSpace == kLocal) {
    return Layout::kScattered;
  }
  Layout layout = Layout::kSame;
  if (base == kNoSlot) {
    for (int group = 0; group < kGroups; ++group) {
      host[group] = offset;
    }
  } else if (width == 4) {
    const U32* values = lanes<U32>(warp, base);
    layout = layout_of(values, kSize);
    for (int group = 0; group < kGroups; ++group) {
      host[group] = narrow_sum<kSpace>(values[group * kGroup], offset);
    }
  } else {
    const U64* values = lanes<U64>(warp, base);
    layout = layout_of(values, kSize);
    for (int group = 0; group < kGroups; ++group) {
      host[group] = values[group * kGroup] + offset;
    }
  }
  if (layout == Layout::kScattered) {
    return layout;
  }
  U64 low = host[0];
  U64 high = host[0];
  U64 bits = host[0];
  for (int group = 1; group < kGroups; ++group) {
    low = host[group] < low ? host[group] : low;
    high = host[group] > high ? host[group] : high;
    bits |= host[group];
  }
  if ((bits & (kSize - 1)) != 0) {
    return Layout::kScattered;
  }
  const U64 extent = layout == Layout::kRuns ? kGroup * kSize : kSize;
  const Block& block = *warp.block;
  U64 start = 0;
  if (kSpace == kShared || kSpace == kParameter) {
    const U64 limit =
        kSpace == kShared ? block.shared_bytes : block.parameter_bytes;
    if (high > limit || limit - high < extent ||
        (kSpace == kParameter && is_write)) {
      return Layout::kScattered;
    }
    start = kSpace == kShared ? reinterpret_cast<U64>(block.shared)
                              : reinterpret_cast<U64>(block.parameters);
  } else if (!is_cached(*warp.ranges, low, high + extent, is_write)) {
    return Layout::kScattered;
  }
  for (int group = 0; group < kGroups; ++group) {
    host[group] += start;
  }
  return layout;
}

/// Smallest and largest address of the active lanes, and all their bits.
struct Bounds {
  U64 low;
  U64 high;
  U64 bits;
};

[[gnu::always_inline]] inline Bounds bounds_of(
    const U64* addresses,
    Mask active) {
  const U64 first = addresses[__builtin_ctz(active)];
  Bounds bounds{first, first, first};
  for (int i = 0; i < kLanes; ++i) {
    const U64 address = (active >> i & 1) != 0 ? addresses[i] : first;
    bounds.low = address < bounds.low ? address : bounds.low;
    bounds.high = address > bounds.high ? address : bounds.high;
    bounds.bits |= address;
  }
  return bounds;
}

/// Where in the host's memory the lanes access, or a fault.
/// @param size bytes that each lane accesses; a power of two.
/// @param alignment bytes; 1 where any will do.
/// @param host the addresses in their space, which become the host's.
template <Space kSpace>
[[gnu::always_inline]] inline bool locate_addresses(
    Warp& warp,
    const Inst& inst,
    Mask active,
    U32 size,
    U32 alignment,
    bool is_write,
    U64* host) {
  const Bounds bounds = bounds_of(host, active);
  const auto misaligned = [&]() {
    for (int i = 0; i < kLanes; ++i) {
      if ((active >> i & 1) != 0 && (host[i] & (alignment - 1)) != 0) {
        access_fault(
            warp,
            inst,
            FaultKind::kMisalignedAddress,
            i,
            host[i],
            size,
            is_write);
        return;
      }
    }
  };
  const auto outside = [&](U64 limit) {
    for (int i = 0; i < kLanes; ++i) {
      if ((active >> i & 1) != 0 &&
          (host[i] > limit || limit - host[i] < size)) {
        access_fault(
            warp, inst, FaultKind::kIllegalAddress, i, host[i], size, is_write);
        return;
      }
    }
  };
  if ((bounds.bits & (alignment - 1)) != 0) {
    misaligned();
    return false;
  }
  const Block& block = *warp.block;
  switch (kSpace) {
    case kShared: {
      if (bounds.high > block.shared_bytes ||
          block.shared_bytes - bounds.high < size) {
        outside(block.shared_bytes);
        return false;
      }
      const U64 start = reinterpret_cast<U64>(block.shared);
      for (int i = 0; i < kLanes; ++i) {
        host[i] += start;
      }
      return true;
    }
    case kLocal: {
      if (bounds.high > warp.local_size ||
          warp.local_size - bounds.high < size) {
        outside(warp.local_size);
        return false;
      }
      const U64 start = reinterpret_cast<U64>(warp.local_base);
      for (int i = 0; i < kLanes; ++i) {
        host[i] += start + static_cast<U64>(i) * warp.local_size;
      }
      return true;
    }
    case kParameter: {
      if (is_write || bounds.high > block.parameter_bytes ||
          block.parameter_bytes - bounds.high < size) {
        outside(is_write ? 0 : block.parameter_bytes);
        return false;
      }
      const U64 start = reinterpret_cast<U64>(block.parameters);
      for (int i = 0; i < kLanes; ++i) {
        host[i] += start;
      }
      return true;
    }
    case kGlobal:
    case kConstant:
    case kGeneric:
      break;
  }
  if (is_cached(*warp.ranges, bounds.low, bounds.high + size, is_write)) {
    return true;
  }
  // Each lane by itself: they may be in different allocations.
  const U64 shared_begin = reinterpret_cast<U64>(block.shared);
  for (int i = 0; i < kLanes; ++i) {
    if ((active >> i & 1) == 0) {
      continue;
    }
    const U64 address = host[i];
    if (kSpace == kGeneric) {
      if (address - shared_begin < block.shared_bytes &&
          address - shared_begin + size <= block.shared_bytes) {
        continue;
      }
      const U64 local = reinterpret_cast<U64>(warp.local_base) +
          static_cast<U64>(i) * warp.local_size;
      if (address - local < warp.local_size &&
          address - local + size <= warp.local_size) {
        continue;
      }
      // Parameters can be read through generic addresses.
      const U64 parameters = reinterpret_cast<U64>(block.parameters);
      if (!is_write && address - parameters < block.parameter_bytes &&
          address - parameters + size <= block.parameter_bytes) {
        continue;
      }
    }
    if (!find_range(warp, address, address + size, is_write)) {
      access_fault(
          warp, inst, FaultKind::kIllegalAddress, i, address, size, is_write);
      return false;
    }
  }
  return true;
}

/// The same for the addresses in a register.
template <Space kSpace>
[[gnu::always_inline]] inline bool locate(
    Warp& warp,
    const Inst& inst,
    Slot base,
    int width,
    U64 offset,
    Mask active,
    U32 size,
    U32 alignment,
    bool is_write,
    U64* host) {
  gather_addresses<kSpace>(warp, base, width, offset, host);
  return locate_addresses<kSpace>(
      warp, inst, active, size, alignment, is_write, host);
}

/// A value of 128 bits, which x86 moves at once. In memory it may lie anywhere:
/// how addresses are aligned has been checked by then.
using Whole = U64 __attribute__((vector_size(16)));
using WholeInMemory = Whole __attribute__((aligned(1), may_alias));

} // namespace
} // namespace cudasim::engine
