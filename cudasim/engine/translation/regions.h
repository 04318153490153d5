// Which regions of a function have native code, which are worth it, and which
// were given up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/translation/flow.h"
#include "cudasim/engine/translation/ir/value.h"
#include "cudasim/engine/translation/region.h"
#include "cudasim/engine/translation/statistics.h"

namespace cudasim::engine {

/// CUDASIM_NATIVE: never; regions that are executed often; each at once.
enum class NativeMode : std::uint8_t { kOff, kAuto, kAlways };
NativeMode native_mode();
/// What keeps this process from native code, with what to do about it; empty:
/// nothing. Loads LLVM.
std::string native_obstacle();
/// For tests, which compare both: of modules that are loaded from now on.
void set_native_mode(NativeMode mode);

/// The regions of one function. Warps of many host threads use it at once.
class Regions {
 public:
  /// Lanes where a region begins, or might.
  struct Seen {
    const std::byte* registers = nullptr; // of the warp's frame; null: unknown
    Mask mask = kAllLanes;
    std::uint32_t stop = kNowhere; // where they meet others
  };

  /// @param code stays where it is as long as this is there.
  explicit Regions(const Code& code, WarpLanes lanes = WarpLanes::kAll);
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  /// Those of the same function for other lanes than all.
  Regions& of(WarpLanes lanes);

  /// The native code that begins at an instruction; null where there is none.
  const NativeRegion* at(std::uint32_t pc) const {
    return places_[pc].region.load(std::memory_order_acquire);
  }
  /// The interpreter is about to execute an instruction at which a region may
  /// begin, for lanes that are together. May have code made for it.
  void visited(std::uint32_t pc, const Seen& seen) {
    Place& place = places_[pc];
    if (place.visits.load(std::memory_order_relaxed) < threshold_) {
      const std::uint32_t visits =
          place.visits.fetch_add(1, std::memory_order_relaxed) + 1;
      if (visits == threshold_) {
        ask_for(pc, seen);
      } else if (visits == looks_after_) {
        look_for(pc, seen);
      }
    }
  }
  /// What a call of native code did.
  /// @param refused by the code that begins there, NativeRegion::otherwise,
  /// too.
  /// @param from where the region begins that was left here; kNowhere: none.
  void entered(
      std::uint32_t pc,
      std::uint64_t instructions,
      bool refused,
      const Seen& seen,
      std::uint32_t from) {
    Place& place = places_[pc];
    if (from != kNowhere) {
      place.from.store(from, std::memory_order_relaxed);
    }
    const std::uint64_t calls = add(place.calls, std::uint64_t{1});
    const std::uint64_t total = add(place.instructions, instructions);
    if (refused) {
      const std::uint64_t times = add(place.refused, std::uint64_t{1});
      if (times % refusals_ == 0) {
        ask_for(pc, seen);
      } else if (times == looks_after_) {
        look_for(pc, seen);
      }
    }
    if (calls % kReview == 0) {
      review(pc, calls, total, refused ? seen : Seen{});
    }
  }

  /// What calls of native code did, none of which refused.
  /// @param times less than kReview.
  void entered(
      std::uint32_t pc,
      std::uint64_t times,
      std::uint64_t instructions) {
    Place& place = places_[pc];
    const std::uint64_t calls = add(place.calls, times);
    const std::uint64_t total = add(place.instructions, instructions);
    if (calls / kReview != (calls - times) / kReview) {
      review(pc, calls, total, Seen{});
    }
  }

  /// Native code was left while lanes were apart, as operands are not what it
  /// hopes.
  /// @param from where it begins. @param pc where it was left.
  void parted(std::uint32_t from, std::uint32_t pc) {
    Place& place = places_[pc];
    place.from.store(from, std::memory_order_relaxed);
    const std::uint64_t times = add(place.parted, std::uint64_t{1});
    if (times % kReview == 0) {
      look_at_leaver(pc, times);
    }
  }

  /// In a kernel that begins with this function, lanes of a warp that have
  /// parted take turns, so that it matters when one is over.
  void note_lanes_in_turns() {
    lanes_in_turns_.store(true, std::memory_order_relaxed);
  }
  bool has_lanes_in_turns() const {
    return lanes_in_turns_.load(std::memory_order_relaxed);
  }

