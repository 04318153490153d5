// A sequence that is dealt out by many generators, the lanes, in turn, as the
// threads of cuRAND's kernels do: which position of which lane comes next is
// the ordering of the results. Source: cuRAND, "Host API overview", 2.2.3.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/libraries/rand/draws.h"
#include "runtime/libraries/rand/poisson.h"
#include "runtime/libraries/rand/sequence.h"

namespace accelerator::rand {

/// Numbers of a lane that has 32 random bits at a time.
/// @tparam Engine a type with bits().
template <typename Engine>
struct Lane : Engine {
  explicit Lane(const Engine& engine) : Engine(engine) {}

  float uniform() {
    return to_uniform(Engine::bits());
  }
  double uniform_double() {
    const std::uint32_t low = Engine::bits();
    return to_uniform(low, Engine::bits());
  }
  std::array<float, 2> normal() {
    const float first = uniform();
    return box_muller(first, uniform());
  }
  std::array<double, 2> normal_double() {
    const double first = uniform_double();
    return box_muller(first, uniform_double());
  }
};

/// @tparam Lane a type with bits(), uniform(), uniform_double(), normal() and
/// normal_double(), as that above has them.
template <typename Lane>
class LaneSequence : public Sequence {
 public:
  /// @param next the lane that begins.
  LaneSequence(std::vector<Lane> lanes, std::size_t next)
      : lanes_(std::move(lanes)), next_(next) {}

  using Sequence::bits;
  void bits(std::uint32_t* out, std::size_t count) override {
    each(out, count, [](Lane& lane) { return lane.bits(); });
  }
  void uniform(float* out, std::size_t count) override {
    each(out, count, [](Lane& lane) { return lane.uniform(); });
  }
  void uniform(double* out, std::size_t count) override {
    each(out, count, [](Lane& lane) { return lane.uniform_double(); });
  }
  void normal(float* out, std::size_t count) override {
    pairs(out, count, [](Lane& lane) { return lane.normal(); });
  }
  void normal(double* out, std::size_t count) override {
    pairs(out, count, [](Lane& lane) { return lane.normal_double(); });
  }
  void poisson(
      const Poisson& distribution,
      std::uint32_t* out,
      std::size_t count) override {
    if (distribution.lambda() < Poisson::kLeastWithoutTable) {
      each(out, count, [&](Lane& lane) {
        return distribution.aliased(to_middle(lane.bits()));
      });
      return;
    }
    // Of a pair of normal numbers a lane has one in each of two turns.
    seconds_.resize(lanes_.size());
    for (std::size_t i = 0; i < count; ++i) {
      std::optional<float>& second = seconds_[next_];
      Lane& lane = take();
      const auto pair = second ? std::array{*second, 0.0F} : lane.normal();
      second = second ? std::nullopt : std::optional<float>(pair[1]);
      out[i] = distribution.rounded(pair[0]);
    }
  }

 private:
  Lane& take() {
    Lane& lane = lanes_[next_];
    next_ = next_ + 1 == lanes_.size() ? 0 : next_ + 1;
    return lane;
  }
  template <typename T, typename Draw>
  void each(T* out, std::size_t count, Draw draw) {
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = draw(take());
    }
  }
  /// Of the last pair, one number if the count is odd.
  template <typename T, typename Draw>
  void pairs(T* out, std::size_t count, Draw draw) {
    for (std::size_t i = 0; i < count; i += 2) {
      const auto pair = draw(take());
      std::copy_n(pair.begin(), std::min<std::size_t>(2, count - i), out + i);
    }
  }

  std::vector<Lane> lanes_;
  std::size_t next_;
  /// What is left of pairs of normal numbers.
  std::vector<std::optional<float>> seconds_;
};

} // namespace accelerator::rand
