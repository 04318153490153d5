#include "runtime/core/arrays/texture.h"

#include <algorithm>
#include <string>

#include "runtime/core/arrays/array.h"
#include "runtime/core/arrays/element_format.h"
#include "runtime/core/arrays/texture_limits.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Failure(cudaErrorInvalidValue, "a texture object " + why);
}

// Memory that the device's kernels can use, to its end.
void check_memory(
    const AddressMap& addresses,
    int device,
    const void* memory,
    std::size_t bytes) {
  const std::uint64_t begin = address_of(memory);
  const auto piece = addresses.find(begin);
  if (!piece || !addresses.visible(*piece, device) ||
      bytes > piece->end - begin) {
    refuse(
        "needs memory of the device, to its end: " + std::to_string(bytes) +
        " bytes are wanted");
  }
  if (begin % kTextureAlignment != 0) {
    refuse(
        "needs memory that begins at a multiple of " +
        std::to_string(kTextureAlignment) + " bytes");
  }
}

// One level without slices.
accel_texture_level level_of(
    const TextureResource& resource,
    std::size_t width,
    std::size_t height,
    std::size_t pitch) {
  accel_texture_level level{};
  level.address = resource.memory;
  level.width = width;
  level.height = height;
  level.depth = 1;
  level.pitch = pitch;
  level.slice = pitch * height;
  return level;
}

ElementFormat describe_line(
    const TextureResource& resource,
    const AddressMap& addresses,
    int device,
    TextureDescription& result) {
  const ElementFormat format = format_of(resource.format);
  check_memory(addresses, device, resource.memory, resource.bytes);
  const std::size_t elements = resource.bytes / format.bytes();
  require(elements > 0 && elements <= kLinearTexture);
  result.levels = {level_of(resource, elements, 1, resource.bytes)};
  result.texture.dimensions = 1;
  result.texture.linear = 1;
  return format;
}

ElementFormat describe_plane(
    const TextureResource& resource,
    const AddressMap& addresses,
    int device,
    TextureDescription& result) {
  const ElementFormat format = format_of(resource.format);
  require(
      resource.width > 0 && resource.width <= kPitchedTexture.width &&
      resource.height > 0 && resource.height <= kPitchedTexture.height);
  const std::size_t row = resource.width * format.bytes();
  if (resource.pitch < row || resource.pitch > kPitchedTexturePitch ||
      resource.pitch % kTexturePitchAlignment != 0) {
    refuse(
        "needs a pitch from " + std::to_string(row) + " to " +
        std::to_string(kPitchedTexturePitch) + " that is a multiple of " +
        std::to_string(kTexturePitchAlignment) + " bytes, not " +
        std::to_string(resource.pitch));
  }
  check_memory(
      addresses,
      device,
      resource.memory,
      (resource.height - 1) * resource.pitch + row);
  result.levels = {
      level_of(resource, resource.width, resource.height, resource.pitch)};
  result.texture.dimensions = 2;
  return format;
}

void add_level(const Array& array, TextureDescription& result) {
  accel_texture_level level{};
  level.address = reinterpret_cast<void*>(array.begin);
  level.width = array.shape.extent.width;
  level.height = array.shape.rows();
  level.depth = array.shape.slices();
  level.pitch = array.shape.pitch();
  level.slice = array.shape.slice();
  result.levels.push_back(level);
}

