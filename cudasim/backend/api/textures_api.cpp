// Of the ABI: textures.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "cudasim/backend/api/api.h"
#include "cudasim/backend/machine/machine.h"
#include "cudasim/backend/status/error.h"

namespace cudasim::backend {
namespace {

using engine::Texture;
using engine::TextureLevel;

/// Coordinates are registers of 32 bits.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 31;
/// Bytes, more than any device has.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;

/// @throws Error for a level whose elements do not fit into its rows, or its
/// rows into its slices.
TextureLevel level_of(
    const accel_texture_level& given,
    const Texture& texture) {
  TextureLevel level;
  level.address = reinterpret_cast<std::uint64_t>(given.address);
  level.width = given.width;
  level.height = given.height;
  level.depth = given.depth;
  level.pitch = given.pitch;
  level.slice = given.slice;
  require(level.address != 0, "the address of a level is null");
  const auto require_extent = [](const char* name, std::uint64_t extent) {
    require_argument(
        extent >= 1 && extent <= kMostElements, name, extent, "1 to 2^31");
  };
  require_extent("width", level.width);
  require_extent("height", level.height);
  require_extent("depth", level.depth);
  const bool has_slices =
      texture.dimensions == 3 || texture.layered || texture.cubemap;
  require_argument(
      level.height == 1 || texture.dimensions >= 2,
      "height",
      level.height,
      "1, for a texture of one dimension");
  require_argument(
      level.depth == 1 || has_slices,
      "depth",
      level.depth,
      "1, for a texture that has no slices");
  if (texture.cubemap) {
    require_argument(
        level.height == level.width,
        "height",
        level.height,
        "the width, for a cubemap");
    require_argument(
        level.depth % 6 == 0 && (level.depth == 6 || texture.layered),
        "depth",
        level.depth,
        texture.layered ? "six for each layer of a cubemap"
                        : "6, for a cubemap");
  }
  const std::uint64_t row = level.width * texture.element_bytes();
  if (level.height == 1) {
    level.pitch = row;
  }
  require_argument(
      level.pitch >= row && level.pitch < kMostBytes / level.height,
      "pitch",
      level.pitch,
      "a row's bytes or more");
  const std::uint64_t plane = level.pitch * (level.height - 1) + row;
  if (level.depth == 1) {
    level.slice = plane;
  }
  require_argument(
      level.slice >= plane && level.slice < kMostBytes / level.depth,
      "slice",
      level.slice,
      "a slice's bytes or more");
  const std::uint64_t channel = texture.channel_bits / 8;
  require(
      level.address % channel == 0 && level.pitch % channel == 0 &&
          level.slice % channel == 0,
      "address, pitch or slice of a level is no multiple of a channel's bytes");
  return level;
}

void set_elements(const accel_texture& given, Texture& texture) {
  require_argument(
      given.kind >= ACCEL_CHANNEL_SIGNED && given.kind <= ACCEL_CHANNEL_FLOAT,
      "kind",
      static_cast<int>(given.kind),
      "an accel_channel_kind");
  texture.channel = given.kind == ACCEL_CHANNEL_FLOAT ? Texture::Channel::kFloat
      : given.kind == ACCEL_CHANNEL_SIGNED ? Texture::Channel::kSigned
                                           : Texture::Channel::kUnsigned;
  const bool is_float = texture.channel == Texture::Channel::kFloat;
  require_argument(
      given.channel_bits == 32 || given.channel_bits == 16 ||
          (given.channel_bits == 8 && !is_float),
      "channel_bits",
      given.channel_bits,
      is_float ? "16 or 32" : "8, 16 or 32");
  texture.channel_bits = given.channel_bits;
  require_argument(
      given.channels == 1 || given.channels == 2 || given.channels == 4,
      "channels",
      given.channels,
      "1, 2 or 4");
  texture.channels = given.channels;
  // Whole numbers of 32 bits stay such, as CUDA has it.
  texture.normalized_elements =
      given.normalized_elements != 0 && !is_float && given.channel_bits < 32;
  texture.srgb = given.srgb != 0;
  require(
      !texture.srgb ||
          (texture.normalized_elements && given.channel_bits == 8 &&
           given.kind == ACCEL_CHANNEL_UNSIGNED),
      "srgb needs unsigned channels of 8 bits, and normalized_elements");
}

void set_sampling(const accel_texture& given, Texture& texture) {
  for (std::size_t i = 0; i < std::size(texture.addressing); ++i) {
    const accel_address_mode mode = given.address_modes[i];
    require_argument(
        mode >= ACCEL_ADDRESS_WRAP && mode <= ACCEL_ADDRESS_BORDER,
        "address_modes",
        static_cast<int>(mode),
        "an accel_address_mode");
    texture.addressing[i] = static_cast<Texture::Addressing>(mode);
  }
  static_assert(
      static_cast<int>(Texture::Addressing::kWrap) == ACCEL_ADDRESS_WRAP &&
      static_cast<int>(Texture::Addressing::kClamp) == ACCEL_ADDRESS_CLAMP &&
      static_cast<int>(Texture::Addressing::kMirror) == ACCEL_ADDRESS_MIRROR &&
      static_cast<int>(Texture::Addressing::kBorder) == ACCEL_ADDRESS_BORDER);
  texture.filtered = given.filtered != 0;
  texture.levels_filtered = given.levels_filtered != 0;
  require(
      (!texture.filtered && !texture.levels_filtered) ||
          texture.channel == Texture::Channel::kFloat ||
          texture.normalized_elements,
      "filtered and levels_filtered need elements that are read as floating "
      "point numbers");
  texture.normalized_coordinates = given.normalized_coordinates != 0;
  texture.seamless = given.seamless_cubemap != 0;
  std::copy(std::begin(given.border), std::end(given.border), texture.border);
  texture.level_bias = given.level_bias;
  texture.level_minimum = given.level_minimum;
  texture.level_maximum = given.level_maximum;
  for (const float level :
       {given.level_bias, given.level_minimum, given.level_maximum}) {
    require(!std::isnan(level), "a level is no number");
  }
}

Texture texture_of(const accel_texture& given) {
  Texture texture;
  require(
      given.levels != nullptr && given.level_count >= 1,
      "a texture needs one level or more");
  require_argument(
      given.dimensions >= 1 && given.dimensions <= 3,
      "dimensions",
      given.dimensions,
      "1 to 3");
  texture.dimensions = given.dimensions;
  texture.layered = given.layered != 0;
  texture.cubemap = given.cubemap != 0;
  texture.linear = given.linear != 0;
  require_argument(
      !texture.cubemap || given.dimensions == 2,
      "dimensions",
      given.dimensions,
      "2, of a cubemap's face");
  require_argument(
      !texture.layered || given.dimensions <= 2,
      "dimensions",
      given.dimensions,
      "1 or 2, of a layer");
  set_elements(given, texture);
  set_sampling(given, texture);
  require(
      !texture.linear ||
          (given.dimensions == 1 && !texture.layered &&
           given.level_count == 1 && !texture.filtered),
      "linear memory has one dimension, one level, and is not filtered");
  for (std::uint32_t i = 0; i < given.level_count; ++i) {
    texture.levels.push_back(level_of(given.levels[i], texture));
  }
  return texture;
}

accel_status texture_create(
    std::int32_t device,
    const accel_texture* texture,
    std::uint64_t* handle) {
  return call("texture_create", [&] {
    Device& chosen = machine().device(device);
    require(texture != nullptr && handle != nullptr, "a pointer is null");
    require_argument(
        texture->struct_size >= sizeof(accel_texture),
        "struct_size",
        texture->struct_size,
        "that of accel_texture");
    chosen.require_health();
    *handle = chosen.textures().add(texture_of(*texture));
  });
}

accel_status texture_destroy(std::int32_t device, std::uint64_t handle) {
  return call("texture_destroy", [&] {
    require_argument(
        machine().device(device).textures().remove(handle),
        "handle",
        handle,
        "one that texture_create gave");
  });
}

} // namespace

void add_textures(accel_api* api) {
  api->texture_create = texture_create;
  api->texture_destroy = texture_destroy;
}

} // namespace cudasim::backend
