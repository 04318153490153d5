// Cancelling clusters that have not begun: clusterlaunchcontrol. Every request
// is declined, as it is on a GPU where nothing is left to begin. Source: PTX
// ISA 9.7.13.17.
#include "cudasim/engine/instructions/synchronization/mbarrier_object.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

/// The response is 16 bytes of zeros, which an mbarrier counts.
template <Space kSpace>
Flow try_cancel(Warp& warp, const Inst& inst, Mask active) {
  U64 response[kLanes];
  U64 object[kLanes];
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
          response) ||
      !locate<kSpace>(
          warp,
          inst,
          inst.operands[1],
          inst.widths[1],
          inst.immediate,
          active,
          8,
          8,
          true,
          object)) {
    return Flow::kFault;
  }
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    __builtin_memset(reinterpret_cast<void*>(response[lane]), 0, sizeof(Whole));
    Object counted = Object::read(object[lane]);
    counted.expect(0 - U64{sizeof(Whole)});
    counted.write(object[lane]);
  }
  return Flow::kNext;
}

Flow is_canceled(Warp& warp, const Inst& inst, Mask active) {
  write_predicate(warp, inst.operands[0], active, 0);
  return Flow::kNext;
}

/// Of a request that was declined PTX leaves this open.
template <int kCount>
Flow first_block(Warp& warp, const Inst& inst, Mask active) {
  for (int k = 0; k < kCount; ++k) {
    for_lanes(
        lanes<U32>(warp, inst.operands[k]), active, [](int) { return 0u; });
  }
  return Flow::kNext;
}

// clang-format off
constexpr Entry kEntries[] = {
    {"clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128",
     "[generic] [generic:8]", "9.7.12", try_cancel<kGeneric>},
    {"clusterlaunchcontrol.try_cancel.async.shared::cta."
     "mbarrier::complete_tx::bytes.b128",
     "[shared] [shared:8]", "9.7.12", try_cancel<kShared>},
    {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128",
     "=t1 t2!", "9.7.12", is_canceled},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128",
     "{4*=t1_} t2!", "9.7.12", first_block<4>},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128",
     "=t1 t2!", "9.7.12", first_block<1>},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128",
     "=t1 t2!", "9.7.12", first_block<1>},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128",
     "=t1 t2!", "9.7.12", first_block<1>},
};
// clang-format on

} // namespace

Family launch_control_family() {
  return {"launch_control", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
