// Instructions for control: branches, calls, barriers, and those for which
// lanes have to come together.
#pragma once

#include <cstdint>
#include <vector>

#include "cudasim/engine/code/builtin.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

struct Code;

/// Instructions that the warp's loop executes itself (warp/warp_runner.h).
enum class ControlKind : std::uint8_t {
  kBranch,
  kIndexedBranch,
  kCall,
  kReturn,
  kExit,
  kBarrier, // bar.sync, bar.red: wait for other warps
  kBarrierArrive, // bar.arrive
  kWarpBarrier, // bar.warp.sync
  kCollective, // shfl.sync, vote.sync, …: `handler` runs once all lanes are
               // there
  kTrap,
};

/// Where a parameter or result of a call is: bytes of the lane's local frame.
struct Passed {
  std::uint32_t from = 0; // in the frame that it is copied from
  std::uint32_t to = 0; // in the frame that it is copied to
  std::uint32_t size = 0;
};

enum class BarrierReduction : std::uint8_t { kNone, kAnd, kOr, kPopulation };

/// Both as the immediate of a row that has no handler.
constexpr std::uint64_t immediate_of(
    ControlKind kind,
    BarrierReduction reduction = BarrierReduction::kNone) {
  return static_cast<std::uint64_t>(kind) |
      static_cast<std::uint64_t>(reduction) << 8;
}
constexpr ControlKind kind_in(std::uint64_t immediate) {
  return static_cast<ControlKind>(immediate & 0xff);
}
constexpr BarrierReduction reduction_in(std::uint64_t immediate) {
  return static_cast<BarrierReduction>(immediate >> 8);
}

inline constexpr std::uint32_t kNowhere = 0xffffffffu;
/// The barrier of a cluster is behind the numbered ones of a block.
inline constexpr std::uint32_t kClusterBarrier = 16;
inline constexpr std::uint32_t kBarriers = kClusterBarrier + 1;

struct Control {
  ControlKind kind = ControlKind::kExit;
  /// kBranch: where to; kIndexedBranch: `targets`.
  std::uint32_t target = kNowhere;
  std::vector<std::uint32_t> targets;
  /// Where the sides of a branch meet again: the immediate post-dominator;
  /// kNowhere when that is the end of the function.
  std::uint32_t join = kNowhere;
  /// kCall: the function, or `builtin`; both empty: an indirect call through
  /// the address in operand 0.
  const Code* callee = nullptr;
  Builtin builtin = Builtin::kNone;
  std::vector<Passed> arguments;
  std::vector<Passed> results;
  /// kCollective
  Handler handler = nullptr;
  /// kCollective and kWarpBarrier: the operand with the member mask; kNoSlot:
  /// all lanes.
  Slot members = kNoSlot;
  /// kBarrier, kBarrierArrive: operands; kNoSlot: barrier 0, all threads.
  Slot barrier = kNoSlot;
  Slot thread_count = kNoSlot;
  BarrierReduction reduction = BarrierReduction::kNone;
  Slot reduced = kNoSlot; // destination: a predicate, or 32 bits for popc
  Slot contribution = kNoSlot; // source predicate
  bool contribution_negated = false;
};

/// Runs nothing: the warp's loop looks the instruction up in Code::controls.
Flow control_instruction(Warp& warp, const Inst& inst, Mask active);

/// Faults with kUnsupported; the report names the instruction.
Flow unsupported_instruction(Warp& warp, const Inst& inst, Mask active);

} // namespace cudasim::engine
