// The CPU's generators that stand for CUDA's, and where they are.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <limits>
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

/// The offset of a CUDA generator that says a place. An offset grows by four
/// with each number that is drawn, so that adding to it, as the replay of a
/// graph does, gives the place behind these numbers.
uint64_t to_offset(const Place& place);
Place from_offset(uint64_t offset);

struct HostTwin {
  /// No offset: these are multiples of four.
  static constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

  /// To be held while `host` is in use.
  std::mutex alone;
  at::Generator host;
  /// The state of a CUDA generator that `host` is at.
  uint64_t seed = 0;
  uint64_t offset = kNowhere;

  HostTwin();
  /// Brings `host` to the state of a CUDA generator: at once where it is there,
  /// else in the time of the numbers in between, or of all.
  void go_to(uint64_t seed, uint64_t offset);
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
