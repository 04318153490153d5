// The CPU's generators that stand for CUDA's, and where they are.
#pragma once

#include <ATen/core/Generator.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace torch_cuda::operators {

/// A place in the sequence of a seed.
struct Place {
  uint64_t drawn = 0;
  /// Normal numbers are made in pairs of four numbers. How many numbers were
  /// drawn since a pair was made whose second one is kept.
  std::optional<uint64_t> since_pair;
};

/// The offset of a CUDA generator that says a place.
uint64_t to_offset(const Place& place);

/// The place that an offset says. None for an offset that `to_offset` did not
/// give: a program set it or added to it, as DTensor does, which counts
/// elements to give each shard numbers of its own. One of 2,000 such sums is
/// taken for a place where a normal number was kept, else one of 10^8.
std::optional<Place> from_offset(uint64_t offset);

/// What the replay of a graph that draws `numbers` adds to an offset.
uint64_t replayed(uint64_t numbers);

/// The place that an offset says after replays.
Place after_replays(uint64_t offset);

struct HostTwin {
  /// To be held while `host` is in use.
  std::mutex alone;
  at::Generator host;
  /// Where `host` is, as far as that is known.
  uint64_t seed = 0;
  std::optional<Place> at;
  /// Replays of graphs add to the offset of the CUDA generator.
  std::atomic<bool> in_graphs{false};

  HostTwin();
  /// Brings `host` to a place: at once where it is there, else in the time of
  /// the numbers in between, or of all.
  void go_to(uint64_t seed, const Place& place);
  /// Brings `host` to an offset that is no place. Numbers of different offsets
  /// have nothing to do with each other.
  void go_apart(uint64_t seed, uint64_t offset);
};

/// The twin of a CUDA generator, or of what else is behind an address.
std::shared_ptr<HostTwin> twin_of(const void* generator);

/// Numbers since the pair was made whose second one is kept, at a place of the
/// sequence. It is made by the last draw as a rule; operators that mix
/// distributions draw a little more.
std::optional<uint64_t> numbers_since_pair(
    double kept,
    uint64_t seed,
    uint64_t drawn);

} // namespace torch_cuda::operators
