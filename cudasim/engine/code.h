// A lowered function: decoded instructions, constants, and what the scheduler
// needs to know about branches, calls and barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cudasim/engine/warp.h"

namespace cudasim::engine {

struct Code;

/// Instructions that the scheduler executes itself (control.cpp).
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

/// Functions of CUDA's device runtime that modules only declare.
enum class Builtin : std::uint8_t {
  kNone,
  kPrint, // vprintf
  kAssert, // __assertfail
  kMalloc,
  kFree,
};

enum class BarrierReduction : std::uint8_t { kNone, kAnd, kOr, kPopulation };

inline constexpr std::uint32_t kNowhere = 0xffffffffu;

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

/// An access to global or shared memory, as the checks of CUDASIM_CHECK=1 see
/// it.
struct MemoryAccess {
  enum class Kind : std::uint8_t { kNone, kRead, kWrite, kReadWrite };
  enum class Space : std::uint8_t { kGeneric, kShared };
  Kind kind = Kind::kNone;
  Space space = Space::kGeneric;
  bool atomic = false; // or volatile, or with an order
  /// What others did before is ordered before what this thread does next: a
  /// fence, an acquire, a wait for an mbarrier.
  bool orders = false;
  std::uint8_t address = 0; // which operand
  std::uint8_t elements = 1; // of a vector
  std::uint32_t size = 0; // bytes that each lane accesses
};

/// Registers that are filled when a frame is made (special registers that do
/// not change while a block runs, and the base of local variables).
enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kSmId,
  kNsmId,
  kGridId,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicSharedSize,
  kTotalSharedSize,
  kReservedSharedBegin, // offsets of what devices keep for themselves
  kReservedSharedMiddle,
  kReservedSharedEnd,
  kReservedSharedSize,
  kZero, // such as the rank in a cluster of one block
  kOne,
  kGridWorkspaceHigh, // %envreg1 and 2: what cooperative groups share
  kGridWorkspaceLow,
  kLocalFrame, // first byte of this frame within the lane's local memory
};

struct SpecialRegister {
  Special special;
  Slot slot;
  std::uint8_t width; // bytes
};

/// Owned by its Program; does not move once made.
struct Code {
  std::string name;
  std::string source_name;
  std::vector<Inst> instructions;
  std::vector<Control> controls;
  /// Index into `controls` of each instruction that is one.
  std::vector<std::uint32_t> control_of;
  /// What each instruction does to memory.
  std::vector<MemoryAccess> accesses;
  /// Slots of instructions with more than kOperands.
  std::vector<std::unique_ptr<Slot[]>> more;
  /// PTX text of each instruction, for reports: opcode and modifiers.
  std::vector<std::string> texts;
  /// Immediates, repeated for the lanes; aligned to 64 bytes.
  std::shared_ptr<std::byte> constants;
  std::size_t constant_bytes = 0;
  std::size_t frame_bytes = 0; // registers of one warp
  std::vector<SpecialRegister> specials;
  /// Bytes of a lane's local frame: results, parameters, .local and .param
  /// variables.
  std::uint64_t local_bytes = 0;
  std::vector<Passed> parameters; // `to` and `size` in the local frame
  std::vector<Passed> results; // `from` and `size`
  bool calls = false; // whether it calls functions of the module
};

} // namespace cudasim::engine
