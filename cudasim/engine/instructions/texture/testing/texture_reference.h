// What a texture gives, by the formulas of the CUDA programming guide, "Texture
// Fetching": each axis gives the elements that count and how much they do.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "cudasim/engine/instructions/texture/testing/texture_model.h"

namespace cudasim::engine::testing {

/// Where a texture is read.
struct ReferencePoint {
  float at[3] = {};
  std::uint32_t layer = 0;
  int offset[3] = {};
};

/// An element of an axis and its part of the result.
struct Tap {
  std::int64_t place = 0; // as the formula has it: may be outside
  long double weight = 1;
};

class TextureReference {
 public:
  explicit TextureReference(const TextureModel& model) : model_(model) {}

  /// At a level of detail, before bias and limits.
  Words sample(const ReferencePoint& point, float detail) const {
    const Texture& its = model_.texture;
    double level = double{detail} + its.level_bias;
    level = level < its.level_minimum ? its.level_minimum : level;
    level = level > its.level_maximum ? its.level_maximum : level;
    const double last = static_cast<double>(its.levels.size()) - 1;
    level = level < 0 ? 0 : level > last ? last : level;
    if (!its.levels_filtered) {
      return at_level(static_cast<std::size_t>(std::floor(level + 0.5)), point);
    }
    const auto lower = static_cast<std::size_t>(level);
    const double part =
        std::floor((level - static_cast<double>(lower)) * 256 + 0.5) / 256;
    Words result = at_level(lower, point);
    if (part > 0) {
      const Words upper = at_level(lower + 1, point);
      for (std::size_t k = 0; k < 4; ++k) {
        result[k] = word_of(static_cast<float>(
            (1 - part) * number_of(result[k]) + part * number_of(upper[k])));
      }
    }
    return result;
  }

  /// One channel of the four elements around a point. At a corner of a cube,
  /// where only three meet, the fourth is the one of the face itself.
  Words gather(const ReferencePoint& point, std::size_t channel) const {
    const Place place = place_of(0, point);
    Words result{};
    const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (std::size_t i = 0; i < 4; ++i) {
      std::int64_t where[3] = {};
      for (int axis = 0; axis < 2; ++axis) {
        where[axis] =
            static_cast<std::int64_t>(std::floor(place.at[axis] - 0.5L)) +
            order[i][axis] + point.offset[axis];
      }
      const std::int64_t last = extent_of(0, 0) - 1;
      if (model_.texture.cubemap && model_.texture.seamless &&
          (where[0] < 0 || where[0] > last) &&
          (where[1] < 0 || where[1] > last)) {
        where[0] = where[0] < 0 ? 0 : last;
        where[1] = where[1] < 0 ? 0 : last;
      }
      result[i] = element(0, place, where)[channel];
    }
    return result;
  }

  /// At whole coordinates.
  Words fetch(const int (&at)[3], std::uint32_t layer) const {
    const TextureLevel& level = model_.texture.levels[0];
    const std::uint64_t extent[3] = {level.width, level.height, level.depth};
    std::int64_t place[3] = {at[0], at[1], at[2]};
    for (std::uint32_t i = 0; i < model_.texture.dimensions; ++i) {
      if (at[i] < 0 || static_cast<std::uint64_t>(at[i]) >= extent[i]) {
        return model_.missing();
      }
    }
    if (model_.texture.layered) {
      place[2] = std::min<std::int64_t>(
          layer, static_cast<std::int64_t>(level.depth) - 1);
    }
    return model_.element(level, place[0], place[1], place[2]);
  }

 private:
  /// A point in elements, on one slice or face.
  struct Place {
    long double at[3] = {};
    std::int64_t slice = 0; // the first of a layer's
    int face = 0;
  };

  std::int64_t extent_of(std::size_t level, int axis) const {
    const TextureLevel& its = model_.texture.levels[level];
    return static_cast<std::int64_t>(
        axis == 0       ? its.width
            : axis == 1 ? its.height
                        : its.depth);
  }

