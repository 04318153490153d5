#include "runtime/core/arrays/array.h"

#include <algorithm>
#include <string>

#include "runtime/core/arrays/texture_limits.h"

namespace accelerator::runtime {
namespace {

constexpr unsigned kServedFlags = cudaArrayLayered | cudaArraySurfaceLoadStore |
    cudaArrayCubemap | cudaArrayTextureGather;

constexpr unsigned kDepthTexture = 0x10; // of the driver alone

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void check_flags(unsigned flags) {
  struct Flag {
    unsigned bit;
    const char* name;
  };
  constexpr Flag kRefused[] = {
      {kDepthTexture, "depth texture"},
      {cudaArrayColorAttachment, "color attachment"},
      {cudaArraySparse, "sparse"},
      {cudaArrayDeferredMapping, "deferred mapping"}};
  for (const Flag& flag : kRefused) {
    if ((flags & flag.bit) != 0) {
      throw Failure(
          cudaErrorNotSupported,
          std::string("CUDA arrays with the flag \"") + flag.name +
              "\" are not supported: layered, cubemap, surface load/store and "
              "texture gather are");
    }
  }
  require((flags & ~kServedFlags) == 0);
}

const ArrayLimits& limits_of(const UseLimits& limits, const ArrayShape& shape) {
  if (shape.cubemap()) {
    return shape.layered() ? limits.layered_cubemap : limits.cubemap;
  }
  if (shape.layered()) {
    return shape.extent.height == 0 ? limits.layered_line
                                    : limits.layered_plane;
  }
  constexpr const ArrayLimits UseLimits::* kPlain[] = {
      &UseLimits::line, &UseLimits::plane, &UseLimits::box};
  return limits.*kPlain[shape.dimensions() - 1];
}

bool fits(const cudaExtent& extent, const ArrayLimits& limits) {
  return extent.width <= limits.width && extent.height <= limits.height &&
      extent.depth <= limits.depth;
}

void check_size(const ArrayShape& shape, bool mipmapped) {
  const cudaExtent& extent = shape.extent;
  const bool plain = !shape.layered() && !shape.cubemap();
  require(
      fits(extent, limits_of(kTextureLimits, shape)) ||
      (plain && shape.dimensions() == 3 && fits(extent, kAlternateBox)));
  if ((shape.flags & cudaArraySurfaceLoadStore) != 0) {
    require(fits(extent, limits_of(kSurfaceLimits, shape)));
  }
  if ((shape.flags & cudaArrayTextureGather) != 0) {
    require(plain && shape.dimensions() == 2 && fits(extent, kGatherPlane));
  }
  if (mipmapped && plain && shape.dimensions() < 3) {
    require(fits(
        extent, shape.dimensions() == 1 ? kMipmappedLine : kMipmappedPlane));
  }
}

} // namespace

std::size_t ArrayShape::pitch() const {
  // A device may read rows of a texture at this alignment alone.
  return round_up(row_bytes(), kTexturePitchAlignment);
}

ArrayShape ArrayShape::level(unsigned number) const {
  const auto halved = [&](std::size_t size) {
    return size == 0 ? size : std::max<std::size_t>(size >> number, 1);
  };
  ArrayShape shape = *this;
  shape.extent.width = halved(extent.width);
  shape.extent.height = halved(extent.height);
  if (dimensions() == 3) {
    shape.extent.depth = halved(extent.depth);
  }
  return shape;
}

unsigned ArrayShape::most_levels() const {
  std::size_t longest = std::max(extent.width, extent.height);
  if (dimensions() == 3) {
    longest = std::max(longest, extent.depth);
  }
  unsigned levels = 0;
  for (; longest > 0; longest >>= 1) {
    ++levels;
  }
  return levels;
}

ArrayShape make_shape(
    const cudaChannelFormatDesc& description,
    const cudaExtent& extent,
    unsigned flags,
    bool mipmapped) {
  check_flags(flags);
  ArrayShape shape;
  shape.description = description;
  shape.element = format_of(description);
  shape.extent = extent;
  shape.flags = flags;
  require(extent.width > 0);
  if (shape.cubemap()) {
    require(extent.width == extent.height);
    require(extent.depth > 0 && extent.depth % 6 == 0);
  } else if (shape.layered()) {
    require(extent.depth > 0);
  } else {
    require(extent.depth == 0 || extent.height > 0);
  }
  check_size(shape, mipmapped);
  return shape;
}

HandleTable<Array>& array_table() {
  static auto* table = new HandleTable<Array>; // outlives static destructors
  return *table;
}

HandleTable<MipmappedArray>& mipmapped_array_table() {
  static auto* table = new HandleTable<MipmappedArray>;
  return *table;
}

std::shared_ptr<Array> make_array(Memory& memory, const ArrayShape& shape) {
  auto array = std::make_shared<Array>();
  array->shape = shape;
  array->begin = memory.allocate(shape.bytes(), Space::kArray);
  array->device = memory.device();
  return array;
}

std::shared_ptr<MipmappedArray> make_mipmapped_array(
    Memory& memory,
    const ArrayShape& shape,
    unsigned levels) {
  auto array = std::make_shared<MipmappedArray>();
  array->shape = shape;
  array->device = memory.device();
  levels = std::clamp(levels, 1u, shape.most_levels());
  std::size_t bytes = 0;
  for (unsigned number = 0; number < levels; ++number) {
    auto level = std::make_shared<Array>();
    level->shape = shape.level(number);
    level->begin = bytes; // in the piece
    level->device = array->device;
    level->is_level = true;
    bytes += round_up(level->shape.bytes(), kTextureAlignment);
    array->levels.push_back(std::move(level));
  }
  array->begin = memory.allocate(bytes, Space::kArray);
  for (const auto& level : array->levels) {
    level->begin += array->begin;
  }
  return array;
}

void forget_arrays_of(int device) {
  const auto lost = [&](const auto& array) { return array.device == device; };
  array_table().remove_if(lost);
  mipmapped_array_table().remove_if(lost);
}

} // namespace accelerator::runtime
