// Texture and surface objects. Each function is what the ones of that name in
// CUDA's runtime and driver do; it throws a Failure with the status that they
// answer.
#pragma once

#include <cstdint>

#include "runtime/core/arrays/texture.h"

namespace accelerator::runtime::operations {

/// Makes a texture or surface object on the thread's device.
/// @throws Failure: cudaErrorNotSupported on a device that reads no textures.
void texture_object_create(unsigned long long* handle, TextureObject object);
/// @param surface whether it is to be a surface, as below.
void texture_object_destroy(unsigned long long handle, bool surface);
/// @throws Failure: cudaErrorInvalidResourceHandle.
TextureObject resolve_texture(unsigned long long handle, bool surface);

} // namespace accelerator::runtime::operations
