// The geometries of textures and surfaces. Source: PTX ISA 9.7.9, 9.7.10.
#pragma once

#include <cstdint>

#include "cudasim/engine/memory/texture.h"

namespace cudasim::engine {

/// As an instruction names them: .1d, .2d, .3d, .a1d, .a2d, .cube, .acube.
enum class Geometry : std::uint8_t {
  k1d,
  k2d,
  k3d,
  kLayered1d,
  kLayered2d,
  kCube,
  kLayeredCube,
};

constexpr bool is_layered(Geometry geometry) {
  return geometry == Geometry::kLayered1d || geometry == Geometry::kLayered2d ||
      geometry == Geometry::kLayeredCube;
}

constexpr bool is_cube(Geometry geometry) {
  return geometry == Geometry::kCube || geometry == Geometry::kLayeredCube;
}

/// How many coordinates an element has, of one face of a cube two.
constexpr int dimensions_of(Geometry geometry) {
  return geometry == Geometry::k1d || geometry == Geometry::kLayered1d ? 1
      : geometry == Geometry::k3d                                      ? 3
                                                                       : 2;
}

/// How many coordinates an instruction has besides the number of a layer.
constexpr int coordinates_of(Geometry geometry) {
  return is_cube(geometry) ? 3 : dimensions_of(geometry);
}

/// Why an instruction of a geometry cannot read a texture; null where it can.
/// Fewer coordinates than the texture has are enough where its further extents
/// are 1: an array of one row is one of two dimensions, too.
const char* texture_misfit(const Texture& texture, Geometry geometry);

/// The same of a surface, where each face of a cube is a layer.
const char* surface_misfit(const Texture& surface, Geometry geometry);

} // namespace cudasim::engine
