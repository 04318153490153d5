// Texture and surface objects. Source: CUDA runtime API, texture object
// management and surface object management.
#include <cuda_runtime_api.h>

#include <optional>

#include "runtime/api/cudart/call.h"
#include "runtime/core/operations/arrays/textures.h"
#include "runtime/core/status/guarded.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;

namespace {

TextureResource resource_of(const cudaResourceDesc& d) {
#if CUDART_VERSION >= 13000
  require(d.flags == 0);
#endif
  TextureResource resource;
  resource.type = d.resType;
  switch (d.resType) {
    case cudaResourceTypeArray:
      resource.array = d.res.array.array;
      break;
    case cudaResourceTypeMipmappedArray:
      resource.array = d.res.mipmap.mipmap;
      break;
    case cudaResourceTypeLinear:
      resource.memory = d.res.linear.devPtr;
      resource.format = d.res.linear.desc;
      resource.bytes = d.res.linear.sizeInBytes;
      break;
    case cudaResourceTypePitch2D:
      resource.memory = d.res.pitch2D.devPtr;
      resource.format = d.res.pitch2D.desc;
      resource.width = d.res.pitch2D.width;
      resource.height = d.res.pitch2D.height;
      resource.pitch = d.res.pitch2D.pitchInBytes;
      break;
    default:
      throw Failure(cudaErrorInvalidValue);
  }
  return resource;
}

cudaResourceDesc description_of(const TextureResource& resource) {
  cudaResourceDesc d{};
  d.resType = resource.type;
  void* const array = const_cast<void*>(resource.array);
  switch (resource.type) {
    case cudaResourceTypeArray:
      d.res.array.array = static_cast<cudaArray_t>(array);
      break;
    case cudaResourceTypeMipmappedArray:
      d.res.mipmap.mipmap = static_cast<cudaMipmappedArray_t>(array);
      break;
    case cudaResourceTypeLinear:
      d.res.linear = {resource.memory, resource.format, resource.bytes};
      break;
    case cudaResourceTypePitch2D:
      d.res.pitch2D = {
          resource.memory,
          resource.format,
          resource.width,
          resource.height,
          resource.pitch};
      break;
  }
  return d;
}

TextureView view_of(const cudaResourceViewDesc& d) {
  return {
      d.format,
      d.width,
      d.height,
      d.depth,
      d.firstMipmapLevel,
      d.lastMipmapLevel,
      d.firstLayer,
      d.lastLayer};
}

cudaResourceViewDesc description_of(const TextureView& view) {
  cudaResourceViewDesc d{};
  d.format = view.format;
  d.width = view.width;
  d.height = view.height;
  d.depth = view.depth;
  d.firstMipmapLevel = view.first_level;
  d.lastMipmapLevel = view.last_level;
  d.firstLayer = view.first_layer;
  d.lastLayer = view.last_layer;
  return d;
}

} // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(
    cudaTextureObject_t* handle,
    const cudaResourceDesc* resource,
    const cudaTextureDesc* texture,
    const cudaResourceViewDesc* view) {
  return call([&] {
    require(resource != nullptr && texture != nullptr);
    TextureObject object{resource_of(*resource), *texture, std::nullopt};
    if (view != nullptr) {
      object.view = view_of(*view);
    }
    texture_object_create(handle, std::move(object));
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
  return call([&] { texture_object_destroy(handle, false); });
}

cudaError_t cudaGetTextureObjectResourceDesc(
    cudaResourceDesc* resource,
    cudaTextureObject_t handle) {
  return call([&] {
    store(resource, description_of(resolve_texture(handle, false).resource));
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(
    cudaTextureDesc* texture,
    cudaTextureObject_t handle) {
  return call([&] { store(texture, *resolve_texture(handle, false).texture); });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(
    cudaResourceViewDesc* view,
    cudaTextureObject_t handle) {
  return call([&] {
    const TextureObject object = resolve_texture(handle, false);
    require(object.view.has_value());
    store(view, description_of(*object.view));
  });
}

cudaError_t cudaCreateSurfaceObject(
    cudaSurfaceObject_t* handle,
    const cudaResourceDesc* resource) {
  return call([&] {
    require(resource != nullptr);
    texture_object_create(
        handle, {resource_of(*resource), std::nullopt, std::nullopt});
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
  return call([&] { texture_object_destroy(handle, true); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(
    cudaResourceDesc* resource,
    cudaSurfaceObject_t handle) {
  return call([&] {
    store(resource, description_of(resolve_texture(handle, true).resource));
  });
}

} // extern "C"
