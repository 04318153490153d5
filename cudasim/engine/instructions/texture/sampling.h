// What a texture gives for coordinates. Source: CUDA programming guide,
// "Texture Fetching"; PTX ISA 9.7.9.
#pragma once

#include <array>
#include <cstdint>

#include "cudasim/engine/instructions/texture/elements.h"
#include "cudasim/engine/instructions/texture/geometry.h"
#include "cudasim/engine/instructions/texture/object_lane.h"

namespace cudasim::engine {

/// Where a texture is read.
struct SamplePoint {
  Geometry geometry = Geometry::k1d;
  std::array<float, 3> at = {}; // or a direction, of a cube
  std::uint32_t layer = 0;
  std::array<std::int32_t, 3> offset = {}; // elements, on top
};

/// Which level of detail a kernel asks for where it asks for none: the least
/// that the texture has and allows.
inline constexpr float kBaseLevel = -32;

/// The level of detail for how fast the point moves from thread to thread: the
/// binary logarithm of the elements that it moves by, of the faster way.
float level_for(
    const Texture& texture,
    const SamplePoint& point,
    const std::array<float, 3>& dx,
    const std::array<float, 3>& dy);

/// A texture at a point, filtered as it says.
/// @param level of detail, before the texture's bias and limits.
Element sample(
    const Texture& texture,
    const SamplePoint& point,
    float level,
    ObjectLane& lane);

/// One channel of the four elements that linear filtering mixes, from the one
/// at the lower left on against the clock (y points up here). At a corner of a
/// cube, where three meet, the fourth is the one of the face itself.
/// @param channel 0 to 3.
Element gather(
    const Texture& texture,
    const SamplePoint& point,
    std::uint32_t channel,
    ObjectLane& lane);

/// The element at whole coordinates; zeros outside.
Element fetch(
    const Texture& texture,
    Geometry geometry,
    const std::array<std::int32_t, 3>& at,
    std::uint32_t layer,
    ObjectLane& lane);

} // namespace cudasim::engine