  /// CUDA programming guide, table "Cubemap Fetch": the face, and s, t and m.
  static int face_of(const float (&d)[3], double (&stm)[3]) {
    const double x = d[0], y = d[1], z = d[2];
    const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    const auto set = [&](double s, double t, double m, int face) {
      stm[0] = s;
      stm[1] = t;
      stm[2] = m;
      return face;
    };
    if (ax > ay && ax > az) {
      return x >= 0 ? set(-z, -y, x, 0) : set(z, -y, -x, 1);
    }
    if (ay >= ax && ay > az) {
      return y >= 0 ? set(x, z, y, 2) : set(x, -z, -y, 3);
    }
    return z >= 0 ? set(x, -y, z, 4) : set(-x, -y, -z, 5);
  }

  Place place_of(std::size_t level, const ReferencePoint& point) const {
    const Texture& its = model_.texture;
    Place place;
    double at[3] = {point.at[0], point.at[1], point.at[2]};
    if (its.cubemap) {
      double stm[3] = {};
      place.face = face_of(point.at, stm);
      at[0] = (stm[0] / stm[2] + 1) / 2;
      at[1] = (stm[1] / stm[2] + 1) / 2;
    }
    for (int i = 0; i < static_cast<int>(its.dimensions); ++i) {
      place.at[i] = its.cubemap || its.normalized_coordinates
          ? static_cast<long double>(at[i]) * extent_of(level, i)
          : static_cast<long double>(at[i]);
    }
    if (its.layered) {
      const std::int64_t each = its.cubemap ? 6 : 1;
      const std::int64_t layers = extent_of(level, 2) / each;
      place.slice = std::min<std::int64_t>(point.layer, layers - 1) * each;
    }
    return place;
  }

  Words at_level(std::size_t level, const ReferencePoint& point) const {
    const Texture& its = model_.texture;
    const Place place = place_of(level, point);
    std::vector<Tap> taps[3] = {{Tap{}}, {Tap{}}, {Tap{}}};
    for (int i = 0; i < static_cast<int>(its.dimensions); ++i) {
      taps[i].clear();
      if (!its.filtered) {
        taps[i].push_back(
            {static_cast<std::int64_t>(std::floor(place.at[i])) +
                 point.offset[i],
             1});
        continue;
      }
      const long double from = place.at[i] - 0.5L;
      const auto first = static_cast<std::int64_t>(std::floor(from));
      // 9 bits, 8 of them behind the point.
      const long double part =
          std::round((from - static_cast<long double>(first)) * 256) / 256;
      taps[i].push_back({first + point.offset[i], 1 - part});
      taps[i].push_back({first + 1 + point.offset[i], part});
    }
    if (!its.filtered) {
      const std::int64_t where[3] = {
          taps[0][0].place, taps[1][0].place, taps[2][0].place};
      return element(level, place, where);
    }
    long double sum[4] = {};
    for (const Tap& z : taps[2]) {
      for (const Tap& y : taps[1]) {
        for (const Tap& x : taps[0]) {
          const std::int64_t where[3] = {x.place, y.place, z.place};
          const Words words = element(level, place, where);
          for (std::size_t k = 0; k < 4; ++k) {
            sum[k] += x.weight * y.weight * z.weight *
                static_cast<long double>(number_of(words[k]));
          }
        }
      }
    }
    Words result{};
    for (std::size_t k = 0; k < 4; ++k) {
      result[k] = word_of(static_cast<float>(sum[k]));
    }
    return result;
  }

