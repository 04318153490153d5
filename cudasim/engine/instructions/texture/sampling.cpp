#include "cudasim/engine/instructions/texture/sampling.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cudasim/engine/instructions/texture/coordinates.h"
#include "cudasim/engine/instructions/texture/filter.h"

namespace cudasim::engine {
namespace {

constexpr int kMostAxes = 3;
using Numbers = std::array<double, 4>;
using Place = std::array<std::int64_t, kMostAxes>;

Direction direction_of(const std::array<float, 3>& at) {
  return {at[0], at[1], at[2]};
}

/// One level of a texture, at one layer, or one face.
class LevelReader {
 public:
  LevelReader(
      const Texture& texture,
      const TextureLevel& level,
      const SamplePoint& point,
      ObjectLane& lane)
      : texture_(texture),
        level_(level),
        lane_(lane),
        axes_count_(dimensions_of(point.geometry)),
        offset_(point.offset) {
    const std::uint64_t extents[kMostAxes] = {
        level.width, level.height, level.depth};
    const bool cube = is_cube(point.geometry);
    for (int i = 0; i < kMostAxes; ++i) {
      axes_[i].extent =
          static_cast<std::int64_t>(i < 2 || axes_count_ > 2 ? extents[i] : 1);
      axes_[i].addressing = cube && texture.seamless
          ? Texture::Addressing::kClamp
          : texture.addressing[i];
      axes_[i].normalized = cube || texture.normalized_coordinates;
    }
    // A texture of one dimension is a row of two, read at its edge.
    is_row_ = point.geometry == Geometry::k1d;
    const std::uint64_t slices_of_layer = cube ? 6 : 1;
    if (is_layered(point.geometry)) {
      const std::uint64_t layers = level.depth / slices_of_layer;
      slice_ =
          std::min<std::uint64_t>(point.layer, layers - 1) * slices_of_layer;
    }
    std::array<double, kMostAxes> at = {point.at[0], point.at[1], point.at[2]};
    if (cube) {
      const FacePoint on_face = face_point(direction_of(point.at));
      face_ = on_face.face;
      at = {on_face.s, on_face.t, 0};
    }
    for (int i = 0; i < axes_count_; ++i) {
      position_[i] = position_on(axes_[i], at[i]);
    }
    is_cube_ = cube;
    crosses_edges_ = cube && texture.seamless;
  }

  Element nearest() const {
    return value_of(texture_, raw_nearest());
  }

  /// Adds the elements that linear filtering mixes.
  /// @param weight of them together.
  void add_linear(Mixture& mixture, std::int32_t weight) const {
    Neighbours around[kMostAxes];
    for (int i = 0; i < (is_row_ ? 2 : axes_count_); ++i) {
      const double position = i < axes_count_ ? position_[i] : 0;
      around[i] = neighbours_of(
          crosses_edges_ ? position
                         : filtered_position(axes_[i], position + offset_[i]));
    }
    const Shares slices = split_lower(weight, around[2].weight);
    add_plane(mixture, around, 0, slices.lower);
    if (slices.upper != 0) {
      mixture.begin_slice();
      add_plane(mixture, around, 1, slices.upper);
    }
  }

  /// Adds the nearest element.
  void add_nearest(Mixture& mixture, std::int32_t weight) const {
    mixture.add(filter_units(texture_, raw_nearest()), weight);
  }

