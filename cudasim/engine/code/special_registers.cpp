#include "cudasim/engine/code/special_registers.h"

#include <chrono>

#include "cudasim/engine/state/warp.h"
#include "cudasim/ptx/special_registers.h"

namespace cudasim::engine {
namespace {

struct Name {
  std::string_view name;
  Special special;
};

constexpr Name kNames[] = {
    {"%tid.x", Special::kTidX},
    {"%tid.y", Special::kTidY},
    {"%tid.z", Special::kTidZ},
    {"%ntid.x", Special::kNtidX},
    {"%ntid.y", Special::kNtidY},
    {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX},
    {"%ctaid.y", Special::kCtaidY},
    {"%ctaid.z", Special::kCtaidZ},
    {"%nctaid.x", Special::kNctaidX},
    {"%nctaid.y", Special::kNctaidY},
    {"%nctaid.z", Special::kNctaidZ},
    {"%tid.w", Special::kZero},
    {"%ntid.w", Special::kZero},
    {"%ctaid.w", Special::kZero},
    {"%nctaid.w", Special::kZero},
    {"%laneid", Special::kLaneId},
    {"%warpid", Special::kWarpId},
    {"%nwarpid", Special::kNwarpId},
    {"%smid", Special::kSmId},
    {"%nsmid", Special::kNsmId},
    {"%gridid", Special::kGridId},
    {"%lanemask_eq", Special::kLanemaskEq},
    {"%lanemask_le", Special::kLanemaskLe},
    {"%lanemask_lt", Special::kLanemaskLt},
    {"%lanemask_ge", Special::kLanemaskGe},
    {"%lanemask_gt", Special::kLanemaskGt},
    {"%dynamic_smem_size", Special::kDynamicSharedSize},
    {"%total_smem_size", Special::kTotalSharedSize},
    {"%aggr_smem_size", Special::kTotalSharedSize},
    {"%reserved_smem_offset_begin", Special::kReservedSharedBegin},
    {"%reserved_smem_offset_0", Special::kReservedSharedBegin},
    {"%reserved_smem_offset_1", Special::kReservedSharedMiddle},
    {"%reserved_smem_offset_end", Special::kReservedSharedEnd},
    {"%reserved_smem_offset_cap", Special::kReservedSharedSize},
    {"%envreg1", Special::kGridWorkspaceHigh},
    {"%envreg2", Special::kGridWorkspaceLow},
    // Of graphs that a device launches, which is none here.
    {"%current_graph_exec", Special::kZero},
    // Without clusters each block is a cluster of its own.
    {"%is_explicit_cluster", Special::kZero},
    {"%cluster_ctarank", Special::kZero},
    {"%cluster_nctarank", Special::kOne},
    {"%cluster_ctaid.x", Special::kZero},
    {"%cluster_ctaid.y", Special::kZero},
    {"%cluster_ctaid.z", Special::kZero},
    {"%cluster_ctaid.w", Special::kZero},
    {"%cluster_nctaid.x", Special::kOne},
    {"%cluster_nctaid.y", Special::kOne},
    {"%cluster_nctaid.z", Special::kOne},
    {"%cluster_nctaid.w", Special::kZero},
    {"%clusterid.x", Special::kCtaidX},
    {"%clusterid.y", Special::kCtaidY},
    {"%clusterid.z", Special::kCtaidZ},
    {"%clusterid.w", Special::kZero},
    {"%nclusterid.x", Special::kNctaidX},
    {"%nclusterid.y", Special::kNctaidY},
    {"%nclusterid.z", Special::kNctaidZ},
    {"%nclusterid.w", Special::kZero},
};

std::uint64_t nanoseconds(bool wall) {
  const auto since = wall ? std::chrono::system_clock::now().time_since_epoch()
                          : std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

template <bool kWall, int kShift>
Flow read_clock(Warp& warp, const Inst& inst, Mask active) {
  const std::uint64_t now = nanoseconds(kWall) >> kShift;
  const Slot slot = inst.operands[0];
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((active >> lane & 1) == 0) {
      continue;
    }
    if (inst.widths[0] == 8) {
      lanes<std::uint64_t>(warp, slot)[lane] = now;
    } else {
      lanes<std::uint32_t>(warp, slot)[lane] = static_cast<std::uint32_t>(now);
    }
  }
  return Flow::kNext;
}

} // namespace

bool find_special(std::string_view name, Special* special) {
  // Nothing sets these registers of the driver, nor counts here.
  const auto begins = [&](std::string_view stem) {
    return name.substr(0, stem.size()) == stem;
  };
  for (const Name& row : kNames) {
    if (row.name == name) {
      *special = row.special;
      return true;
    }
  }
  if ((begins("%envreg") || begins("%pm")) &&
      ptx::special_register_type(name) != ptx::Type::kNone) {
    *special = Special::kZero;
    return true;
  }
  return false;
}

bool tells_threads_apart(Special special) {
  switch (special) {
    case Special::kTidX:
    case Special::kTidY:
    case Special::kTidZ:
    case Special::kLaneId:
    case Special::kWarpId:
    case Special::kLanemaskEq:
    case Special::kLanemaskLe:
    case Special::kLanemaskLt:
    case Special::kLanemaskGe:
    case Special::kLanemaskGt:
      return true;
    default:
      return false;
  }
}

bool is_in_reserved_shared(Special special) {
  return special == Special::kReservedSharedBegin ||
      special == Special::kReservedSharedMiddle ||
      special == Special::kReservedSharedEnd;
}

Handler changing_register(std::string_view name) {
  return name == "%clock" || name == "%clock64" ? read_clock<false, 0>
      : name == "%clock_hi"                     ? read_clock<false, 32>
      : name == "%globaltimer" || name == "%globaltimer_lo"
      ? read_clock<true, 0>
      : name == "%globaltimer_hi" ? read_clock<true, 32>
                                  : nullptr;
}

bool has_special_register(std::string_view name) {
  Special special;
  return find_special(name, &special) || changing_register(name) != nullptr;
}

} // namespace cudasim::engine
