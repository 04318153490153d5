// A texture of random elements on a test's device, and its elements as the
// host reads them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "cudasim/engine/memory/texture.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {

using Words = std::array<std::uint32_t, 4>;
using Numbers = std::array<long double, 4>;

/// An element as registers get it, and as the filter takes it.
struct ModelElement {
  Words words{};
  Numbers numbers{};
};

inline std::uint32_t word_of(float value) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof(word));
  return word;
}
inline float number_of(std::uint32_t word) {
  float value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// What a test wants of a texture; the rest is drawn.
struct TextureWish {
  int dimensions = 2;
  bool layered = false;
  bool cubemap = false;
  unsigned levels = 1;
  bool floats = true; // read as floating point numbers
};

/// Its memory is the device's.
class TextureModel {
 public:
  TextureModel(TestDevice& device, const TextureWish& wish, unsigned seed)
      : random_(seed) {
    texture.dimensions = static_cast<std::uint32_t>(wish.dimensions);
    texture.layered = wish.layered;
    texture.cubemap = wish.cubemap;
    draw_format(wish.floats);
    for (Texture::Addressing& mode : texture.addressing) {
      mode = static_cast<Texture::Addressing>(below(4));
    }
    texture.normalized_coordinates = below(2) == 0 || wish.levels > 1;
    texture.filtered = wish.floats && below(3) != 0;
    texture.levels_filtered = wish.floats && wish.levels > 1 && below(3) != 0;
    // The mean of three at a cube's corner may lie in the middle of two halves,
    // or two whole numbers.
    const bool rounds = texture.channel == Texture::Channel::kFloat
        ? texture.channel_bits == 16
        : texture.normalized_elements;
    texture.seamless = wish.cubemap && !rounds && below(2) == 0;
    texture.level_maximum = static_cast<float>(wish.levels - 1);
    if (wish.levels > 1 && below(3) == 0) {
      texture.level_minimum = 0.75f;
      texture.level_bias = -0.25f;
    }
    for (float& channel : texture.border) {
      channel = static_cast<float>(static_cast<int>(below(64)) - 16) / 32;
    }
    std::uint64_t width = wish.levels > 1 ? 12 : 3 + below(5);
    std::uint64_t height = wish.cubemap ? width
        : wish.dimensions > 1           ? 2 + below(6)
                                        : 1;
    std::uint64_t depth = wish.dimensions == 3 ? 2 + below(4) : 1;
    for (unsigned i = 0; i < wish.levels; ++i) {
      const std::uint64_t slices =
          (wish.layered ? 3 : 1) * (wish.cubemap ? 6 : 1);
      add_level(device, width, height, wish.dimensions == 3 ? depth : slices);
      width = std::max<std::uint64_t>(1, width / 2);
      height = std::max<std::uint64_t>(1, height / 2);
      depth = std::max<std::uint64_t>(1, depth / 2);
    }
  }

  Texture texture;

  bool reads_floats() const {
    return texture.channel == Texture::Channel::kFloat ||
        texture.normalized_elements;
  }

  ModelElement element(
      const TextureLevel& level,
      std::int64_t x,
      std::int64_t y,
      std::int64_t slice) const {
    const char* bytes = reinterpret_cast<const char*>(level.address) +
        static_cast<std::uint64_t>(slice) * level.slice +
        static_cast<std::uint64_t>(y) * level.pitch +
        static_cast<std::uint64_t>(x) * texture.element_bytes();
    return of_bytes(bytes);
  }
  /// What is read outside: the border's colour in the texture's format.
  ModelElement border() const {
    std::vector<char> bytes(texture.element_bytes() + 4);
    const std::size_t size = texture.channel_bits / 8;
    for (std::uint32_t k = 0; k < texture.channels; ++k) {
      const float number = texture.border[k];
      const auto half = static_cast<_Float16>(number); // it is one
      const std::int32_t code = texture.normalized_elements
          ? border_code(k)
          : static_cast<std::int32_t>(word_of(number));
      const void* from =
          texture.channel == Texture::Channel::kFloat && size == 2
          ? static_cast<const void*>(&half)
          : static_cast<const void*>(&code);
      std::memcpy(bytes.data() + k * size, from, size);
    }
    return of_bytes(bytes.data());
  }
  /// Channels that are stored as sRGB.
  bool has_curve(std::uint32_t index) const {
    return texture.srgb && (index == 0 || (texture.channels == 4 && index < 3));
  }

 private:
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(random_() % count);
  }

  /// Channels that elements lack are 0.
  ModelElement of_bytes(const char* bytes) const {
    ModelElement element;
    for (std::uint32_t k = 0; k < texture.channels; ++k) {
      element.words[k] = channel(bytes, k);
      element.numbers[k] = number_of(element.words[k]);
      if (texture.normalized_elements && !has_curve(k)) {
        const bool is_signed = texture.channel == Texture::Channel::kSigned;
        const std::uint32_t raw = whole(bytes, k);
        element.numbers[k] = is_signed
            ? static_cast<long double>(static_cast<std::int32_t>(raw))
            : static_cast<long double>(raw);
      }
    }
    return element;
  }

  /// As an RTX 3060 makes codes of colours (pantheongpu/pantheonsim,
  /// nvidia/docs/textures.md, "Border colours").
  std::int32_t border_code(std::uint32_t index) const {
    const bool is_signed = texture.channel == Texture::Channel::kSigned;
    const float number = texture.border[index];
    const double least = is_signed ? -1 : 0;
    const double value = number < least ? least : number > 1 ? 1 : number;
    if (has_curve(index)) {
      const double curve = value > 0.0031308
          ? 1.055 * std::pow(value, 1 / 2.4) - 0.055
          : 12.92 * value;
      return static_cast<std::int32_t>(std::floor(curve * 255 + 1 - 0.4989));
    }
    const int bits = static_cast<int>(texture.channel_bits) - is_signed;
    const double steps = std::floor(std::ldexp(std::fabs(value), bits + 4));
    const double code = std::floor(std::ldexp(
        steps * (std::ldexp(1, bits) - 1) + std::ldexp(1, bits + 3) - 1,
        -bits - 4));
    return static_cast<std::int32_t>(value < 0 ? -code : code);
  }

  void draw_format(bool floats) {
    constexpr std::uint32_t kChannels[] = {1, 2, 4};
    texture.channels = kChannels[below(3)];
    texture.channel = static_cast<Texture::Channel>(below(floats ? 3 : 2));
    if (texture.channel == Texture::Channel::kFloat) {
      texture.channel_bits = 16u << below(2);
      return;
    }
    texture.channel_bits = 8u << below(floats ? 2 : 3);
    texture.normalized_elements = floats;
    texture.srgb = floats && texture.channel_bits == 8 &&
        texture.channel == Texture::Channel::kUnsigned && below(2) == 0;
  }

  void add_level(
      TestDevice& device,
      std::uint64_t width,
      std::uint64_t height,
      std::uint64_t slices) {
    TextureLevel level;
    level.width = width;
    level.height = height;
    level.depth = slices;
    level.pitch = width * texture.element_bytes() + 16 * below(3);
    level.slice = level.pitch * height + 16 * below(3);
    std::vector<char> bytes(level.slice * slices);
    const std::size_t size = texture.channel_bits / 8;
    for (std::size_t i = 0; i + size <= bytes.size(); i += size) {
      const auto number = static_cast<float>(static_cast<int>(below(128)) - 64);
      const _Float16 half = static_cast<_Float16>(number / 8);
      const float single = number / 8;
      const auto word = static_cast<std::uint32_t>(random_());
      const void* from = texture.channel != Texture::Channel::kFloat
          ? static_cast<const void*>(&word)
          : size == 2 ? static_cast<const void*>(&half)
                      : static_cast<const void*>(&single);
      std::memcpy(bytes.data() + i, from, size);
    }
    level.address = reinterpret_cast<std::uint64_t>(device.copy_of(bytes));
    texture.levels.push_back(level);
  }

  template <typename T>
  static T at(const char* bytes, std::uint32_t index) {
    T value;
    std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
    return value;
  }

  std::uint32_t whole(const char* bytes, std::uint32_t index) const {
    const bool is_signed = texture.channel == Texture::Channel::kSigned;
    switch (texture.channel_bits) {
      case 8:
        return is_signed
            ? static_cast<std::uint32_t>(at<std::int8_t>(bytes, index))
            : at<std::uint8_t>(bytes, index);
      case 16:
        return is_signed
            ? static_cast<std::uint32_t>(at<std::int16_t>(bytes, index))
            : at<std::uint16_t>(bytes, index);
      default:
        return at<std::uint32_t>(bytes, index);
    }
  }

  std::uint32_t channel(const char* bytes, std::uint32_t index) const {
    if (texture.channel == Texture::Channel::kFloat) {
      return word_of(
          texture.channel_bits == 16
              ? static_cast<float>(at<_Float16>(bytes, index))
              : at<float>(bytes, index));
    }
    const std::uint32_t raw = whole(bytes, index);
    if (!texture.normalized_elements) {
      return raw;
    }
    // CUDA programming guide, "Texture Memory": 0xff reads as 1.
    double value = texture.channel == Texture::Channel::kSigned
        ? std::max(
              -1.0,
              static_cast<std::int32_t>(raw) /
                  (texture.channel_bits == 8 ? 127.0 : 32767.0))
        : raw / (texture.channel_bits == 8 ? 255.0 : 65535.0);
    if (has_curve(index)) {
      value = value > 0.04045 ? std::pow((value + 0.055) / 1.055, 2.4)
                              : value / 12.92;
    }
    return word_of(static_cast<float>(value));
  }

  std::mt19937_64 random_;
};

} // namespace cudasim::engine::testing
