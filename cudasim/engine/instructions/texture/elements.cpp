#include "cudasim/engine/instructions/texture/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace cudasim::engine {
namespace {

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

float single_of_half(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  const std::uint32_t exponent = half >> 10 & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) {
    return float_of(sign | 0x7f800000u | fraction << 13);
  }
  const float magnitude = exponent == 0
      ? std::ldexp(static_cast<float>(fraction), -24)
      : std::ldexp(
            static_cast<float>(fraction | 0x400u),
            static_cast<int>(exponent) - 25);
  return sign != 0 ? -magnitude : magnitude;
}

/// IEC 61966-2-1: what a value of sRGB stands for.
double linear_of_srgb(double value) {
  return value <= 0.04045 ? value / 12.92
                          : std::pow((value + 0.055) / 1.055, 2.4);
}

/// A whole number of 8 or 16 bits as 0 to 1, or -1 to 1.
double normalized(const Texture& texture, std::uint32_t raw) {
  if (texture.channel == Texture::Channel::kUnsigned) {
    return raw / static_cast<double>((1u << texture.channel_bits) - 1);
  }
  const double most = (1u << (texture.channel_bits - 1)) - 1;
  return std::max(-1.0, static_cast<std::int32_t>(raw) / most);
}

/// A channel's bits, with the sign of signed ones.
std::uint32_t raw_channel(const Texture& texture, const std::byte* bytes) {
  std::uint32_t raw = 0;
  std::memcpy(&raw, bytes, texture.channel_bits / 8);
  if (texture.channel == Texture::Channel::kSigned) {
    const std::uint32_t unused = 32 - texture.channel_bits;
    raw = static_cast<std::uint32_t>(
        static_cast<std::int32_t>(raw << unused) >> unused);
  }
  return raw;
}

std::uint32_t channel_of(
    const Texture& texture,
    const std::byte* bytes,
    std::uint32_t index) {
  const std::uint32_t raw =
      raw_channel(texture, bytes + index * texture.channel_bits / 8);
  if (texture.channel == Texture::Channel::kFloat) {
    return texture.channel_bits == 32
        ? raw
        : bits_of(single_of_half(static_cast<std::uint16_t>(raw)));
  }
  if (!texture.normalized_elements) {
    return raw;
  }
  double value = normalized(texture, raw);
  if (texture.srgb && index < 3) {
    value = linear_of_srgb(value);
  }
  return bits_of(static_cast<float>(value));
}

/// Fills the channels that elements lack.
void add_missing(const Texture& texture, Element& element) {
  for (std::uint32_t i = texture.channels; i < 4; ++i) {
    element[i] = i < 3 ? 0 : reads_floats(texture) ? bits_of(1.0f) : 1;
  }
}

} // namespace

bool reads_floats(const Texture& texture) {
  return texture.channel == Texture::Channel::kFloat ||
      texture.normalized_elements;
}

Element read_element(const Texture& texture, const std::byte* bytes) {
  Element element{};
  for (std::uint32_t i = 0; i < texture.channels; ++i) {
    element[i] = channel_of(texture, bytes, i);
  }
  add_missing(texture, element);
  return element;
}

Element border_element(const Texture& texture) {
  Element element{};
  for (std::uint32_t i = 0; i < 4; ++i) {
    element[i] = bits_of(texture.border[i]);
  }
  add_missing(texture, element);
  return element;
}

Element zero_element(const Texture& texture) {
  Element element{};
  add_missing(texture, element);
  return element;
}

std::uint16_t half_of(float value) {
  const std::uint32_t bits = bits_of(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  if (std::isnan(value)) {
    return 0x7fff;
  }
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65520) {
    return sign | 0x7c00u;
  }
  if (magnitude == 0) {
    return sign;
  }
  // In steps of the last place, which below 2^-14 do not get smaller.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int last = std::max(exponent - 11, -24);
  const auto steps =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -last)));
  // A number of 11 bits carries into the exponent by itself.
  const std::uint32_t half =
      steps + (static_cast<std::uint32_t>(last + 24) << 10);
  return static_cast<std::uint16_t>(sign | half);
}

void write_element(
    const Texture& surface,
    const Element& element,
    std::byte* bytes) {
  const std::uint32_t size = surface.channel_bits / 8;
  for (std::uint32_t i = 0; i < surface.channels; ++i) {
    std::uint32_t raw = element[i];
    if (surface.channel == Texture::Channel::kFloat) {
      raw = size == 4 ? raw : half_of(float_of(raw));
    } else if (surface.channel == Texture::Channel::kUnsigned) {
      raw = size == 4 ? raw : std::min(raw, (1u << surface.channel_bits) - 1);
    } else {
      const std::int64_t most =
          (std::int64_t{1} << (surface.channel_bits - 1)) - 1;
      raw = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
          static_cast<std::int32_t>(raw), -most - 1, most));
    }
    std::memcpy(bytes + i * size, &raw, size);
  }
}

} // namespace cudasim::engine
