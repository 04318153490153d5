// Executes the instructions of one warp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/state/warp.h"
#include "cudasim/engine/translation/region.h"
#include "cudasim/engine/translation/regions.h"
#include "cudasim/engine/warp/enclosing_block.h"
#include "cudasim/engine/warp/frame.h"
#include "cudasim/engine/warp/gathering.h"
#include "cudasim/engine/warp/splits.h"

namespace cudasim::engine {

/// A warp with its splits.
class WarpRunner : public Warp {
 public:
  enum class Status : std::uint8_t {
    kFinished,
    kBlocked,
    kBudget,
    kStoresNext, // others of the block are to come as far first
    kFault,
  };

  explicit WarpRunner(EnclosingBlock& block);
  WarpRunner(const WarpRunner&) = delete;
  WarpRunner& operator=(const WarpRunner&) = delete;

  /// Puts the warp's lanes at the beginning of a kernel.
  /// @param alone whether it is the only warp of its block.
  void start(std::uint32_t index, Mask lanes, bool alone);
  /// Executes up to about `budget` instructions, and less up to the first store
  /// to global memory since the beginning or a barrier (Code::first_stores).
  Status run(std::uint64_t budget);
  /// Behind run(), which ended with kBudget: whether the warp only waits for
  /// what others write. It lets others go first (nanosleep), or comes back to
  /// where it is with the same registers; it executes a little to find out.
  /// @returns as run().
  Status look_for_spinning(bool* spins);
  /// When nothing in the block can go on: lanes that wait for others of their
  /// mask go on without them.
  /// @returns whether there were any; a fault is in `fault`.
  bool stop_gathering() {
    return gathering_.stop();
  }
  /// Makes the splits that wait at a barrier ready.
  void release(std::uint32_t barrier, bool reduced, std::uint32_t result) {
    splits_.release(barrier, reduced, result);
  }
  /// The text of the instruction that faulted.
  const std::string& instruction_text() const {
    return faulting_.text;
  }
  /// The function that it is in; null when nothing faulted.
  const Code* faulting_code() const {
    return faulting_.code;
  }

  std::uint64_t instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t late_releases = 0; // Outcome's

  // For whoever has native code of the kernel executed for all lanes of a warp,
  // with `state`, and leaves the warp to run() then (launch/native_turns.h).

  /// A call of native code whose end nobody has looked at.
  struct Ran {
    const NativeRegion* region = nullptr;
    std::uint32_t begin = 0; // of the region
    bool resumes = false;
    std::uint32_t from = kNowhere; // begin of a region that was left here
    std::uint64_t result = 0; // of RegionFunction
    RegionState state;
  };
  /// Native code that goes on when others of the block are as far.
  struct Paused {
    const NativeRegion* region = nullptr;
    std::uint32_t begin = 0; // of the region
    std::uint64_t resume = 0; // RegionState's
  };
  /// Lets handlers read and write the registers of the kernel, which are those
  /// that start() last prepared, with all lanes there.
  /// @returns them.
  std::byte* enter_kernel();
  /// The warp has begun, as by start(), and is at an instruction.
  /// @param paused where it goes on; none: there.
  /// @param loads_only whether it waits for others before it stores.
  void go_on_at(
      std::uint32_t pc,
      const std::optional<Paused>& paused,
      bool loads_only);
  /// Behind go_on_at(): it arrives at the barrier that is there.
  void arrive_at_barrier();
  /// Behind go_on_at(), with `pc` where the code began, for the next run().
  /// @param ran stays there until then.
  void leave_end_to_run(const Ran& ran) {
    ran_ = &ran;
  }
  /// `instructions` when another split's turn is next, if there is one.
  std::uint64_t slice_end() const {
    return slice_end_;
  }
  void begin_slice() {
    slice_end_ = instructions + kSplitSlice;
  }
  /// All lanes have exited, of which the block knows.
  void has_exited();

 private:
  /// How a split's turn ends.
  enum class Turn : std::uint8_t {
    kOver,
    kMet, // where lanes meet: it waits for others, or goes on with them
    kBudget,
    kStoresNext,
    kFault,
  };
  /// What an instruction for control means for the split that executed it.
  enum class Step : std::uint8_t {
    kGoOn, // from where the split is then
    kTurnOver, // it waits, has changed places with others, or is no more
    kBudget,
    kFault,
  };
  struct Cursor;
  /// Instructions after which splits of a warp change over. What a split has
  /// executed counts on where lanes meet in between: a loop that waits for
  /// other lanes can have branches and calls in it.
  static constexpr std::uint64_t kSplitSlice = 4096;
  /// Instructions after which lanes that wait at a join go on without those
  /// that are still on their way: these may be spinning until one of the others
  /// gets on.
  static constexpr std::uint64_t kPatience = 1 << 14;
  /// The same where they let others go first (nanosleep, a wait for an
  /// mbarrier).
  static constexpr std::uint64_t kPatienceWithYields = 1 << 8;

  Turn run_split(std::size_t at, std::uint64_t limit);
  bool run_native(
      std::size_t& at,
      Cursor& here,
      std::uint64_t slice_end,
      Turn* turn);
  bool call_native(
      Regions& regions,
      const Regions::Seen& seen,
      const Cursor& here,
      std::uint64_t slice_end,
      Ran* ran);
  std::size_t part_lanes(
      std::size_t at,
      const RegionState& state,
      std::uint32_t pc);
  bool ends_warp(const Split& split, const Inst& inst) const;
  void end_warp();
  bool give_way(std::size_t at, std::uint64_t patience);
  Status run_waiting();

  Step execute(
      std::size_t at,
      const Inst& inst,
      const Control& control,
      Mask active,
      std::uint64_t limit);
  Step indexed_branch(
      std::size_t at,
      const Inst& inst,
      const Control& control,
      Mask active);
  Step call(
      std::size_t at,
      const Inst& inst,
      const Control& control,
      Mask active);
  const Code* callee_of(
      std::size_t at,
      const Inst& inst,
      const Control& control,
      Mask* active);
  Step end_lanes(std::size_t at, ControlKind kind, Mask active);
  Step barrier(std::size_t at, const Control& control, Mask active);

  Frame* new_frame(const Code& code, Frame* parent, std::uint64_t local_frame);

  EnclosingBlock& block_;
  std::uint64_t slice_end_ = 0;
  bool yielded_ = false; // the last turn ended so
  bool alone_ = true; // in its block
  bool loads_only_ = false; // no store since the beginning or a barrier
  std::vector<std::byte> seen_registers_; // of look_for_spinning
  std::optional<Paused> paused_;
  const Ran* ran_ = nullptr; // its end is to be looked at next
  FramePool frames_;
  const Frame* entry_ = nullptr; // the kernel's
  Splits splits_;
  std::unique_ptr<std::byte[]> local_memory_;
  FaultingInstruction faulting_;
  Gathering gathering_;
};

} // namespace cudasim::engine
