// Copies of many bytes: cp.async.bulk. Source: PTX ISA 9.7.9.25.4 (bulk
// copies). They are done at once, so that waiting for a group has nothing to
// do, and the bytes have come when the mbarrier hears of them.
#include "cudasim/engine/instructions/synchronization/mbarrier_object.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

constexpr U64 kUnit = 16; // bytes: of addresses and sizes

/// What a copy leaves out.
enum Form {
  kWhole,
  kMasked, // .cp_mask: bytes of each unit for which no bit is set
  kTrimmed, // .ignore_oob: so many bytes at both ends, of which there may be
            // none in memory
};

/// Bytes of a copy that it accesses, from its address on.
struct Extent {
  U32 size; // of the copy
  U32 begin;
  U32 end;
};

/// Where in the host's memory a lane's bytes are, or a fault.
template <Space kSpace>
bool reach(
    Warp& warp,
    const Inst& inst,
    int lane,
    const Extent& extent,
    bool is_write,
    U64* address) {
  const bool misaligned = (*address % kUnit) != 0 || extent.size % kUnit != 0;
  bool outside = false;
  U64 start = 0;
  if (kSpace == kShared) {
    const U64 limit = warp.block->shared_bytes;
    outside = *address > limit || limit - *address < extent.size;
    start = reinterpret_cast<U64>(warp.block->shared);
  } else {
    outside =
        extent.begin < extent.end &&
        !find_range(
            warp, *address + extent.begin, *address + extent.end, is_write);
  }
  if (misaligned || outside) {
    access_fault(
        warp,
        inst,
        misaligned ? FaultKind::kMisalignedAddress : FaultKind::kIllegalAddress,
        lane,
        *address,
        extent.size,
        is_write);
    return false;
  }
  *address += start;
  return true;
}

/// @tparam kCounts whether an mbarrier counts the bytes: all, with those that
/// are left out.
template <Space kTo, Space kFrom, bool kCounts, Form kForm = kWhole>
Flow copy(Warp& warp, const Inst& inst, Mask active) {
  constexpr int kObject = kForm == kTrimmed ? 5 : 3;
  U64 to[kLanes];
  U64 from[kLanes];
  U64 object[kLanes];
  gather_addresses<kTo>(
      warp,
      inst.operands[0],
      inst.widths[0],
      static_cast<U64>(inst.offset),
      to);
  gather_addresses<kFrom>(
      warp, inst.operands[1], inst.widths[1], inst.immediate, from);
  if (kCounts &&
      !locate<kShared>(
          warp,
          inst,
          inst.operands[kObject],
          inst.widths[kObject],
          0,
          active,
          8,
          8,
          true,
          object)) {
    return Flow::kFault;
  }
  const U32* sizes = lanes<U32>(warp, inst.operands[2]);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    Extent extent{sizes[lane], 0, sizes[lane]};
    if (kForm == kTrimmed) {
      const U32 before = lanes<U32>(warp, inst.operands[3])[lane];
      const U32 behind = lanes<U32>(warp, inst.operands[4])[lane];
      extent.begin = before < extent.size ? before : extent.size;
      extent.end = behind < extent.size - extent.begin ? extent.size - behind
                                                       : extent.begin;
    }
    if (!reach<kTo>(warp, inst, lane, extent, true, &to[lane]) ||
        !reach<kFrom>(warp, inst, lane, extent, false, &from[lane])) {
      return Flow::kFault;
    }
    auto* const target = reinterpret_cast<char*>(to[lane]);
    const auto* const source = reinterpret_cast<const char*>(from[lane]);
    if (kForm == kMasked) {
      const U32 mask = lanes<U16>(warp, inst.operands[3])[lane];
      for (U32 k = 0; k < extent.size; ++k) {
        target[k] = (mask >> k % kUnit & 1) != 0 ? source[k] : target[k];
      }
    } else {
      __builtin_memmove(
          target + extent.begin,
          source + extent.begin,
          extent.end - extent.begin);
    }
    if (kCounts) {
      Object counted = Object::read(object[lane]);
      counted.expect(0 - static_cast<U64>(extent.size));
      counted.write(object[lane]);
    }
  }
  return Flow::kNext;
}

Flow nothing(Warp&, const Inst&, Mask) {
  return Flow::kNext;
}

// clang-format off
constexpr Entry kEntries[] = {
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
     "[shared] [global] u32:0..4294967280/16 [shared:8]", "9.7.8",
     copy<kShared, kGlobal, true>},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
     "[shared] [shared] u32:0..4294967280/16 [shared:8]", "9.7.8",
     copy<kShared, kShared, true>},
    {"cp.async.bulk.global.shared::cta.bulk_group",
     "[global] [shared] u32:0..4294967280/16", "9.7.8",
     copy<kGlobal, kShared, false>},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob",
     "[shared] [global] u32:0..4294967280/16 u32:0..15 u32:0..15 [shared:8]", "9.7.8",
     copy<kShared, kGlobal, true, kTrimmed>},
    {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask",
     "[global] [shared] u32:0..4294967280/16 b16", "9.7.8",
     copy<kGlobal, kShared, false, kMasked>},
    {"cp.async.bulk.commit_group", "", "9.7.8", nothing},
    {"cp.async.bulk.wait_group", "#u32", "9.7.8", nothing},
    {"cp.async.bulk.wait_group.read", "#u32", "9.7.8", nothing},
    {"cp.async.bulk.prefetch.L2.global",
     "[global] u32:0..4294967280/16", "9.7.8", nothing},
};
// clang-format on

} // namespace

Family bulk_copy_family() {
  return {"bulk_copy", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
