// Copies of many bytes: cp.async.bulk. Source: PTX ISA 9.7.9.25.4 (bulk
// copies). They are done at once, so that waiting for a group has nothing to
// do, and the bytes have come when the mbarrier hears of them.
#include "cudasim/engine/instructions/synchronization/mbarrier_object.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

constexpr U64 kUnit = 16; // bytes: of addresses and sizes

/// Where in the host's memory a lane's bytes are, or a fault.
template <Space kSpace>
bool reach(
    Warp& warp,
    const Inst& inst,
    int lane,
    U32 size,
    bool is_write,
    U64* address) {
  const bool misaligned = (*address % kUnit) != 0 || size % kUnit != 0;
  bool outside = false;
  U64 start = 0;
  if (kSpace == kShared) {
    const U64 limit = warp.block->shared_bytes;
    outside = *address > limit || limit - *address < size;
    start = reinterpret_cast<U64>(warp.block->shared);
  } else {
    outside =
        size != 0 && !find_range(warp, *address, *address + size, is_write);
  }
  if (misaligned || outside) {
    access_fault(
        warp,
        inst,
        misaligned ? FaultKind::kMisalignedAddress : FaultKind::kIllegalAddress,
        lane,
        *address,
        size,
        is_write);
    return false;
  }
  *address += start;
  return true;
}

/// @tparam kCounts whether an mbarrier counts the bytes.
template <Space kTo, Space kFrom, bool kCounts>
Flow copy(Warp& warp, const Inst& inst, Mask active) {
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
          inst.operands[3],
          inst.widths[3],
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
    const U32 size = sizes[lane];
    if (!reach<kTo>(warp, inst, lane, size, true, &to[lane]) ||
        !reach<kFrom>(warp, inst, lane, size, false, &from[lane])) {
      return Flow::kFault;
    }
    __builtin_memmove(
        reinterpret_cast<void*>(to[lane]),
        reinterpret_cast<const void*>(from[lane]),
        size);
    if (kCounts) {
      Object counted = Object::read(object[lane]);
      counted.expect(0 - static_cast<U64>(size));
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
