// Texture and surface objects: memory, and how kernels read it by coordinates.
#pragma once

#include <driver_types.h>
#include <texture_types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "device/abi/device_api.h"
#include "runtime/core/memory/address_map.h"

namespace accelerator::runtime {

/// What cudaResourceDesc and CUDA_RESOURCE_DESC say. CUDA's own structure
/// differs between major versions.
struct TextureResource {
  cudaResourceType type = cudaResourceTypeArray;
  const void* array = nullptr; // handle, with levels or without
  void* memory = nullptr; // address, without an array
  cudaChannelFormatDesc format{}; // of memory
  std::size_t bytes = 0; // of memory without rows
  std::size_t width = 0; // elements of a row of pitched memory
  std::size_t height = 0; // rows of it
  std::size_t pitch = 0; // bytes from row to row of it
};

/// What cudaResourceViewDesc and CUDA_RESOURCE_VIEW_DESC say.
struct TextureView {
  cudaResourceViewFormat format = cudaResViewFormatNone;
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t depth = 0;
  unsigned first_level = 0;
  unsigned last_level = 0;
  unsigned first_layer = 0;
  unsigned last_layer = 0;
};

/// An object as the program made it.
struct TextureObject {
  TextureResource resource;
  std::optional<cudaTextureDesc> texture; // none: it is a surface
  std::optional<TextureView> view;
};

/// An object as the device is told of it.
struct TextureDescription {
  std::vector<accel_texture_level> levels;
  accel_texture texture{}; // without the pointer to the levels
};

/// @param device whose kernels are to read it.
/// @throws Failure: cudaErrorInvalidResourceHandle for what is no array of that
/// device, cudaErrorInvalidFilterSetting for whole numbers that are to be
/// mixed, cudaErrorInvalidValue for other members that do not go together; what
/// format_of() throws.
TextureDescription describe(
    const TextureObject& object,
    const AddressMap& addresses,
    int device);

/// The living objects by their handles, which a device gives. Thread-safe.
class TextureTable {
 public:
  void add(int device, std::uint64_t handle, TextureObject object);
  /// @param surface whether it has to be one; otherwise a texture.
  /// @throws Failure: cudaErrorInvalidResourceHandle, as take() too.
  TextureObject get(int device, std::uint64_t handle, bool surface) const;
  void take(int device, std::uint64_t handle, bool surface);
  /// Takes all of a device.
  std::vector<std::uint64_t> take_all(int device);

 private:
  using Key = std::pair<int, std::uint64_t>;

  mutable std::mutex mutex_;
  std::map<Key, TextureObject> objects_;
};

TextureTable& texture_table();

} // namespace accelerator::runtime
