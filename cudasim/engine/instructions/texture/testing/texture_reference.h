// What a texture gives, by the formulas of the CUDA programming guide, "Texture
// Fetching": each axis gives the elements that count and how much they do. How
// their weights and results are rounded was measured on an RTX 3060 by
// pantheongpu/pantheonsim (nvidia/docs/textures.md).
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

class TextureReference {
 public:
  explicit TextureReference(const TextureModel& model) : model_(model) {}

  /// At a level of detail, before bias and limits.
  Words sample(const ReferencePoint& point, float detail) const {
    const Texture& its = model_.texture;
    // In steps of 1/256, of which parts do not count.
    const auto steps = [](double levels) { return std::trunc(levels * 256); };
    double level = steps(detail) + steps(its.level_bias);
    level = std::max(level, steps(its.level_minimum));
    level = std::min(level, steps(its.level_maximum));
    const double last = 256.0 * (static_cast<double>(its.levels.size()) - 1);
    level = std::min(std::max(level, 0.0), last) / 256;
    if (!its.levels_filtered) {
      level = std::floor(level + 0.5);
    }
    const double lower = std::floor(level);
    const auto index = static_cast<std::size_t>(lower);
    const auto part = static_cast<int>((level - lower) * 256);
    if (part == 0 && !its.filtered) {
      return nearest(index, point).words;
    }
    Numbers sum{};
    add_level(index, point, 256 - part, sum);
    if (part > 0) {
      add_level(index + 1, point, part, sum);
    }
    Words result{};
    for (std::uint32_t k = 0; k < its.channels; ++k) {
      result[k] = word_of(static_cast<float>(rounded(sum[k], k)));
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
            taps_of(place.at[axis]).first + order[i][axis] + point.offset[axis];
      }
      const std::int64_t last = extent_of(0, 0) - 1;
      if (model_.texture.cubemap && model_.texture.seamless &&
          (where[0] < 0 || where[0] > last) &&
          (where[1] < 0 || where[1] > last)) {
        where[0] = where[0] < 0 ? 0 : last;
        where[1] = where[1] < 0 ? 0 : last;
      }
      result[i] = element(0, place, where).words[channel];
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
        return {};
      }
    }
    if (model_.texture.layered) {
      place[2] = std::min<std::int64_t>(
          layer, static_cast<std::int64_t>(level.depth) - 1);
    }
    return model_.element(level, place[0], place[1], place[2]).words;
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
          ? static_cast<long double>(
                static_cast<float>(at[i]) *
                static_cast<float>(extent_of(level, i)))
          : static_cast<long double>(at[i]);
    }
    if (its.layered) {
      const std::int64_t each = its.cubemap ? 6 : 1;
      const std::int64_t layers = extent_of(level, 2) / each;
      place.slice = std::min<std::int64_t>(point.layer, layers - 1) * each;
    }
    return place;
  }

  /// The first of two elements of an axis, and the weight of the second.
  struct Taps {
    std::int64_t first = 0;
    long double part = 0; // of 256
  };
  static Taps taps_of(long double position) {
    const long double steps = std::floor((position - 0.5L) * 256 + 0.5L);
    const long double first = std::floor(steps / 256);
    return {static_cast<std::int64_t>(first), steps - first * 256};
  }
  static long double part_of(long double weight, long double part) {
    return std::floor(weight * part / 256 + 0.5L);
  }

  ModelElement nearest(std::size_t level, const ReferencePoint& point) const {
    const Texture& its = model_.texture;
    const Place place = place_of(level, point);
    std::int64_t where[3] = {};
    for (std::uint32_t i = 0; i < its.dimensions; ++i) {
      where[i] =
          static_cast<std::int64_t>(std::floor(place.at[i])) + point.offset[i];
      if (its.cubemap && its.levels.size() == 1) {
        where[i] =
            std::clamp<std::int64_t>(where[i], 0, extent_of(level, 0) - 1);
      }
    }
    return element(level, place, where);
  }

  void add_level(
      std::size_t level,
      const ReferencePoint& point,
      int weight,
      Numbers& sum) const {
    const Texture& its = model_.texture;
    const auto add = [&](const Numbers& numbers, long double share) {
      for (std::size_t k = 0; k < 4; ++k) {
        sum[k] += share / 256 * numbers[k];
      }
    };
    if (!its.filtered) {
      add(nearest(level, point).numbers, weight);
      return;
    }
    const Place place = place_of(level, point);
    Taps taps[3];
    const bool is_row = its.dimensions == 1 && !its.layered;
    for (std::uint32_t i = 0; i < its.dimensions + (is_row ? 1 : 0); ++i) {
      long double at = place.at[i] + point.offset[i];
      if (mode_of(static_cast<int>(i)) == Texture::Addressing::kClamp &&
          !(its.cubemap && its.seamless)) {
        at = std::clamp<long double>(
            at, 0.5L, extent_of(level, static_cast<int>(i)) - 0.5L);
      }
      taps[i] = taps_of(at);
    }
    const long double x = taps[0].part;
    const long double y = taps[1].part;
    const long double near = part_of(weight, 256 - taps[2].part);
    const long double slices[2] = {near, weight - near};
    for (int z = 0; z < 2; ++z) {
      const long double right = part_of(slices[z], x);
      const long double left = slices[z] - right;
      const long double right_up = part_of(right, y);
      const long double left_down = part_of(left, 256 - y);
      const long double shares[2][2] = {
          {left_down, right - right_up}, {left - left_down, right_up}};
      for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 2; ++i) {
          const std::int64_t where[3] = {
              taps[0].first + i, taps[1].first + j, taps[2].first + z};
          if (shares[j][i] > 0) {
            add(element(level, place, where).numbers, shares[j][i]);
          }
        }
      }
    }
  }

  /// A mixture as a channel gives it: whole numbers are mixed as such, and
  /// those of 8 bits with a sign by a formula of their own.
  long double rounded(long double sum, std::uint32_t channel) const {
    const Texture& its = model_.texture;
    if (its.channel == Texture::Channel::kFloat) {
      if (its.channel_bits == 32 || sum == 0) {
        return sum;
      }
      const long double unit =
          std::ldexp(1.0L, std::max(std::ilogb(sum), -14) - 10);
      return std::round(sum / unit) * unit;
    }
    if (model_.has_curve(channel)) {
      return sum;
    }
    if (its.channel == Texture::Channel::kUnsigned) {
      const long double scale = its.channel_bits == 8 ? 257 : 1;
      return std::floor(sum * scale + 0.5L) / 65535;
    }
    long double code = std::floor(sum + 0.5L);
    if (its.channel_bits == 8) {
      const long double codes = std::round(sum * 256);
      code = codes + std::floor((257 * std::floor(codes / 16) + 1024) / 2048);
    }
    return std::max(code, -32767.0L) / 32767;
  }

  Texture::Addressing mode_of(int axis) const {
    using Addressing = Texture::Addressing;
    const Texture& its = model_.texture;
    const Addressing mode = its.addressing[axis];
    const bool clamps = its.cubemap
        ? its.seamless
        : !its.normalized_coordinates && mode != Addressing::kBorder;
    return clamps ? Addressing::kClamp : mode;
  }

  /// An element of one axis, step by step back into it; false: the border.
  bool bring_inside(int axis, std::int64_t extent, std::int64_t& place) const {
    using Addressing = Texture::Addressing;
    const Addressing mode = mode_of(axis);
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

  ModelElement element(
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
    const bool is_row = its.dimensions == 1 && !its.layered;
    for (int i = 0; i < static_cast<int>(its.dimensions) + is_row; ++i) {
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
  ModelElement across(
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
  ModelElement corner(
      std::size_t level,
      const Place& place,
      const std::int64_t (&where)[3]) const {
    const std::int64_t last = extent_of(level, 0) - 1;
    const std::int64_t x = where[0] < 0 ? 0 : last;
    const std::int64_t y = where[1] < 0 ? 0 : last;
    const ModelElement three[3] = {
        element(level, place, {x, y, 0}),
        element(level, place, {where[0], y, 0}),
        element(level, place, {x, where[1], 0})};
    ModelElement mean;
    for (std::size_t k = 0; k < 4; ++k) {
      mean.numbers[k] =
          (three[0].numbers[k] + three[1].numbers[k] + three[2].numbers[k]) / 3;
    }
    return mean;
  }

  const TextureModel& model_;
};

} // namespace cudasim::engine::testing
