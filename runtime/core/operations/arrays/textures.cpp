#include "runtime/core/operations/arrays/textures.h"

#include <string>
#include <utility>

#include "runtime/core/backends/api_status.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/status/guarded.h"

namespace accelerator::runtime::operations {

void texture_object_create(unsigned long long* handle, TextureObject object) {
  require(handle != nullptr);
  Device& device = current_device();
  if (!device.can(ACCEL_CAP_TEXTURES)) {
    throw Failure(
        cudaErrorNotSupported,
        "texture and surface objects need a device that reads textures; the "
        "device \"" +
            std::string(device.properties().name) +
            "\" does not. The simulated GPU does (TORCH_CUDA_DEVICES=sim). CUDA "
            "arrays and copies of them work on every device");
  }
  TextureDescription description =
      describe(object, machine().addresses(), device.ordinal());
  description.texture.levels = description.levels.data();
  std::uint64_t made = 0;
  check(
      device.api(),
      device.api().texture_create(
          device.slot().index, &description.texture, &made));
  texture_table().add(device.ordinal(), made, std::move(object));
  *handle = made;
}

void texture_object_destroy(unsigned long long handle, bool surface) {
  Device& device = current_device();
  texture_table().take(device.ordinal(), handle, surface);
  // Work that was given before may still read by it.
  device.synchronize();
  check(
      device.api(), device.api().texture_destroy(device.slot().index, handle));
}

TextureObject resolve_texture(unsigned long long handle, bool surface) {
  return texture_table().get(current_device().ordinal(), handle, surface);
}

} // namespace accelerator::runtime::operations
