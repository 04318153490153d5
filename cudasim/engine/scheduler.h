// Runs the warps of one block: divergence, calls, barriers, exits.
//
// A warp is a set of splits: lanes that are at the same instruction. A branch
// that diverges makes two splits with a join, which is where they meet again
// (the branch's immediate post-dominator); lanes that get there first wait.
// Splits take turns, so lanes that spin on other lanes of their own warp get on
// (independent thread scheduling; CUDA programming guide, "SIMT architecture").
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cudasim/engine/access.h"
#include "cudasim/engine/block.h"
#include "cudasim/engine/checker.h"
#include "cudasim/engine/kernel.h"
#include "cudasim/engine/program.h"
#include "cudasim/engine/special_registers.h"
#include "cudasim/engine/warp.h"

namespace cudasim::engine {

class BlockRunner;

/// Registers and place of one activation of a function by some lanes.
struct Frame {
  const Code* code = nullptr;
  std::byte* registers = nullptr;
  std::size_t capacity = 0; // bytes of `registers`
  Frame* parent = nullptr;
  std::uint32_t return_pc = 0;
  const Control* call = nullptr;
  std::uint64_t local_frame = 0;
};

/// Where lanes wait for each other.
struct Join {
  Join* parent = nullptr;
  Frame* frame = nullptr;
  std::uint32_t pc = kNowhere; // kNowhere: the end of the frame's function
  Mask expected = 0;
  Mask arrived = 0;
};

/// Lanes of a warp that execute together.
struct Split {
  enum class State : std::uint8_t { kReady, kGathering, kAtBarrier };
  State state = State::kReady;
  std::uint32_t pc = 0;
  Mask mask = 0;
  Frame* frame = nullptr;
  Join* join = nullptr;
  Mask active = 0; // what the waiting instruction is executed for
  Mask members = 0; // kGathering
  std::uint32_t barrier = 0; // kAtBarrier
};

/// A warp with its splits.
class WarpRunner : public Warp {
 public:
  enum class Status : std::uint8_t { kFinished, kBlocked, kBudget, kFault };

  explicit WarpRunner(BlockRunner& block);
  ~WarpRunner();
  WarpRunner(const WarpRunner&) = delete;
  WarpRunner& operator=(const WarpRunner&) = delete;

  /// Puts the warp's lanes at the beginning of a kernel.
  void start(std::uint32_t index, Mask lanes);
  /// Executes up to about `budget` instructions.
  Status run(std::uint64_t budget);
  bool can_run() const;
  /// Makes the splits that wait at a barrier ready.
  void release(std::uint32_t barrier, bool reduced, std::uint32_t result);
  /// The text of the instruction that faulted.
  const std::string& instruction_text() const {
    return instruction_text_;
  }
  const Code* current_code() const {
    return faulting_code_;
  }

  std::uint64_t instructions = 0;
  std::uint64_t thread_instructions = 0;

 private:
  Frame* new_frame(const Code& code, Frame* parent, std::uint64_t local_frame);
  void free_frame(Frame* frame);
  Join* new_join();
  void free_join(Join* join);
  void enter(const Frame& frame);
  void end_turn(std::size_t at);
  /// Lanes leave all joins from `join` up to `last` (exclusive).
  void leave(Join* join, const Join* last, Mask mask);
  void part(std::size_t split, const Control& control, Mask taken);
  void go_on(Join* join);
  bool release_waiting(Join* join);
  bool release_any_waiting();
  bool arrive(Join* join, Mask mask);
  void remove(std::size_t split);
  bool call(
      std::size_t split,
      const Inst& inst,
      const Control& control,
      Mask active);
  bool gather(
      std::size_t split,
      const Inst& inst,
      const Control& control,
      Mask active,
      Flow* flow);
  bool release_gathered();
  Flow release_group(std::size_t split);
  bool meets(const Split& leader, const Split& split) const;
  Flow run_across(const std::vector<Split>& splits, Mask all);
  Flow note_fault(const Inst& inst, const Code& code);

  BlockRunner& runner_;
  RangeCache cache_;
  std::vector<Split> splits_;
  std::size_t current_ = 0;
  std::uint64_t last_release_ =
      0; // `instructions` when lanes last met or parted
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<Frame*> free_frames_;
  std::vector<std::unique_ptr<Join>> joins_;
  std::vector<Join*> free_joins_;
  std::unique_ptr<std::byte[]> local_memory_;
  std::uint64_t local_capacity_ = 0;
  std::string instruction_text_;
  const Code* faulting_code_ = nullptr;
};

/// A launch as blocks need it.
struct Grid {
  const Launch* launch = nullptr;
  const Kernel* kernel = nullptr;
  std::uint64_t shared_bytes = 0; // static and dynamic
  std::uint64_t local_bytes = 0; // per lane, with room for calls
  std::uint64_t workspace = 0; // what cooperative groups share; 0: none
  Findings* findings = nullptr; // with Launch::check
};

/// Runs one block at a time; keeps its memory for the next one.
class BlockRunner : public Block {
 public:
  enum class Status : std::uint8_t { kFinished, kBudget, kFault, kHang };

  explicit BlockRunner(const Grid& grid);
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  void start(Dim3 index);
  Status run(std::uint64_t budget);
  /// The warp that faulted.
  const WarpRunner* faulting() const {
    return faulting_;
  }
  const Grid& grid() const {
    return grid_;
  }
  Place place(std::uint32_t warp) const;
  std::uint64_t instructions() const;
  std::uint64_t thread_instructions() const;

  /// Lanes arrive at a barrier; `expected` 0: all threads of the block.
  /// @returns whether the barrier opened.
  bool arrive(
      std::uint32_t barrier,
      std::uint32_t threads,
      std::uint32_t expected,
      const Control& control,
      Mask contribution,
      Mask active);
  /// After lanes have exited: barriers that waited for them alone open.
  void threads_exited();
  /// The checks of this block; null without Launch::check.
  BlockChecker* checker() {
    return checker_.get();
  }

 private:
  struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t expected = 0;
    BarrierReduction reduction = BarrierReduction::kNone;
    std::uint32_t set = 0; // threads whose predicate was true
    std::uint32_t threads = 0; // threads that contributed
  };
  std::uint32_t live_threads() const;
  bool open_if_complete(std::uint32_t barrier);

  const Grid& grid_;
  std::vector<std::unique_ptr<WarpRunner>> warps_;
  std::array<Barrier, 16> barriers_;
  std::unique_ptr<std::byte[]> shared_memory_;
  std::uint64_t reserved_shared_ = 0; // offset of kReservedShared bytes
  std::unique_ptr<BlockChecker> checker_;
  std::size_t next_warp_ = 0;
  const WarpRunner* faulting_ = nullptr;
  std::uint64_t generation_ = 0;
  friend class WarpRunner;
};

} // namespace cudasim::engine