  /// What native code did that went on behind a pause.
  /// @param pc where it begins.
  void resumed(std::uint32_t pc, std::uint64_t instructions) {
    if (instructions > kPauseInstructions) {
      add(places_[pc].instructions, instructions - kPauseInstructions);
    }
  }

 private:
  struct Place {
    std::atomic<const NativeRegion*> region{nullptr};
    std::atomic<std::uint32_t> visits{0};
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> instructions{0};
    std::atomic<std::uint64_t> parted{0}; // regions that were left here so
    std::atomic<std::uint32_t> from{kNowhere}; // a region that was left here
    std::atomic<std::uint32_t> asked_for{kNowhere}; // to be made anew: one
    std::uint32_t attempts = 0; // under mutex_
    bool recounted = false; // of whoever makes code: see is_covered()
  };
  /// What code was made for.
  struct Known {
    Shapes assumed;
    std::set<std::uint32_t> hopes; // Translator's
    std::uint32_t stop = kNowhere; // NativeRegion's
    Shapes common; // what all code assumes that was made
  };
  static constexpr std::uint32_t kReview = 64;
  /// What a pause takes, as instructions that native code saves.
  static constexpr std::uint64_t kPauseInstructions = 6;

  /// Adds to a count that may lose some: an atomic addition a warp is dear.
  template <typename T>
  static T add(std::atomic<T>& count, T more) {
    const T sum = count.load(std::memory_order_relaxed) + more;
    count.store(sum, std::memory_order_relaxed);
    return sum;
  }

  /// A region's text, and what its code needs of this process.
  struct Translated {
    std::string text; // empty where there is nothing to compile
    std::size_t weight = 0; // of the text, for LLVM
    std::vector<const void*> table;
    Shapes assumed; // of registers where it begins
    std::size_t instructions = 0;
    std::size_t handled = 0; // of them, by handlers
    std::uint64_t nanoseconds_saved = 0; // NativeRegion's
    std::vector<std::uint32_t> pcs; // of its instructions
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces; // Translator's
    std::set<std::uint32_t> hopes; // Translator's
    std::uint32_t stop = kNowhere; // NativeRegion's
    bool is_other = false; // NativeRegion::otherwise
  };

  void look_for(std::uint32_t pc, const Seen& seen);
  void ask_for(std::uint32_t pc, const Seen& seen);
  void when_idle(
      std::uint32_t pc,
      const Seen& seen,
      void (Regions::*job)(std::uint32_t, const Seen&),
      std::uint64_t nanoseconds);
  Translated translate(std::uint32_t pc, const Seen& seen);
  Translated translate(std::uint32_t pc, const Seen& seen, std::size_t most);
  void look(std::uint32_t pc, const Seen& seen);
  void make(std::uint32_t pc, const Seen& seen);
  void obtain(std::uint32_t pc, Translated translated);
  void look_at_leaver(std::uint32_t pc, std::uint64_t times);
  void generalize(std::uint32_t pc, std::uint32_t left_at);
  bool is_covered(std::uint32_t pc);
  bool find(std::uint32_t pc, const Translated& translated);
  void compile(std::uint32_t pc, const Translated& translated);
  void publish(
      std::uint32_t pc,
      const Translated& translated,
      RegionFunction function);
  void review(
      std::uint32_t pc,
      std::uint64_t calls,
      std::uint64_t instructions,
      const Seen& seen);
  Shapes observed(const Slots& slots, const Seen& seen) const;

  const Code& code_;
  const WarpLanes lanes_;
  const bool at_once_;
  const std::uint32_t threshold_;
  const std::uint32_t looks_after_; // visits; 0: never
  const std::uint32_t refusals_; // until other code is made
  std::atomic<bool> lanes_in_turns_{false};
  std::mutex mutex_;
  // Made when it is needed, by whoever makes code: one thread at a time.
  std::unique_ptr<CodeFlow> flow_;
  std::unique_ptr<Place[]> places_;
  std::map<std::uint32_t, Known> known_; // by where code begins
  std::set<std::uint32_t> covered_; // instructions that code was made for
  std::set<std::uint32_t> general_; // at which regions were left too often
  // Those that were ever entered: a warp may still be in one that was given up.
  std::vector<std::unique_ptr<const NativeRegion>> made_;
  struct Others {
    std::once_flag once;
    std::unique_ptr<Regions> regions;
  };
  Others of_rest_;
  Others of_some_;
};

} // namespace cudasim::engine
