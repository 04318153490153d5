#include "cudasim/engine/instructions/texture/coordinates.h"

#include <algorithm>
#include <cmath>

namespace cudasim::engine {
namespace {

using Addressing = Texture::Addressing;

/// Numbers of single precision from here on are whole ones.
constexpr double kWhole = 1 << 24;
/// Elements, more than any extent.
constexpr double kFar = static_cast<double>(std::int64_t{1} << 40);

bool repeats(const Axis& axis) {
  return axis.normalized &&
      (axis.addressing == Addressing::kWrap ||
       axis.addressing == Addressing::kMirror);
}

/// The rest of a division, never negative.
std::int64_t modulo(std::int64_t value, std::int64_t by) {
  const std::int64_t rest = value % by;
  return rest < 0 ? rest + by : rest;
}

/// A face's axes: where the parts of a direction go.
struct FaceAxes {
  double major = 0;
  double s = 0;
  double t = 0;
};

FaceAxes axes_of(int face, const Direction& d) {
  switch (face) {
    case 0:
      return {d.x, -d.z, -d.y};
    case 1:
      return {-d.x, d.z, -d.y};
    case 2:
      return {d.y, d.x, d.z};
    case 3:
      return {-d.y, d.x, -d.z};
    case 4:
      return {d.z, d.x, -d.y};
    default:
      return {-d.z, -d.x, -d.y};
  }
}

/// The direction of a point on the plane of a face, whose coordinates go from
/// -1 to 1 on the face.
Direction direction_of(int face, double s, double t) {
  switch (face) {
    case 0:
      return {1, -t, -s};
    case 1:
      return {-1, -t, s};
    case 2:
      return {s, 1, t};
    case 3:
      return {s, -1, -t};
    case 4:
      return {s, -t, 1};
    default:
      return {-s, -t, -1};
  }
}

int face_of(const Direction& d) {
  const double x = std::fabs(d.x);
  const double y = std::fabs(d.y);
  const double z = std::fabs(d.z);
  if (z >= x && z >= y) {
    return d.z < 0 ? 5 : 4;
  }
  if (y >= x) {
    return d.y < 0 ? 3 : 2;
  }
  return d.x < 0 ? 1 : 0;
}

} // namespace

double position_on(const Axis& axis, double coordinate) {
  double x = coordinate;
  if (std::isnan(x)) {
    return 0;
  }
  if (axis.normalized) {
    if (repeats(axis) && std::fabs(x) >= kWhole) {
      x = std::isinf(x) ? 0 : std::fmod(x, 2.0);
    }
    x = static_cast<float>(x) * static_cast<float>(axis.extent);
  }
  return std::clamp(x, -kFar, kFar);
}

std::int64_t element_on(const Axis& axis, std::int64_t place) {
  const std::int64_t extent = axis.extent;
  if (place >= 0 && place < extent) {
    return place;
  }
  if (axis.addressing == Addressing::kBorder) {
    return kOutside;
  }
  if (!repeats(axis)) {
    return place < 0 ? 0 : extent - 1;
  }
  if (axis.addressing == Addressing::kWrap) {
    return modulo(place, extent);
  }
  const std::int64_t there = modulo(place, 2 * extent);
  return there < extent ? there : 2 * extent - 1 - there;
}

double filtered_position(const Axis& axis, double position) {
  return axis.addressing == Addressing::kBorder || repeats(axis)
      ? position
      : std::clamp(position, 0.5, static_cast<double>(axis.extent) - 0.5);
}

Neighbours neighbours_of(double position) {
  const auto steps =
      static_cast<std::int64_t>(std::floor((position - 0.5) * 256 + 0.5));
  return {steps >> 8, static_cast<std::int32_t>(steps & 255)};
}

FacePoint face_point(const Direction& direction) {
  FacePoint point;
  point.face = face_of(direction);
  const FaceAxes axes = axes_of(point.face, direction);
  point.s = (axes.s / axes.major + 1) / 2;
  point.t = (axes.t / axes.major + 1) / 2;
  return point;
}

FacePoint face_change(const Direction& direction, const Direction& change) {
  FacePoint moved;
  moved.face = face_of(direction);
  const FaceAxes at = axes_of(moved.face, direction);
  const FaceAxes by = axes_of(moved.face, change);
  const double square = 2 * at.major * at.major;
  moved.s = (by.s * at.major - at.s * by.major) / square;
  moved.t = (by.t * at.major - at.t * by.major) / square;
  return moved;
}

FaceElement across_edge(const FaceElement& outside, std::int64_t size) {
  const auto edge = static_cast<double>(size);
  const auto middle = [&](std::int64_t place) {
    return (2 * static_cast<double>(place) + 1) / edge - 1;
  };
  const FacePoint point = face_point(
      direction_of(outside.face, middle(outside.x), middle(outside.y)));
  const auto element = [&](double along) {
    return std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::floor(along * edge)), 0, size - 1);
  };
  return {point.face, element(point.s), element(point.t)};
}

} // namespace cudasim::engine
