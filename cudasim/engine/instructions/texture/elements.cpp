#include "cudasim/engine/instructions/texture/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cudasim/engine/instructions/half_types.h"

namespace cudasim::engine {
namespace {

/// As Half::widen, but for NaNs, all of whose bits stay.
float single_of_half(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  return (half & Half::kExponent) == Half::kExponent
      ? bits_as<float>(sign | 0x7f800000u | (half & 0x3ffu) << 13)
      : Half::widen(half);
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

/// sRGB of a linear value, from 0 to 1.
double srgb_of_linear(double value) {
  return value <= 0.0031308 ? value * 12.92
                            : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
}

/// IEEE half precision, toward zero; infinities stay, NaNs keep their first
/// bits.
std::uint16_t half_toward_zero(float value) {
  const std::uint32_t bits = bits_as<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  if (std::isnan(value)) {
    const std::uint32_t first = bits >> 13 & 0x3ffu;
    return static_cast<std::uint16_t>(sign | 0x7c00u | (first ? first : 1u));
  }
  if (std::isinf(value)) {
    return sign | 0x7c00u;
  }
  const std::uint16_t nearest = Half::narrow(std::fabs(value));
  const bool is_above =
      nearest == 0x7c00u || single_of_half(nearest) > std::fabs(value);
  return static_cast<std::uint16_t>(sign | (nearest - (is_above ? 1 : 0)));
}

/// A number of the border's colour as a normalized whole number.
std::uint32_t normalized_border(const Texture& texture, float number) {
  const bool is_signed = texture.channel == Texture::Channel::kSigned;
  const std::uint32_t bits = texture.channel_bits - (is_signed ? 1 : 0);
  const double limited = std::isnan(number)
      ? 0
      : std::clamp<double>(number, is_signed ? -1 : 0, 1);
  const auto steps = static_cast<std::uint64_t>(
      std::ldexp(std::fabs(limited), static_cast<int>(bits) + 4));
  const auto code = static_cast<std::uint32_t>(
      (steps * ((1u << bits) - 1) + (1u << (bits + 3)) - 1) >> (bits + 4));
  return limited < 0 ? 0u - code : code;
}

std::uint32_t border_channel(const Texture& texture, std::uint32_t index) {
  const float number = texture.border[index];
  if (texture.channel == Texture::Channel::kFloat) {
    return texture.channel_bits == 32 ? bits_as<std::uint32_t>(number)
                                      : half_toward_zero(number);
  }
  if (!texture.normalized_elements) {
    // The number's bits, as many as the channel has.
    const std::uint32_t bits = bits_as<std::uint32_t>(number);
    std::byte bytes[4];
    std::memcpy(bytes, &bits, sizeof(bits));
    return raw_channel(texture, bytes);
  }
  if (is_srgb(texture, index)) {
    const double limited =
        std::isnan(number) ? 0 : std::clamp<double>(number, 0, 1);
    return static_cast<std::uint32_t>(srgb_of_linear(limited) * 255 + 0.5011);
  }
  return normalized_border(texture, number);
}

double number_of(
    const Texture& texture,
    std::uint32_t raw,
    std::uint32_t channel) {
  if (texture.channel == Texture::Channel::kFloat) {
    return texture.channel_bits == 32
        ? bits_as<float>(raw)
        : single_of_half(static_cast<std::uint16_t>(raw));
  }
  const double value = normalized(texture, raw);
  return is_srgb(texture, channel) ? linear_of_srgb(value) : value;
}

} // namespace

bool reads_floats(const Texture& texture) {
  return texture.channel == Texture::Channel::kFloat ||
      texture.normalized_elements;
}

bool is_srgb(const Texture& texture, std::uint32_t channel) {
  return texture.srgb && channel < (texture.channels == 4 ? 3u : 1u);
}

Element raw_element(const Texture& texture, const std::byte* bytes) {
  Element raw{};
  for (std::uint32_t i = 0; i < texture.channels; ++i) {
    raw[i] = raw_channel(texture, bytes + i * texture.channel_bits / 8);
  }
  return raw;
}

Element raw_border(const Texture& texture) {
  Element raw{};
  for (std::uint32_t i = 0; i < texture.channels; ++i) {
    raw[i] = border_channel(texture, i);
  }
  return raw;
}

Element value_of(const Texture& texture, const Element& raw) {
  if (!reads_floats(texture) ||
      (texture.channel == Texture::Channel::kFloat &&
       texture.channel_bits == 32)) {
    return raw;
  }
  Element element{};
  for (std::uint32_t i = 0; i < texture.channels; ++i) {
    element[i] = bits_as<std::uint32_t>(
        static_cast<float>(number_of(texture, raw[i], i)));
  }
  return element;
}

std::array<double, 4> filter_units(const Texture& texture, const Element& raw) {
  std::array<double, 4> units{};
  const bool is_whole = texture.channel != Texture::Channel::kFloat;
  const bool is_wide = texture.channel == Texture::Channel::kUnsigned &&
      texture.channel_bits == 8;
  for (std::uint32_t i = 0; i < texture.channels; ++i) {
    units[i] = is_whole && !is_srgb(texture, i)
        ? static_cast<std::int32_t>(raw[i]) * (is_wide ? 257.0 : 1.0)
        : number_of(texture, raw[i], i);
  }
  return units;
}

void write_element(
    const Texture& surface,
    const Element& element,
    std::byte* bytes) {
  const std::uint32_t size = surface.channel_bits / 8;
  for (std::uint32_t i = 0; i < surface.channels; ++i) {
    std::uint32_t raw = element[i];
    if (surface.channel == Texture::Channel::kFloat) {
      raw = size == 4 ? raw : half_toward_zero(bits_as<float>(raw));
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
