// Mixing elements, as the texture units of a GPU do it bit by bit. Source: CUDA
// programming guide, "Linear Filtering" (weights of 8 bits); measurements of an
// RTX 3060 by pantheongpu/pantheonsim (nvidia/docs/textures.md) for all else.
#pragma once

#include <array>
#include <cstdint>

#include "cudasim/engine/instructions/texture/elements.h"

namespace cudasim::engine {

/// The weights of all elements that are mixed together.
inline constexpr std::int32_t kWholeWeight = 256;

/// A weight in two parts.
struct Shares {
  std::int32_t lower = 0;
  std::int32_t upper = 0;
};

/// The upper part is rounded to nearest, and the lower one is the rest.
/// @param upper how much of the weight, of 256.
constexpr Shares split_upper(std::int32_t weight, std::int32_t upper) {
  const std::int32_t part = (weight * upper + 128) >> 8;
  return {weight - part, part};
}
/// The lower part is rounded.
constexpr Shares split_lower(std::int32_t weight, std::int32_t upper) {
  const std::int32_t part = (weight * (kWholeWeight - upper) + 128) >> 8;
  return {part, weight - part};
}

/// What is mixed: up to four elements each of up to two slices of two levels.
class Mixture {
 public:
  explicit Mixture(const Texture& texture) : texture_(texture) {}

  /// The elements that follow are of another slice, or level.
  void begin_slice() {
    ++slices_;
  }
  /// @param units of the filter (filter_units()); @param weight not negative.
  void add(const std::array<double, 4>& units, std::int32_t weight);

  /// The result as registers get it. The weights are 256 together.
  Element mixed() const;

 private:
  struct Part {
    std::array<double, 4> units;
    std::int32_t weight;
    int slice;
  };
  std::uint32_t mixed_channel(std::uint32_t channel) const;
  double float_sum(std::uint32_t channel) const;

  const Texture& texture_;
  std::array<Part, 16> parts_;
  int count_ = 0;
  int slices_ = 0;
};

} // namespace cudasim::engine
