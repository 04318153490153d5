#include "cudasim/engine/instructions/texture/sampling.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cudasim/engine/instructions/texture/coordinates.h"

namespace cudasim::engine {
namespace {

constexpr int kMostAxes = 3;
using Numbers = std::array<double, 4>;
using Place = std::array<std::int64_t, kMostAxes>;

Direction direction_of(const std::array<float, 3>& at) {
  return {at[0], at[1], at[2]};
}

float single_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::uint32_t bits_of_number(double number) {
  const auto value = static_cast<float>(number);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
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
    for (int i = 0; i < axes_count_; ++i) {
      axes_[i].extent = static_cast<std::int64_t>(extents[i]);
      axes_[i].addressing = cube && texture.seamless
          ? Texture::Addressing::kClamp
          : texture.addressing[i];
      axes_[i].normalized = cube || texture.normalized_coordinates;
    }
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
    crosses_edges_ = cube && texture.seamless;
  }

  Element nearest() const {
    Place place{};
    for (int i = 0; i < axes_count_; ++i) {
      place[i] =
          static_cast<std::int64_t>(std::floor(position_[i])) + offset_[i];
    }
    return element_at(place, false);
  }

  Numbers linear() const {
    Neighbours around[kMostAxes];
    for (int i = 0; i < axes_count_; ++i) {
      around[i] = neighbours_of(position_[i]);
    }
    Numbers sum{};
    for (int corner = 0; corner < 1 << axes_count_; ++corner) {
      Place place{};
      double weight = 1;
      for (int i = 0; i < axes_count_; ++i) {
        const bool is_second = (corner >> i & 1) != 0;
        place[i] = around[i].first + (is_second ? 1 : 0) + offset_[i];
        weight *= is_second ? around[i].weight : 1 - around[i].weight;
      }
      if (weight == 0) {
        continue;
      }
      const Numbers numbers = numbers_at(place);
      for (int k = 0; k < 4; ++k) {
        sum[k] += weight * numbers[k];
      }
    }
    return sum;
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
      all[corner] = element_at(place, crosses_edges_);
    }
    return all;
  }

 private:
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
    return memory == nullptr ? Element{} : read_element(texture_, memory);
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
    for (int i = 0; i < axes_count_; ++i) {
      place[i] = element_on(axes_[i], place[i]);
      if (place[i] == kOutside) {
        return border_element(texture_);
      }
    }
    return inside(place, face_);
  }

  static Numbers numbers_of(const Element& element) {
    Numbers numbers{};
    for (int k = 0; k < 4; ++k) {
      numbers[k] = single_of(element[k]);
    }
    return numbers;
  }

  Numbers numbers_at(const Place& place) const {
    if (!crosses_edges_) {
      return numbers_of(element_at(place, false));
    }
    const auto nearest_inside = [&](int axis) {
      return std::clamp<std::int64_t>(place[axis], 0, axes_[axis].extent - 1);
    };
    const Place inner = {nearest_inside(0), nearest_inside(1), 0};
    if (inner[0] == place[0] || inner[1] == place[1]) {
      return numbers_of(element_at(place, true));
    }
    // No element lies at the corner of a cube: the mean of the three that meet
    // there.
    Numbers mean{};
    for (const Place& at :
         {inner, Place{place[0], inner[1], 0}, Place{inner[0], place[1], 0}}) {
      const Numbers numbers = numbers_of(element_at(at, true));
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
};

Element rounded(const Numbers& numbers) {
  Element element{};
  for (int k = 0; k < 4; ++k) {
    element[k] = bits_of_number(numbers[k]);
  }
  return element;
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
  const auto last = static_cast<double>(texture.levels.size() - 1);
  double detail = static_cast<double>(level) + texture.level_bias;
  if (std::isnan(detail)) {
    detail = 0;
  }
  detail = std::min<double>(
      std::max<double>(detail, texture.level_minimum), texture.level_maximum);
  detail = std::clamp(detail, 0.0, last);
  const auto reader_of = [&](double index) {
    return LevelReader(
        texture, texture.levels[static_cast<std::size_t>(index)], point, lane);
  };
  if (!texture.levels_filtered) {
    const LevelReader reader = reader_of(std::floor(detail + 0.5));
    return texture.filtered ? rounded(reader.linear()) : reader.nearest();
  }
  // Between levels as between elements.
  const Neighbours around = neighbours_of(detail + 0.5);
  Numbers sum{};
  for (const bool second : {false, true}) {
    const double weight = second ? around.weight : 1 - around.weight;
    if (weight == 0) {
      continue;
    }
    const LevelReader reader =
        reader_of(static_cast<double>(around.first + (second ? 1 : 0)));
    Numbers numbers{};
    if (texture.filtered) {
      numbers = reader.linear();
    } else {
      const Element element = reader.nearest();
      if (weight == 1) {
        return element;
      }
      for (int k = 0; k < 4; ++k) {
        numbers[k] = single_of(element[k]);
      }
    }
    for (int k = 0; k < 4; ++k) {
      sum[k] += weight * numbers[k];
    }
  }
  return rounded(sum);
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
      return zero_element(texture);
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
  return memory == nullptr ? Element{} : read_element(texture, memory);
}

} // namespace cudasim::engine
