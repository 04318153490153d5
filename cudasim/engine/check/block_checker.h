// CUDASIM_CHECK=1: looks at every access of a block before it is made, for
// words of memory that nobody has written (memory/poison.h) and for races in
// shared memory: two threads access a byte, one of them writes, and nothing
// orders them. Compare compute-sanitizer's initcheck and racecheck.
//
// What orders two threads: a barrier of the block between their accesses, or,
// within a warp, bar.warp.sync (warp_order.h) or, for what has been read, a
// collective (exchanges.h). Every barrier of the block is taken to order all
// threads, so a barrier of some warps can hide a race, and none is reported
// wrongly for it. The same goes for fences, acquiring accesses and waits for an
// mbarrier. Volatile, relaxed, acquire and release accesses are taken for
// atomics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/check/exchanges.h"
#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/check/value_flow.h"
#include "cudasim/engine/check/warp_order.h"
#include "cudasim/engine/code/block_observer.h"
#include "cudasim/engine/code/memory_access.h"
#include "cudasim/engine/state/block.h"

namespace cudasim::engine {

/// The checks of one block.
class BlockChecker final : public BlockObserver {
 public:
  /// @param warps of a block, @param threads its size.
  BlockChecker(
      const Block& block,
      LaunchFindings& findings,
      const std::string& kernel,
      std::uint32_t block_x,
      std::uint32_t block_y,
      std::size_t warps);

  /// Its shared memory is poisoned.
  void start() override;
  void barrier_opened() override {
    ++epoch_;
  }
  void warp_meets(const Accessor& accessor, Mask lanes, Mask members) override;
  void before(const Accessor& accessor, Mask active) override;

 private:
  struct Event {
    std::uint32_t warp = 0;
    WarpOrder::Party party = 0;
    bool atomic = false;
    std::uint32_t epoch = 0; // 0: never
    std::uint32_t time = 0; // of the party's clock
    std::uint32_t exchanges = 0; // of the warp, until then
    Mask lanes = 0; // that read alike, with `party`
    std::uint64_t begin = 0; // of a matrix
    Site site;
  };
  /// What is known of one byte of shared memory.
  struct Cell {
    Event write;
    /// The latest ones, first the last; one of another warp stays.
    std::array<Event, 3> reads;
    int written = -1; // the value of `write`; -1: not known
  };

  void check(const Accessor& accessor, const MemoryAccess& access, Mask active);
  /// One lane's part of an access, or one line. @param value what is written,
  /// or null. Returns false for a fault, which the instruction itself reports.
  /// @param begin of the matrix that the line is of.
  bool check_one(
      const Accessor& accessor,
      const MemoryAccess& access,
      int lane,
      std::uint64_t address,
      std::uint64_t begin,
      const std::byte* value);
  bool in_shared(std::uint64_t address, std::uint32_t size) const;
  bool in_global(Warp& warp, std::uint64_t address, std::uint32_t size) const;
  bool ordered(const Event& earlier, const Event& now, Mask live) const;
  bool read_is_over(const Event& read, const Event& now, Mask live);
  static void note_read(Cell& cell, const Event& now);
  void check_reads(
      const Cell& cell,
      const Event& now,
      Mask live,
      std::uint64_t offset);
  void check_race(
      const Event& now,
      Mask live,
      bool reads,
      bool writes,
      const std::byte* value,
      std::uint64_t offset,
      std::uint32_t size);
  void race(
      FindingKind kind,
      const Event& earlier,
      const Event& now,
      std::uint64_t offset);
  void uninitialized(
      FindingKind kind,
      const Event& now,
      std::uint64_t address,
      std::uint32_t size);
  std::string text_of(const Event& event) const;
  std::string block_text() const;

  const Block& block_;
  LaunchFindings& findings_;
  std::string kernel_;
  std::uint32_t block_x_;
  std::uint32_t block_y_;
  std::uint32_t epoch_ = 0;
  std::vector<WarpOrder> orders_; // of each warp
  std::vector<Exchanges> exchanges_; // of each warp
  ValueFlow flow_;
  std::vector<Cell> cells_;
};

} // namespace cudasim::engine
