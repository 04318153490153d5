// What kernels may ask of textures and surfaces. Source: PTX ISA 5.3 (the
// numbers of formats, which are OpenCL's), 9.7.9, 9.7.10.
#pragma once

#include <cstdint>

#include "cudasim/engine/instructions/texture/object_lane.h"

namespace cudasim::engine {

enum class Query : std::uint8_t {
  kWidth,
  kHeight,
  kDepth,
  kLayers,
  kLevels,
  kNormalizedCoordinates,
  kChannelType,
  kChannelOrder,
};

/// The answer; a fault of the lane where there is none.
/// @param level of the extents.
std::uint32_t answer(
    const Texture& texture,
    Query query,
    std::uint32_t level,
    ObjectLane& lane);

/// The handler of txq and suq: d, [a], and perhaps a level. The immediate is
/// the query.
Flow answer_query(Warp& warp, const Inst& inst, Mask active);

} // namespace cudasim::engine