  /// An element of one axis, step by step back into it; false: the border.
  bool bring_inside(int axis, std::int64_t extent, std::int64_t& place) const {
    const Texture& its = model_.texture;
    using Addressing = Texture::Addressing;
    Addressing mode = its.addressing[axis];
    if (its.cubemap && its.seamless) {
      mode = Addressing::kClamp;
    }
    if (!its.normalized_coordinates && !its.cubemap &&
        mode != Addressing::kBorder) {
      mode = Addressing::kClamp;
    }
    while (place < 0 || place >= extent) {
      switch (mode) {
        case Addressing::kBorder:
          return false;
        case Addressing::kClamp:
          place = place < 0 ? 0 : extent - 1;
          break;
        case Addressing::kWrap:
          place += place < 0 ? extent : -extent;
          break;
        case Addressing::kMirror:
          place = place < 0 ? -1 - place : 2 * extent - 1 - place;
          break;
      }
    }
    return true;
  }

  Words element(
      std::size_t level,
      const Place& place,
      const std::int64_t (&where)[3]) const {
    const Texture& its = model_.texture;
    const std::int64_t edge = extent_of(level, 0);
    if (its.cubemap && its.seamless) {
      const bool x_out = where[0] < 0 || where[0] >= edge;
      const bool y_out = where[1] < 0 || where[1] >= edge;
      if (x_out != y_out) {
        return across(level, place, where);
      }
      if (x_out && y_out) {
        return corner(level, place, where);
      }
    }
    std::int64_t inside[3] = {where[0], where[1], where[2]};
    for (int i = 0; i < static_cast<int>(its.dimensions); ++i) {
      if (!bring_inside(i, extent_of(level, i), inside[i])) {
        return model_.border();
      }
    }
    return model_.element(
        its.levels[level],
        inside[0],
        inside[1],
        its.dimensions == 3 ? inside[2] : place.slice + place.face);
  }

  /// The middle of an element in space, on the cube from -1 to 1.
  static void middle(
      int face,
      std::int64_t x,
      std::int64_t y,
      std::int64_t edge,
      double (&d)[3]) {
    const double s =
        (2.0 * static_cast<double>(x) + 1) / static_cast<double>(edge) - 1;
    const double t =
        (2.0 * static_cast<double>(y) + 1) / static_cast<double>(edge) - 1;
    const double all[6][3] = {
        {1, -t, -s},
        {-1, -t, s},
        {s, 1, t},
        {s, -1, -t},
        {s, -t, 1},
        {-s, -t, -1}};
    std::copy(all[face], all[face] + 3, d);
  }

  /// Of all elements of all other faces the one that lies nearest.
  Words across(
      std::size_t level,
      const Place& place,
      const std::int64_t (&where)[3]) const {
    const std::int64_t edge = extent_of(level, 0);
    double here[3];
    middle(place.face, where[0], where[1], edge, here);
    double least = 1e9;
    std::int64_t best[3] = {};
    for (int face = 0; face < 6; ++face) {
      for (std::int64_t i = 0; face != place.face && i < edge * edge; ++i) {
        double there[3];
        middle(face, i % edge, i / edge, edge, there);
        const double distance = std::hypot(
            here[0] - there[0], here[1] - there[1], here[2] - there[2]);
        if (distance < least) {
          least = distance;
          best[0] = i % edge;
          best[1] = i / edge;
          best[2] = face;
        }
      }
    }
    return model_.element(
        model_.texture.levels[level], best[0], best[1], place.slice + best[2]);
  }

  /// The mean of the three elements that meet at a corner.
  Words corner(
      std::size_t level,
      const Place& place,
      const std::int64_t (&where)[3]) const {
    const std::int64_t last = extent_of(level, 0) - 1;
    const std::int64_t x = where[0] < 0 ? 0 : last;
    const std::int64_t y = where[1] < 0 ? 0 : last;
    const Words three[3] = {
        element(level, place, {x, y, 0}),
        element(level, place, {where[0], y, 0}),
        element(level, place, {x, where[1], 0})};
    Words mean{};
    for (std::size_t k = 0; k < 4; ++k) {
      mean[k] = word_of(
          (number_of(three[0][k]) + number_of(three[1][k]) +
           number_of(three[2][k])) /
          3);
    }
    return mean;
  }

  const TextureModel& model_;
};

} // namespace cudasim::engine::testing
