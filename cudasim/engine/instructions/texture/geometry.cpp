#include "cudasim/engine/instructions/texture/geometry.h"

namespace cudasim::engine {
namespace {

const char* dimensions_misfit(const Texture& texture, Geometry geometry) {
  const auto count = static_cast<std::uint32_t>(dimensions_of(geometry));
  const TextureLevel& level = texture.levels[0];
  if (texture.dimensions < count) {
    return "the object has fewer dimensions than the instruction";
  }
  const bool is_flat = (count >= 2 || level.height == 1) &&
      (count >= 3 || texture.dimensions < 3 || level.depth == 1);
  return is_flat ? nullptr
                 : "the object has more dimensions than the instruction";
}

} // namespace

const char* texture_misfit(const Texture& texture, Geometry geometry) {
  if (texture.cubemap != is_cube(geometry)) {
    return texture.cubemap ? "the object is a cubemap"
                           : "the object is no cubemap";
  }
  if (texture.layered != is_layered(geometry)) {
    return texture.layered ? "the object has layers"
                           : "the object has no layers";
  }
  return dimensions_misfit(texture, geometry);
}

const char* surface_misfit(const Texture& surface, Geometry geometry) {
  if ((surface.layered || surface.cubemap) != is_layered(geometry)) {
    return is_layered(geometry) ? "the object has no layers"
                                : "the object has layers";
  }
  return dimensions_misfit(surface, geometry);
}

} // namespace cudasim::engine
