#include "cudasim/engine/instructions/texture/queries.h"

namespace cudasim::engine {
namespace {

/// PTX ISA 5.3: CL_SNORM_INT8 and so on.
std::uint32_t channel_type(const Texture& texture) {
  constexpr std::uint32_t kSignedNormalized = 0x10d0; // of 8 bits, then 16
  constexpr std::uint32_t kUnsignedNormalized = 0x10d2;
  constexpr std::uint32_t kSigned = 0x10d7; // of 8 bits, then 16 and 32
  constexpr std::uint32_t kUnsigned = 0x10da;
  constexpr std::uint32_t kFloat = 0x10dd; // of 16 bits, then 32
  const std::uint32_t bits = texture.channel_bits;
  const std::uint32_t step = bits == 8 ? 0 : bits == 16 ? 1 : 2;
  if (texture.channel == Texture::Channel::kFloat) {
    return kFloat + step - 1;
  }
  const bool is_signed = texture.channel == Texture::Channel::kSigned;
  if (texture.normalized_elements) {
    return (is_signed ? kSignedNormalized : kUnsignedNormalized) + step;
  }
  return (is_signed ? kSigned : kUnsigned) + step;
}

/// PTX ISA 5.3: CL_R, CL_RG, CL_RGBA.
std::uint32_t channel_order(const Texture& texture) {
  return texture.channels == 1 ? 0x10b0
      : texture.channels == 2  ? 0x10b2
                               : 0x10b5;
}

} // namespace

std::uint32_t answer(
    const Texture& texture,
    Query query,
    std::uint32_t level,
    ObjectLane& lane) {
  if (level >= texture.levels.size()) {
    lane.fail(
        FaultKind::kIllegalInstruction,
        "a query of a level that the texture does not have");
    return 0;
  }
  const TextureLevel& its = texture.levels[level];
  switch (query) {
    case Query::kWidth:
      return static_cast<std::uint32_t>(its.width);
    case Query::kHeight:
      return static_cast<std::uint32_t>(its.height);
    case Query::kDepth:
      return texture.dimensions == 3 ? static_cast<std::uint32_t>(its.depth)
                                     : 1;
    case Query::kLayers:
      if (!texture.layered || texture.cubemap) {
        lane.fail(
            FaultKind::kUnsupported,
            "array_size of an object that has no layers, or of a cubemap");
      }
      return static_cast<std::uint32_t>(its.depth);
    case Query::kLevels:
      return static_cast<std::uint32_t>(texture.levels.size());
    case Query::kNormalizedCoordinates:
      return texture.normalized_coordinates ? 1 : 0;
    case Query::kChannelType:
      return channel_type(texture);
    case Query::kChannelOrder:
      return channel_order(texture);
  }
  return 0;
}

Flow answer_query(Warp& warp, const Inst& inst, Mask active) {
  ObjectLane lane(warp, inst);
  auto* d = lanes<std::uint32_t>(warp, inst.operands[0]);
  const auto* handles = lanes<std::uint64_t>(warp, inst.operands[1]);
  const Slot levels = inst.operands[2];
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    lane.set_lane(i);
    const Texture* texture = lane.find(handles[i]);
    if (texture == nullptr) {
      return Flow::kFault;
    }
    const std::uint32_t level =
        levels == kNoSlot ? 0 : lanes<std::uint32_t>(warp, levels)[i];
    const std::uint32_t value =
        answer(*texture, static_cast<Query>(inst.immediate), level, lane);
    if (lane.failed()) {
      return Flow::kFault;
    }
    d[i] = value;
  }
  return Flow::kNext;
}

} // namespace cudasim::engine
