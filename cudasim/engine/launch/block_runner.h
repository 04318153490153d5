// Runs the warps of one block in turns, and its barriers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cudasim/engine/launch/grid.h"
#include "cudasim/engine/launch/native_turns.h"
#include "cudasim/engine/warp/enclosing_block.h"
#include "cudasim/engine/warp/warp_runner.h"

namespace cudasim::engine {

/// Runs one block at a time; keeps its memory for the next one.
class BlockRunner final : public EnclosingBlock {
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
  std::uint64_t instructions() const;
  std::uint64_t thread_instructions() const;
  std::uint64_t late_releases() const;

  const Place& place(std::uint32_t warp) override;
  void arrive(
      std::uint32_t barrier,
      std::uint32_t threads,
      std::uint32_t expected,
      const Control& control,
      Mask contribution,
      Mask active) override;
  void threads_exited(std::uint32_t threads) override;

 private:
  struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t expected = 0;
    BarrierReduction reduction = BarrierReduction::kNone;
    std::uint32_t set = 0; // threads whose predicate was true
    std::uint32_t threads = 0; // threads that contributed
  };
  static WarpRunner::Status begin_turn(
      WarpRunner& warp,
      const std::optional<NativeTurns::Rest>& rest,
      std::uint64_t slice);
  WarpRunner* stop_gathering() const;
  void open_if_complete(std::uint32_t barrier);

  const Grid& grid_;
  std::vector<std::unique_ptr<WarpRunner>> warps_;
  NativeTurns native_turns_;
  bool is_fresh_ = false; // no warp has run, and native_turns_ can run them
  bool has_started_ = false; // the warps, for this block or an earlier one
  std::array<Barrier, kBarriers> barriers_;
  std::uint32_t awaited_ = 0; // barriers at which threads wait: a bit each
  std::uint32_t live_threads_ = 0; // those that have not exited
  Place place_; // of the warp that was asked for last
  std::unique_ptr<std::byte[]> shared_memory_;
  std::uint64_t reserved_shared_ = 0; // offset of kReservedShared bytes
  std::unique_ptr<BlockObserver> own_observer_;
  std::size_t next_warp_ = 0;
  bool spins_ = false; // all of its warps that do not wait, in its last round
  const WarpRunner* faulting_ = nullptr;
};

} // namespace cudasim::engine