  /// The four of two axes: (0,1), (1,1), (1,0), (0,0).
  std::array<Element, 4> corners() const {
    constexpr int kSteps[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    std::array<Element, 4> all{};
    for (int corner = 0; corner < 4; ++corner) {
      Place place{};
      for (int i = 0; i < 2; ++i) {
        place[i] =
            neighbours_of(position_[i]).first + kSteps[corner][i] + offset_[i];
      }
      all[corner] = value_of(texture_, element_at(place, crosses_edges_));
    }
    return all;
  }

 private:
  Element raw_nearest() const {
    Place place{};
    for (int i = 0; i < axes_count_; ++i) {
      place[i] =
          static_cast<std::int64_t>(std::floor(position_[i])) + offset_[i];
      if (is_cube_ && texture_.levels.size() == 1) {
        // In every mode, as a GPU has it; with levels the mode counts.
        place[i] = std::clamp<std::int64_t>(place[i], 0, axes_[i].extent - 1);
      }
    }
    return element_at(place, false);
  }

  /// Adds the elements of a slice: one row, or two.
  void add_plane(
      Mixture& mixture,
      const Neighbours (&around)[kMostAxes],
      int slice,
      std::int32_t weight) const {
    const Shares columns = split_upper(weight, around[0].weight);
    const std::int32_t row = around[1].weight;
    const auto add = [&](int x, int y, std::int32_t share) {
      if (share != 0) {
        mixture.add(
            units_at(
                {around[0].first + x,
                 around[1].first + y,
                 around[2].first + slice}),
            share);
      }
    };
    const Shares left = split_lower(columns.lower, row);
    const Shares right = split_upper(columns.upper, row);
    add(0, 0, left.lower);
    add(1, 0, right.lower);
    add(0, 1, left.upper);
    add(1, 1, right.upper);
  }

  std::uint64_t slice_of(const Place& place, int face) const {
    return axes_count_ == kMostAxes ? static_cast<std::uint64_t>(place[2])
                                    : slice_ + static_cast<unsigned>(face);
  }

  /// The element there, which is inside.
  Element inside(const Place& place, int face) const {
    const std::byte* memory = lane_.memory_at(
        level_.address + slice_of(place, face) * level_.slice +
            static_cast<std::uint64_t>(place[1]) * level_.pitch +
            static_cast<std::uint64_t>(place[0]) * texture_.element_bytes(),
        texture_.element_bytes(),
        false);
    return memory == nullptr ? Element{} : raw_element(texture_, memory);
  }

  /// @param across whether elements beyond an edge of a cube's face are those
  /// of the adjoining face.
  Element element_at(Place place, bool across) const {
    if (across) {
      const bool beyond_x = place[0] < 0 || place[0] >= axes_[0].extent;
      const bool beyond_y = place[1] < 0 || place[1] >= axes_[1].extent;
      if (beyond_x != beyond_y) {
        const FaceElement other =
            across_edge({face_, place[0], place[1]}, axes_[0].extent);
        return inside({other.x, other.y, 0}, other.face);
      }
    }
    for (int i = 0; i < (is_row_ ? 2 : axes_count_); ++i) {
      place[i] = element_on(axes_[i], place[i]);
      if (place[i] == kOutside) {
        return raw_border(texture_);
      }
    }
    return inside(place, face_);
  }

  Numbers units_at(const Place& place) const {
    if (!crosses_edges_) {
      return filter_units(texture_, element_at(place, false));
    }
    const auto nearest_inside = [&](int axis) {
      return std::clamp<std::int64_t>(place[axis], 0, axes_[axis].extent - 1);
    };
    const Place inner = {nearest_inside(0), nearest_inside(1), 0};
    if (inner[0] == place[0] || inner[1] == place[1]) {
      return filter_units(texture_, element_at(place, true));
    }
    // No element lies at the corner of a cube: the mean of the three that meet
    // there.
    Numbers mean{};
    for (const Place& at :
         {inner, Place{place[0], inner[1], 0}, Place{inner[0], place[1], 0}}) {
      const Numbers numbers = filter_units(texture_, element_at(at, true));
      for (int k = 0; k < 4; ++k) {
        mean[k] += numbers[k] / 3;
      }
    }
    return mean;
  }

  const Texture& texture_;
  const TextureLevel& level_;
  ObjectLane& lane_;
  int axes_count_;
  std::array<std::int32_t, 3> offset_;
  Axis axes_[kMostAxes];
  double position_[kMostAxes] = {};
  std::uint64_t slice_ = 0;
  int face_ = 0;
  bool crosses_edges_ = false;
  bool is_row_ = false;
  bool is_cube_ = false;
};

/// Levels of detail are counted in steps of 1/256, toward zero.
std::int32_t steps_of(double levels) {
  constexpr double kMost = 1 << 16;
  if (std::isnan(levels)) {
    return 0;
  }
  return static_cast<std::int32_t>(
      std::trunc(std::clamp(levels, -kMost, kMost) * 256));
}

/// How fast a point moves over the largest level, in elements.
double speed(
    const Texture& texture,
    const SamplePoint& point,
    const std::array<float, 3>& change) {
  std::array<double, 3> parts = {change[0], change[1], change[2]};
  const bool cube = is_cube(point.geometry);
  if (cube) {
    const FacePoint moved =
        face_change(direction_of(point.at), direction_of(change));
    parts = {moved.s, moved.t, 0};
  }
  const TextureLevel& level = texture.levels[0];
  const std::uint64_t extents[kMostAxes] = {
      level.width, level.height, level.depth};
  double square = 0;
  for (int i = 0; i < dimensions_of(point.geometry); ++i) {
    const double part = cube || texture.normalized_coordinates
        ? parts[i] * static_cast<double>(extents[i])
        : parts[i];
    square += part * part;
  }
  return std::sqrt(square);
}

} // namespace

float level_for(
    const Texture& texture,
    const SamplePoint& point,
    const std::array<float, 3>& dx,
    const std::array<float, 3>& dy) {
  return static_cast<float>(std::log2(
      std::max(speed(texture, point, dx), speed(texture, point, dy))));
}

Element sample(
    const Texture& texture,
    const SamplePoint& point,
    float level,
    ObjectLane& lane) {
  const auto last = static_cast<std::int32_t>(texture.levels.size() - 1) * 256;
  std::int32_t detail = std::isnan(level) || std::isnan(texture.level_bias)
      ? 0
      : steps_of(level) + steps_of(texture.level_bias);
  detail = std::min(
      std::max(detail, steps_of(texture.level_minimum)),
      steps_of(texture.level_maximum));
  detail = std::clamp(detail, 0, last);
  const auto reader_of = [&](std::int32_t index) {
    return LevelReader(
        texture, texture.levels[static_cast<std::size_t>(index)], point, lane);
  };
  const std::int32_t first =
      texture.levels_filtered ? detail >> 8 : (detail + 128) >> 8;
  const std::int32_t second = texture.levels_filtered ? detail & 255 : 0;
  if (!texture.filtered && second == 0) {
    return reader_of(first).nearest();
  }
  Mixture mixture(texture);
  const auto add = [&](std::int32_t index, std::int32_t weight) {
    const LevelReader reader = reader_of(index);
    if (texture.filtered) {
      reader.add_linear(mixture, weight);
    } else {
      reader.add_nearest(mixture, weight);
    }
  };
  add(first, kWholeWeight - second);
  if (second != 0) {
    mixture.begin_slice();
    add(first + 1, second);
  }
  return mixture.mixed();
}

Element gather(
    const Texture& texture,
    const SamplePoint& point,
    std::uint32_t channel,
    ObjectLane& lane) {
  const auto corners =
      LevelReader(texture, texture.levels[0], point, lane).corners();
  Element channels{};
  for (int i = 0; i < 4; ++i) {
    channels[i] = corners[i][channel];
  }
  return channels;
}

Element fetch(
    const Texture& texture,
    Geometry geometry,
    const std::array<std::int32_t, 3>& at,
    std::uint32_t layer,
    ObjectLane& lane) {
  const TextureLevel& level = texture.levels[0];
  const std::uint64_t extents[kMostAxes] = {
      level.width, level.height, level.depth};
  std::uint64_t place[kMostAxes] = {};
  for (int i = 0; i < dimensions_of(geometry); ++i) {
    if (at[i] < 0 || static_cast<std::uint64_t>(at[i]) >= extents[i]) {
      return {};
    }
    place[i] = static_cast<std::uint64_t>(at[i]);
  }
  if (is_layered(geometry)) {
    place[2] = std::min<std::uint64_t>(layer, level.depth - 1);
  }
  const std::byte* memory = lane.memory_at(
      level.address + place[2] * level.slice + place[1] * level.pitch +
          place[0] * texture.element_bytes(),
      texture.element_bytes(),
      false);
  return memory == nullptr ? Element{}
                           : value_of(texture, raw_element(texture, memory));
}

} // namespace cudasim::engine
