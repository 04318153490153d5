// Where coordinates lie among the elements of a texture. Normalized ones are
// scaled in single precision, as a GPU does it; all else is in double
// precision, which is exact but for the division in cubemaps. Source: CUDA
// programming guide, "Texture Fetching"; for cubemaps "Cubemap Textures".
#pragma once

#include <cstdint>

#include "cudasim/engine/memory/texture.h"

namespace cudasim::engine {

/// No element: what the border's colour stands for.
inline constexpr std::int64_t kOutside = -1;

/// How one axis of a texture is addressed.
struct Axis {
  std::int64_t extent = 1; // elements
  Texture::Addressing addressing = Texture::Addressing::kClamp;
  /// Whether 1 is the far edge. If it is not, elements neither wrap around nor
  /// are mirrored: they are clamped, as CUDA has it.
  bool normalized = false;
};

/// A coordinate in elements: 0 is the near edge of the first. It is far from
/// the limits of 64 bits, and 0 for what is no number.
double position_on(const Axis& axis, double coordinate);

/// The element that is read for one at any place; kOutside for the border.
std::int64_t element_on(const Axis& axis, std::int64_t place);

/// Where clamping keeps a position that is filtered: between the middles of the
/// first and the last element.
double filtered_position(const Axis& axis, double position);

/// The elements around a position, for linear filtering.
struct Neighbours {
  std::int64_t first = 0;
  std::int32_t weight = 0; // of the second, of 256
};
/// The weight has 8 bits behind the point and is rounded to nearest; a whole
/// one is that of the next element.
Neighbours neighbours_of(double position);

/// A direction from the middle of a cube.
struct Direction {
  double x = 0;
  double y = 0;
  double z = 0;
};

/// Where a direction leaves a cube whose faces reach from 0 to 1.
struct FacePoint {
  int face = 0; // +x, -x, +y, -y, +z, -z
  double s = 0;
  double t = 0;
};
/// Of axes alike z comes before y, and that before x.
FacePoint face_point(const Direction& direction);

/// How fast a point on the face of `direction` moves with it, in s and t.
/// @param change of the direction.
FacePoint face_change(const Direction& direction, const Direction& change);

/// An element of a face.
struct FaceElement {
  int face = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
};
/// The element of the adjoining face that lies where one just outside of its
/// face does, across one edge.
/// @param size elements of an edge.
FaceElement across_edge(const FaceElement& outside, std::int64_t size);

} // namespace cudasim::engine
