// Texture and surface objects. Source: CUDA driver API, texture object
// management and surface object management.
#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/api/driver/arrays/array_format.h"
#include "runtime/api/driver/call.h"
#include "runtime/core/operations/arrays/textures.h"
#include "runtime/core/status/guarded.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::array_format;
using accelerator::driver::call;
using accelerator::driver::channels_of;
using accelerator::driver::current_context;
using accelerator::driver::pointer;

namespace {

TextureResource resource_of(const CUDA_RESOURCE_DESC* d) {
  require(d != nullptr && d->flags == 0);
  TextureResource resource;
  resource.type = static_cast<cudaResourceType>(d->resType); // same numbers
  switch (d->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      resource.array = d->res.array.hArray;
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      resource.array = d->res.mipmap.hMipmappedArray;
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      resource.memory = pointer(d->res.linear.devPtr);
      resource.format = accelerator::driver::format_of(
          d->res.linear.format, d->res.linear.numChannels);
      resource.bytes = d->res.linear.sizeInBytes;
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      resource.memory = pointer(d->res.pitch2D.devPtr);
      resource.format = accelerator::driver::format_of(
          d->res.pitch2D.format, d->res.pitch2D.numChannels);
      resource.width = d->res.pitch2D.width;
      resource.height = d->res.pitch2D.height;
      resource.pitch = d->res.pitch2D.pitchInBytes;
      break;
    default:
      throw Failure(cudaErrorInvalidValue);
  }
  return resource;
}

CUDA_RESOURCE_DESC description_of(const TextureResource& resource) {
  CUDA_RESOURCE_DESC d{};
  d.resType = static_cast<CUresourcetype>(resource.type);
  void* const array = const_cast<void*>(resource.array);
  const auto address = reinterpret_cast<CUdeviceptr>(resource.memory);
  switch (resource.type) {
    case cudaResourceTypeArray:
      d.res.array.hArray = static_cast<CUarray>(array);
      break;
    case cudaResourceTypeMipmappedArray:
      d.res.mipmap.hMipmappedArray = static_cast<CUmipmappedArray>(array);
      break;
    case cudaResourceTypeLinear:
      d.res.linear = {
          address,
          array_format(resource.format),
          channels_of(resource.format),
          resource.bytes};
      break;
    case cudaResourceTypePitch2D:
      d.res.pitch2D = {
          address,
          array_format(resource.format),
          channels_of(resource.format),
          resource.width,
          resource.height,
          resource.pitch};
      break;
  }
  return d;
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC* d) {
  require(d != nullptr);
  constexpr unsigned kKnown = CU_TRSF_READ_AS_INTEGER |
      CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
      CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  require((d->flags & ~kKnown) == 0);
  const auto flag = [&](unsigned bit) { return (d->flags & bit) != 0 ? 1 : 0; };
  cudaTextureDesc texture{};
  for (std::size_t i = 0; i < 3; ++i) {
    texture.addressMode[i] =
        static_cast<cudaTextureAddressMode>(d->addressMode[i]);
  }
  texture.filterMode = static_cast<cudaTextureFilterMode>(d->filterMode);
  texture.readMode = flag(CU_TRSF_READ_AS_INTEGER) != 0
      ? cudaReadModeElementType
      : cudaReadModeNormalizedFloat;
  texture.sRGB = flag(CU_TRSF_SRGB);
  std::copy_n(d->borderColor, 4, texture.borderColor);
  texture.normalizedCoords = flag(CU_TRSF_NORMALIZED_COORDINATES);
  texture.maxAnisotropy = d->maxAnisotropy;
  texture.mipmapFilterMode =
      static_cast<cudaTextureFilterMode>(d->mipmapFilterMode);
  texture.mipmapLevelBias = d->mipmapLevelBias;
  texture.minMipmapLevelClamp = d->minMipmapLevelClamp;
  texture.maxMipmapLevelClamp = d->maxMipmapLevelClamp;
  texture.disableTrilinearOptimization =
      flag(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  texture.seamlessCubemap = flag(CU_TRSF_SEAMLESS_CUBEMAP);
  return texture;
}

CUDA_TEXTURE_DESC description_of(const cudaTextureDesc& texture) {
  CUDA_TEXTURE_DESC d{};
  for (std::size_t i = 0; i < 3; ++i) {
    d.addressMode[i] = static_cast<CUaddress_mode>(texture.addressMode[i]);
  }
  d.filterMode = static_cast<CUfilter_mode>(texture.filterMode);
  const auto set = [&](bool wanted, unsigned bit) {
    d.flags |= wanted ? bit : 0;
  };
  set(texture.readMode == cudaReadModeElementType, CU_TRSF_READ_AS_INTEGER);
  set(texture.normalizedCoords != 0, CU_TRSF_NORMALIZED_COORDINATES);
  set(texture.sRGB != 0, CU_TRSF_SRGB);
  set(texture.disableTrilinearOptimization != 0,
      CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  set(texture.seamlessCubemap != 0, CU_TRSF_SEAMLESS_CUBEMAP);
  d.maxAnisotropy = texture.maxAnisotropy;
  d.mipmapFilterMode = static_cast<CUfilter_mode>(texture.mipmapFilterMode);
  d.mipmapLevelBias = texture.mipmapLevelBias;
  d.minMipmapLevelClamp = texture.minMipmapLevelClamp;
  d.maxMipmapLevelClamp = texture.maxMipmapLevelClamp;
  std::copy_n(texture.borderColor, 4, d.borderColor);
  return d;
}

TextureView view_of(const CUDA_RESOURCE_VIEW_DESC& d) {
  return {
      static_cast<cudaResourceViewFormat>(d.format), // the same numbers
      d.width,
      d.height,
      d.depth,
      d.firstMipmapLevel,
      d.lastMipmapLevel,
      d.firstLayer,
      d.lastLayer};
}

CUDA_RESOURCE_VIEW_DESC description_of(const TextureView& view) {
  CUDA_RESOURCE_VIEW_DESC d{};
  d.format = static_cast<CUresourceViewFormat>(view.format);
  d.width = view.width;
  d.height = view.height;
  d.depth = view.depth;
  d.firstMipmapLevel = view.first_level;
  d.lastMipmapLevel = view.last_level;
  d.firstLayer = view.first_layer;
  d.lastLayer = view.last_layer;
  return d;
}

TextureObject find(unsigned long long handle, bool surface) {
  current_context();
  return resolve_texture(handle, surface);
}

} // namespace

extern "C" {

CUresult cuTexObjectCreate(
    CUtexObject* handle,
    const CUDA_RESOURCE_DESC* resource,
    const CUDA_TEXTURE_DESC* texture,
    const CUDA_RESOURCE_VIEW_DESC* view) {
  return call([&] {
    current_context();
    TextureObject object{
        resource_of(resource), texture_of(texture), std::nullopt};
    if (view != nullptr) {
      object.view = view_of(*view);
    }
    texture_object_create(handle, std::move(object));
  });
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  return call([&] {
    current_context();
    texture_object_destroy(handle, false);
  });
}

CUresult cuTexObjectGetResourceDesc(
    CUDA_RESOURCE_DESC* resource,
    CUtexObject handle) {
  return call(
      [&] { store(resource, description_of(find(handle, false).resource)); });
}

CUresult cuTexObjectGetTextureDesc(
    CUDA_TEXTURE_DESC* texture,
    CUtexObject handle) {
  return call(
      [&] { store(texture, description_of(*find(handle, false).texture)); });
}

CUresult cuTexObjectGetResourceViewDesc(
    CUDA_RESOURCE_VIEW_DESC* view,
    CUtexObject handle) {
  return call([&] {
    const TextureObject object = find(handle, false);
    require(object.view.has_value());
    store(view, description_of(*object.view));
  });
}

CUresult cuSurfObjectCreate(
    CUsurfObject* handle,
    const CUDA_RESOURCE_DESC* resource) {
  return call([&] {
    current_context();
    texture_object_create(
        handle, {resource_of(resource), std::nullopt, std::nullopt});
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return call([&] {
    current_context();
    texture_object_destroy(handle, true);
  });
}

CUresult cuSurfObjectGetResourceDesc(
    CUDA_RESOURCE_DESC* resource,
    CUsurfObject handle) {
  return call(
      [&] { store(resource, description_of(find(handle, true).resource)); });
}

} // extern "C"