// Leaves the levels and layers that the program wants to see.
ElementFormat apply_view(
    const TextureView& view,
    const ArrayShape& shape,
    TextureDescription& result) {
  require(
      view.width == shape.extent.width && view.height == shape.extent.height &&
      view.depth == shape.extent.depth);
  require(
      view.first_level <= view.last_level &&
      view.last_level < result.levels.size());
  auto& levels = result.levels;
  levels.erase(levels.begin() + view.last_level + 1, levels.end());
  levels.erase(levels.begin(), levels.begin() + view.first_level);
  require(view.first_layer <= view.last_layer);
  if (shape.layered()) {
    const std::size_t faces = shape.cubemap() ? 6 : 1;
    require(view.last_layer < shape.slices() / faces);
    for (accel_texture_level& level : levels) {
      level.address = static_cast<char*>(level.address) +
          view.first_layer * faces * level.slice;
      level.depth = (view.last_layer - view.first_layer + 1) * faces;
    }
  } else {
    require(view.last_layer == 0);
  }
  if (view.format == cudaResViewFormatNone) {
    return shape.element;
  }
  const ElementFormat format = format_of(view.format);
  if (format.bytes() != shape.element.bytes()) {
    refuse(
        "sees elements of " + std::to_string(shape.element.bytes()) +
        " bytes as elements of " + std::to_string(format.bytes()));
  }
  return format;
}

ElementFormat describe_array(
    const TextureObject& object,
    int device,
    TextureDescription& result) {
  const TextureResource& resource = object.resource;
  ArrayShape shape;
  if (resource.type == cudaResourceTypeMipmappedArray) {
    const auto array = mipmapped_array_table().get(resource.array);
    require(array->device == device, cudaErrorInvalidResourceHandle);
    shape = array->shape;
    for (const auto& level : array->levels) {
      add_level(*level, result);
    }
  } else {
    const auto array = array_table().get(resource.array);
    require(array->device == device, cudaErrorInvalidResourceHandle);
    shape = array->shape;
    add_level(*array, result);
  }
  result.texture.dimensions = shape.dimensions();
  result.texture.layered = shape.layered() ? 1 : 0;
  result.texture.cubemap = shape.cubemap() ? 1 : 0;
  if (!object.texture.has_value()) {
    if (resource.type != cudaResourceTypeArray ||
        (shape.flags & cudaArraySurfaceLoadStore) == 0) {
      throw Failure(
          cudaErrorInvalidValue,
          "a surface object needs a CUDA array with the flag "
          "cudaArraySurfaceLoadStore (CUDA_ARRAY3D_SURFACE_LDST)");
    }
    return shape.element;
  }
  return object.view.has_value() ? apply_view(*object.view, shape, result)
                                 : shape.element;
}

// How CUDA understands modes of coordinates that cannot be.
accel_address_mode mode_of(cudaTextureAddressMode mode, bool normalized) {
  require(mode >= cudaAddressModeWrap && mode <= cudaAddressModeBorder);
  if (!normalized && mode != cudaAddressModeBorder) {
    return ACCEL_ADDRESS_CLAMP;
  }
  return static_cast<accel_address_mode>(mode); // the same numbers
}

bool linear(cudaTextureFilterMode mode) {
  require(mode == cudaFilterModePoint || mode == cudaFilterModeLinear);
  return mode == cudaFilterModeLinear;
}

void describe_reading(
    const cudaTextureDesc& wanted,
    const TextureObject& object,
    const ElementFormat& format,
    accel_texture& texture) {
  const bool normalized = wanted.normalizedCoords != 0;
  if (object.resource.type == cudaResourceTypeMipmappedArray && !normalized) {
    refuse("of an array with levels needs normalizedCoords to be 1");
  }
  if (wanted.seamlessCubemap != 0 && texture.cubemap == 0) {
    refuse("needs an array with the flag cudaArrayCubemap to be seamless");
  }
  require(
      wanted.readMode == cudaReadModeElementType ||
      wanted.readMode == cudaReadModeNormalizedFloat);
  const bool whole = format.kind != ACCEL_CHANNEL_FLOAT;
  texture.normalized_elements = whole && format.bits < 32 &&
          (format.normalized || wanted.readMode == cudaReadModeNormalizedFloat)
      ? 1
      : 0;
  texture.srgb = wanted.sRGB != 0 && texture.normalized_elements != 0 &&
          format.kind == ACCEL_CHANNEL_UNSIGNED && format.bits == 8
      ? 1
      : 0;
  for (std::size_t i = 0; i < 3; ++i) {
    texture.address_modes[i] = texture.linear != 0
        ? ACCEL_ADDRESS_CLAMP
        : mode_of(wanted.addressMode[i], normalized);
  }
  texture.filtered = texture.linear == 0 && linear(wanted.filterMode) ? 1 : 0;
  texture.levels_filtered =
      texture.linear == 0 && linear(wanted.mipmapFilterMode) ? 1 : 0;
  const bool gives_floats = !whole || texture.normalized_elements != 0;
  // A texture without levels does not mix any.
  const bool mixes = texture.filtered != 0 ||
      (texture.levels_filtered != 0 && texture.level_count > 1);
  if (mixes && !gives_floats) {
    throw Failure(
        cudaErrorInvalidFilterSetting,
        "a texture object of whole numbers cannot be filtered: set filterMode "
        "to cudaFilterModePoint, or for 8 and 16 bits readMode to "
        "cudaReadModeNormalizedFloat");
  }
  texture.normalized_coordinates = texture.linear == 0 && normalized ? 1 : 0;
  texture.seamless_cubemap = wanted.seamlessCubemap != 0 ? 1 : 0;
  texture.max_anisotropy = std::clamp(wanted.maxAnisotropy, 1u, 16u);
  std::copy_n(wanted.borderColor, 4, texture.border);
  texture.level_bias = wanted.mipmapLevelBias;
  texture.level_minimum = wanted.minMipmapLevelClamp;
  texture.level_maximum = wanted.maxMipmapLevelClamp;
}

} // namespace

TextureDescription describe(
    const TextureObject& object,
    const AddressMap& addresses,
    int device) {
  TextureDescription result;
  ElementFormat format;
  const bool of_memory = object.resource.type == cudaResourceTypeLinear ||
      object.resource.type == cudaResourceTypePitch2D;
  if (of_memory) {
    // Memory is no surface, and is seen as a whole.
    require(object.texture.has_value() && !object.view.has_value());
    format = object.resource.type == cudaResourceTypeLinear
        ? describe_line(object.resource, addresses, device, result)
        : describe_plane(object.resource, addresses, device, result);
  } else {
    require(
        object.resource.type == cudaResourceTypeArray ||
        object.resource.type == cudaResourceTypeMipmappedArray);
    format = describe_array(object, device, result);
  }
  accel_texture& texture = result.texture;
  texture.struct_size = sizeof(texture);
  texture.level_count = static_cast<std::uint32_t>(result.levels.size());
  texture.kind = format.kind;
  texture.channel_bits = format.bits;
  texture.channels = format.channels;
  if (object.texture.has_value()) {
    describe_reading(*object.texture, object, format, texture);
  } else {
    std::fill_n(texture.address_modes, 3, ACCEL_ADDRESS_CLAMP);
    texture.max_anisotropy = 1;
  }
  return result;
}

void TextureTable::add(int device, std::uint64_t handle, TextureObject object) {
  const std::lock_guard lock(mutex_);
  objects_[{device, handle}] = std::move(object);
}

TextureObject TextureTable::get(int device, std::uint64_t handle, bool surface)
    const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find({device, handle});
  require(
      found != objects_.end() && found->second.texture.has_value() != surface,
      cudaErrorInvalidResourceHandle);
  return found->second;
}

void TextureTable::take(int device, std::uint64_t handle, bool surface) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find({device, handle});
  require(
      found != objects_.end() && found->second.texture.has_value() != surface,
      cudaErrorInvalidResourceHandle);
  objects_.erase(found);
}

std::vector<std::uint64_t> TextureTable::take_all(int device) {
  const std::lock_guard lock(mutex_);
  const auto begin = objects_.lower_bound({device, 0});
  const auto end = objects_.lower_bound({device + 1, 0});
  std::vector<std::uint64_t> handles;
  for (auto at = begin; at != end; ++at) {
    handles.push_back(at->first.second);
  }
  objects_.erase(begin, end);
  return handles;
}

TextureTable& texture_table() {
  static auto* table = new TextureTable; // outlives static destructors
  return *table;
}

} // namespace accelerator::runtime
